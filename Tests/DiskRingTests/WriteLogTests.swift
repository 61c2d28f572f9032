import Glibc
import Testing
import TrackTestKit

@testable import DiskRing

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
        let cache = try DiskRing(directory: ring, options: history.options, now: 0)
        let problem = history.problem(with: cache, cut: cut)
        let numbers = cache.numbers()
        cache.close(now: 0)
        guard problem == nil, dice.one(in: 8) else { return problem }
        let again = try DiskRing(directory: ring, options: history.options, now: 0)
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

/// Every call that changes the disk or makes it durable, as it was made: to be repeated up to any point.
struct WriteLog {
    enum Entry {
        case makeDirectory(String)
        case open(Int32, String, CacheFileAccess)
        case close(Int32)
        case write(Int32, [UInt8], at: Int)
        case truncate(Int32, Int)
        case synchronize(Int32)
        case synchronizeDirectory(String)
        case rename(String, String)
        case unlink(String)
    }

    var entries: [Entry] = []

    /// A simulated disk on which the first `count` entries have happened, and of the next one, when it is a write, the
    /// first `torn` bytes.
    func disk(after count: Int, torn: Int = 0, directory: String) throws -> DiskSimulation {
        let disk = DiskSimulation(directories: [directory])
        var files: [Int32: CacheFile] = [:]
        for entry in entries[..<count] { try Self.repeat(entry, on: disk, &files) }
        if torn > 0, case .write(let file, let bytes, let offset)? = entries.dropFirst(count).first {
            try Self.repeat(.write(file, Array(bytes.prefix(torn)), at: offset), on: disk, &files)
        }
        return disk
    }

    private static func `repeat`(
        _ entry: Entry, on disk: DiskSimulation, _ files: inout [Int32: CacheFile]
    ) throws {
        func file(_ number: Int32) throws -> CacheFile {
            guard let file = files[number] else { throw CacheFileError(.open, 9) }
            return file
        }
        switch entry {
        case .makeDirectory(let path): try disk.makeDirectory(path)
        case .open(let number, let path, let access): files[number] = try disk.open(path, access)
        case .close(let number): disk.close(try file(number))
        case .write(let number, let bytes, let offset):
            let done = try bytes.withUnsafeBytes { try disk.write(try file(number), $0, at: offset) }
            guard done == bytes.count else { throw CacheFileError(.write, 28) }
        case .truncate(let number, let size): try disk.truncate(try file(number), to: size)
        case .synchronize(let number): try disk.synchronize(try file(number))
        case .synchronizeDirectory(let path): try disk.synchronizeDirectory(path)
        case .rename(let path, let newPath): try disk.rename(path, to: newPath)
        case .unlink(let path): try disk.unlink(path)
        }
    }
}

/// Passes every call on to another file system and writes down what succeeded.
final class WriteLogFileSystem: CacheFileSystem {
    private(set) var log = WriteLog()
    /// Called before each call that changes something.
    var beforeChange: () -> Void = {}
    private let base: any CacheFileSystem

    init(_ base: any CacheFileSystem) { self.base = base }

    func makeDirectory(_ path: String) throws(CacheFileError) {
        beforeChange()
        try base.makeDirectory(path)
        log.entries.append(.makeDirectory(path))
    }

    func list(_ directory: String) throws(CacheFileError) -> [String] { try base.list(directory) }

    func open(_ path: String, _ access: CacheFileAccess) throws(CacheFileError) -> CacheFile {
        if access != .readOnly { beforeChange() }
        let file = try base.open(path, access)
        log.entries.append(.open(file.descriptor, path, access))
        return file
    }

    func close(_ file: CacheFile) {
        base.close(file)
        log.entries.append(.close(file.descriptor))
    }

    func size(of file: CacheFile) throws(CacheFileError) -> Int { try base.size(of: file) }

    func read(
        _ file: CacheFile, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(CacheFileError) -> Int { try base.read(file, into: buffer, at: offset) }

    func write(_ file: CacheFile, _ bytes: UnsafeRawBufferPointer, at offset: Int) throws(CacheFileError) -> Int {
        beforeChange()
        let done = try base.write(file, bytes, at: offset)
        log.entries.append(.write(file.descriptor, Array(bytes.prefix(done)), at: offset))
        return done
    }

    func truncate(_ file: CacheFile, to size: Int) throws(CacheFileError) {
        beforeChange()
        try base.truncate(file, to: size)
        log.entries.append(.truncate(file.descriptor, size))
    }

    func synchronizeData(_ file: CacheFile) throws(CacheFileError) {
        beforeChange()
        try base.synchronizeData(file)
        log.entries.append(.synchronize(file.descriptor))
    }

    func synchronize(_ file: CacheFile) throws(CacheFileError) {
        beforeChange()
        try base.synchronize(file)
        log.entries.append(.synchronize(file.descriptor))
    }

    func synchronizeDirectory(_ path: String) throws(CacheFileError) {
        beforeChange()
        try base.synchronizeDirectory(path)
        log.entries.append(.synchronizeDirectory(path))
    }

    func rename(_ path: String, to newPath: String) throws(CacheFileError) {
        beforeChange()
        try base.rename(path, to: newPath)
        log.entries.append(.rename(path, newPath))
    }

    func unlink(_ path: String) throws(CacheFileError) {
        beforeChange()
        try base.unlink(path)
        log.entries.append(.unlink(path))
    }

    func lock(_ file: CacheFile) throws(CacheFileError) -> Bool { try base.lock(file) }
}
