import Foundation
import Glibc
import ProgramTestKit
import Testing
import TrackModel
import TrackTestKit

@testable import DiskRing

@Suite struct RealDiskTests {
    private var options: DiskRingOptions { DiskRingOptions(segmentBytes: DiskRingOptions.smallestSegment) }

    private func with(_ body: (String) throws -> Void) throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try body(directory.path)
    }

    @Test func aMissingDirectoryIsMadeForItsOwnerOnly() throws {
        try with { path in
            let cache = try DiskRing(directory: path + "/ring", options: options, now: 0)
            #expect(cache.state == .disk)
            var status = stat()
            #expect(stat(path + "/ring", &status) == 0)
            #expect(status.st_mode & 0o777 == 0o700)
            #expect(stat(path + "/ring/0000000000000001.segment", &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
            // Preallocated with data, not with a hole.
            #expect(status.st_blocks * 512 >= DiskRingOptions.smallestSegment)
        }
    }

    @Test func whatIsWrittenIsThereAfterReopening() throws {
        try with { path in
            var options = options
            options.syncInterval = .max
            var cache = try DiskRing(directory: path, options: options, now: 0)
            cache.fill(0..<3000)
            cache.close(now: 0)
            cache = try DiskRing(directory: path, options: options, now: 0)
            #expect(cache.numbers() == Array(0..<3000))
            _ = try cache.clear(entities: nil, from: 5, through: nil, now: 0)
            cache.acknowledge(through: 3, of: cache.streamID, now: 0)
            cache.close(now: 0)
            cache = try DiskRing(directory: path, options: options, now: 0)
            #expect(cache.numbers() == [3, 4])
        }
    }

    /// Of this thread, by the kernel's account; 0 where the directory is no disk.
    private func writtenBytes() throws -> Int {
        let text = try String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("write_bytes:") })
        return try #require(Int(line.split(separator: " ")[1]))
    }

    @Test func aPointMakesNoMoreThanItsOwnPageDirty() throws {
        try with { path in
            var cache = try DiskRing(directory: path, options: DiskRingOptions(), now: 0)
            for round in 0..<2 {
                let before = try writtenBytes()
                for number in 0..<50 {
                    cache.append(entity: "car", time: Int64(number), payload: payload(number), now: 0)
                    // As the uplink does while the link is up.
                    if number % 5 == 0 { _ = cache.numbers() }
                }
                // Some points lie on two pages. A larger folio of the page cache would be 8 to 64 KiB each.
                #expect(try writtenBytes() - before <= 60 * Int(getpagesize()), "round \(round)")
                cache.close(now: 0)
                // The recovery reads the whole file.
                cache = try DiskRing(directory: path, options: DiskRingOptions(), now: 0)
            }
        }
    }

    @Test func aSecondOpenerIsRefusedAndToldWhoHoldsIt() throws {
        try with { path in
            let first = try DiskRing(directory: path, options: options, now: 0)
            let error = #expect(throws: DiskRingError.self) {
                try DiskRing(directory: path, options: options, now: 0)
            }
            #expect(error?.code == .inUse)
            #expect(error?.detail.contains(path) == true)
            #expect(error?.detail.contains("process \(getpid())") == true)
            first.close(now: 0)
            #expect(try DiskRing(directory: path, options: options, now: 0).state == .disk)
        }
    }

    @Test func aPathThatIsNotAbsoluteIsRefused() throws {
        try with { path in
            for hopeless in ["relative", ""] {
                let error = #expect(throws: DiskRingError.self) {
                    try DiskRing(directory: hopeless, options: options, now: 0)
                }
                #expect(error?.code == .directory, "\(hopeless)")
            }
        }
    }

    @Test func aPathThatIsNoDirectoryMeansMemoryUntilItIsOne() throws {
        try with { path in
            let file = try POSIXFileSystem().open(path + "/file", .replace)
            POSIXFileSystem().close(file)
            func inMemory(_ directory: String, _ number: Int32) throws -> DiskRing {
                let cache = try DiskRing(directory: directory, options: options, now: 0)
                guard case .memory(let error) = cache.state else {
                    Issue.record("\(directory): \(cache.state)")
                    return cache
                }
                #expect(error.number == number, "\(directory)")
                cache.fill(0..<3)
                #expect(cache.count == 3)
                return cache
            }
            _ = try inMemory("/" + String(repeating: "x", count: 300), ENAMETOOLONG)
            _ = try inMemory(path + "/file/ring", ENOTDIR)
            let cache = try inMemory(path + "/file", ENOTDIR)
            try POSIXFileSystem().unlink(path + "/file")
            #expect(cache.tryReturnToDisk(now: 1))
            #expect(cache.state == .disk && cache.numbers() == [0, 1, 2])
        }
    }

    @Test func aParentThatIsMissingMeansMemory() throws {
        try with { path in
            let cache = try DiskRing(directory: path + "/not/yet/there", options: options, now: 0)
            #expect(cache.state == .memory(CacheFileError(.makeDirectory, ENOENT)))
            cache.fill(0..<3)
            #expect(cache.count == 3)
            #expect(mkdir(path + "/not", 0o700) == 0 && mkdir(path + "/not/yet", 0o700) == 0)
            #expect(cache.tryReturnToDisk(now: 1))
            #expect(cache.numbers() == [0, 1, 2])
        }
    }

    @Test func directoriesAndLinksInTheWayAreNoObstacle() throws {
        try with { path in
            #expect(mkdir(path + "/0000000000000005.segment", 0o700) == 0)
            #expect(symlink("/etc/passwd", path + "/0000000000000007.segment") == 0)
            #expect(mkfifo(path + "/0000000000000009.segment", 0o600) == 0)
            #expect(symlink("/dev/zero", path + "/acknowledged") == 0)
            let cache = try DiskRing(directory: path, options: options, now: 0)
            for attempt in 1..<DirectoryState.mostReads { cache.maintain(now: 0 + Int64(attempt) * 100_000) }
            #expect(cache.state == .disk)
            #expect(cache.recovery.unreadableSegments == 3)
            cache.fill(0..<10)
            #expect(cache.numbers() == Array(0..<10))
        }
    }

    @Test(.needs(.smallDisks)) func aFullDiskIsSurvived() throws {
        try with { path in
            try require(mount("tmpfs", path, "tmpfs", 0, "size=400k") == 0, "no tmpfs of 400k: errno \(errno)")
            defer { umount2(path, Int32(MNT_DETACH)) }
            let cache = try DiskRing(directory: path + "/ring", options: options, now: 0)
            cache.fill(0..<7000)
            #expect(cache.state == .memory(CacheFileError(.write, ENOSPC)))
            #expect((cache.counters.diskErrors[ENOSPC] ?? 0) > 0)
            #expect(cache.numbers() == Array(0..<7000))
            cache.acknowledge(through: 5000, of: cache.streamID, now: 0)
            // One attempt finds the room that the acknowledgement made.
            cache.maintain(now: 100_000)
            #expect(cache.state == .disk)
            cache.close(now: 0)
            let reopened = try DiskRing(directory: path + "/ring", options: options, now: 0)
            #expect(reopened.numbers() == Array(5000..<7000))
            reopened.close(now: 0)
        }
    }

    @Test(.needs(.smallDisks)) func aReadOnlyDiskIsReadAndReturnsWhenItCanBeWritten() throws {
        try with { path in
            try require(mount("tmpfs", path, "tmpfs", 0, "size=2m") == 0, "no tmpfs of 2m: errno \(errno)")
            defer { umount2(path, Int32(MNT_DETACH)) }
            var cache = try DiskRing(directory: path, options: options, now: 0)
            cache.fill(0..<10)
            cache.close(now: 0)
            #expect(mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT) | UInt(MS_RDONLY), "") == 0)
            cache = try DiskRing(directory: path, options: options, now: 0)
            guard case .memory(let error) = cache.state else {
                Issue.record("\(cache.state)")
                return
            }
            #expect(error.number == EROFS)
            cache.fill(10..<20)
            #expect(cache.numbers() == Array(0..<10))
            #expect(mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT), "") == 0)
            #expect(cache.tryReturnToDisk(now: 1))
            #expect(cache.numbers() == Array(0..<20))
            cache.close(now: 0)
        }
    }
}

