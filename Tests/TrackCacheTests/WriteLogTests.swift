import Glibc
import Testing
import TrackTestKit

@testable import TrackCache

/// Histories on a real file system, written down call by call; then the directory as a power cut would have left it
/// between any two calls and in the middle of a write, made anew with real files, and opened.
///
/// `SAKER_TEST_SEED` repeats one history, `SAKER_TEST_CUTS` says how many cuts in all.
@Suite struct WriteLogTests {
    private static func number(_ name: String) -> UInt64? { getenv(name).flatMap { UInt64(String(cString: $0)) } }

    /// The owner of a history and its cache agree on what waits, also where an opening dropped what did not fit any more.
    @Test(arguments: [1_018_431, 1_018_536, 1_019_925] as [UInt64]) func anOwnerKnowsWhatWaits(seed: UInt64) throws {
        let work = try TemporaryDirectory()
        defer { work.remove() }
        _ = try RecordedHistory(seed: seed, calls: 40, directory: work.path + "/ring")
    }

    @Test func everyCutOfARecordedHistoryIsRecovered() throws {
        let wanted = Int(Self.number("SAKER_TEST_CUTS") ?? 1200)
        var seed = Self.number("SAKER_TEST_SEED") ?? UInt64.random(in: 0..<1 << 32)
        print("write log: SAKER_TEST_SEED=\(seed), \(wanted) cuts")
        var cuts = 0
        while cuts < wanted {
            cuts += try Self.cutEverywhere(seed: seed, atMost: wanted - cuts)
            seed &+= 1
        }
    }

    /// How many cuts there were.
    private static func cutEverywhere(seed: UInt64, atMost most: Int) throws -> Int {
        let work = try TemporaryDirectory()
        defer { work.remove() }
        let history = try RecordedHistory(seed: seed, calls: 40, directory: work.path + "/ring")
        try #require(history.log.entries.count > 40)
        // Opened from memory where there is such a file system: what is tried is the recovery, not the disk.
        let place = try TemporaryDirectory(in: access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp")
        defer { place.remove() }
        var dice = DiskDice(seed: seed)
        var cuts = 0
        // Spread over the whole history when there are more boundaries than cuts are wanted.
        let step = (history.log.entries.count * 4 + most - 1) / most
        for cut in stride(from: 0, through: history.log.entries.count, by: step) {
            for variant in 0..<4 where cuts < most {
                cuts += 1
                if let problem = try Self.problem(history, cut, variant, place.path, using: &dice) {
                    Issue.record("seed \(seed), cut \(cut) of \(history.log.entries.count), \(variant): \(problem)")
                    return most
                }
            }
        }
        return cuts
    }

    /// Variant 0: all that was called has arrived; 1: of the call in progress a first part; 2, 3: of all that was not
    /// synchronised anything, sector by sector, in any order. Nil when the cache is as it must be.
    private static func problem(
        _ history: RecordedHistory, _ cut: Int, _ variant: Int, _ place: String, using dice: inout DiskDice
    ) throws -> String? {
        var torn = 0
        if variant != 0, case .write(_, let bytes, _)? = history.log.entries.dropFirst(cut).first {
            torn = Int.random(in: 0...bytes.count / 512, using: &dice) * 512
        }
        let parent = String(history.directory.dropLast("/ring".utf8.count))
        let disk = try history.log.disk(after: cut, torn: torn, directory: parent)
        if variant >= 2 { disk.crash(seed: dice.next()) } else { disk.killProcess() }
        let ring = place + "/ring"
        guard disk.paths.contains(history.directory) else { return nil }
        guard mkdir(ring, 0o700) == 0 else { return "mkdir: errno \(errno)" }
        defer { TemporaryDirectory.remove(ring) }
        for path in disk.paths where path.hasPrefix(history.directory + "/") {
            try plant(disk.contents(of: path) ?? [], at: ring + path.dropFirst(history.directory.utf8.count))
        }
        let cache = try TrackCache(directory: ring, options: history.options, now: 0)
        let problem = history.problem(with: cache, cut: cut)
        let numbers = cache.numbers()
        cache.close(now: 0)
        guard problem == nil, dice.one(in: 8) else { return problem }
        let again = try TrackCache(directory: ring, options: history.options, now: 0)
        defer { again.close(now: 0) }
        let found = again.numbers()
        let isTheSame =
            found == numbers.suffix(found.count)
            && numbers.count - found.count <= Int(again.counters.droppedByBound)
        return isTheSame ? nil : "opened twice it differs: \(numbers), then \(found)"
    }

    private static func plant(_ bytes: [UInt8], at path: String) throws {
        let files = POSIXFileSystem()
        let file = try files.open(path, .replace)
        defer { files.close(file) }
        let done = try bytes.withUnsafeBytes { try files.write(file, $0, at: 0) }
        guard done == bytes.count else { throw CacheFileError(.write, ENOSPC) }
    }
}
