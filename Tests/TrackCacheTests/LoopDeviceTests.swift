import Foundation
import ProgramTestKit
import Testing
import TrackTestKit

@testable import TrackCache

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
            let options = TrackCacheOptions(segmentBytes: TrackCacheOptions.smallestSegment)
            let cache = try TrackCache(directory: place + "/ring", options: options, fileSystem: files, now: 0)
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
                let options = TrackCacheOptions(segmentBytes: TrackCacheOptions.smallestSegment)
                let cache = try TrackCache(directory: place + "/ring", options: options, now: 0)
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