/// A real ext4 on a disk image: copies of the image are what a power cut leaves, and mounting one replays its journal.
@Suite(.timeLimit(.minutes(5)), .needs(.loopDevices)) struct LoopDeviceTests {
    /// An image with a file system, mounted for as long as the body runs.
    ///
    /// The file system may live longer: another process that has copied this namespace meanwhile holds it, and so does a
    /// child between fork and exec. It then writes into its image when it ends, and a second mount of the same file shows
    /// the first one's memory. So no image may get other bytes.
    private static func mounted(_ image: String, at place: String, _ body: () throws -> Void) throws {
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        try Program.succeed("mount", "-o", "loop", image, place)
        defer { umount2(place, Int32(MNT_DETACH)) }
        try body()
    }

    /// Two reads that agree: the kernel wrote nothing meanwhile, so it is one instant. Nil when it never sits still.
    private static func snapshot(_ image: String) -> Data? {
        for _ in 0..<20 {
            guard let first = FileManager.default.contents(atPath: image),
                let second = FileManager.default.contents(atPath: image)
            else { return nil }
            if first == second { return first }
        }
        return nil
    }

    @Test func everyReturnedAppendIsInAnImageTakenAfterIt() throws {
        let work = try TemporaryDirectory()
        defer { work.remove() }
        let (image, place) = (work.path + "/image", work.path + "/mounted")
        try Program.succeed("truncate", "--size", "24M", image)
        try Program.succeed("mkfs.ext4", "-q", "-F", image)
        // Mounted once before, so that no copy shows the beginning of a new file system.
        try Self.mounted(image, at: place) {}
        let seed =
            ProcessInfo.processInfo.environment["SAKER_TEST_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
        print("loop device: SAKER_TEST_SEED=\(seed)")
        var dice = DiskDice(seed: seed)
        var copies: [(returned: Int, bytes: Data)] = []
        try Self.mounted(image, at: place) {
            let files = WriteLogFileSystem(POSIXFileSystem())
            let options = DiskRingOptions(segmentBytes: DiskRingOptions.smallestSegment)
            let cache = try DiskRing(directory: place + "/ring", options: options, fileSystem: files, now: 0)
            var returned = 0
            var untilCopy = 3
            // In the middle of appends: before a write, before a synchronisation, while a segment is made.
            files.beforeChange = {
                untilCopy -= 1
                guard untilCopy == 0 else { return }
                untilCopy = Int.random(in: 5...60, using: &dice)
                if let bytes = Self.snapshot(image) { copies.append((returned, bytes)) }
            }
            while copies.count < 10, returned < 4000 {
                cache.fill(returned..<returned + 1, size: dice.one(in: 4) ? 9000 : 60)
                try #require(cache.state == .disk)
                returned += 1
            }
            files.beforeChange = {}
            cache.close(now: 0)
        }
        try #require(copies.count >= 10)
        #expect((copies.last?.returned ?? 0) > 20)
        for (number, copy) in copies.enumerated() {
            let file = work.path + "/copy-\(number)"
            try copy.bytes.write(to: URL(fileURLWithPath: file))
            try Self.mounted(file, at: place) {
                let options = DiskRingOptions(segmentBytes: DiskRingOptions.smallestSegment)
                let cache = try DiskRing(directory: place + "/ring", options: options, now: 0)
                let numbers = cache.numbers()
                #expect(cache.state == .disk, "seed \(seed), copy \(number)")
                #expect(
                    numbers == Array(0..<numbers.count) && numbers.count >= copy.returned,
                    "seed \(seed), copy \(number): \(copy.returned) had returned, there are \(numbers.count)")
                cache.close(now: 0)
            }
        }
    }
}
