import Foundation
import TrackCache
import TrackModel

/// Reads the ring of a dead agent. The ring's own code reads a copy, so that the next agent finds the ring unchanged.
package enum CacheContents {
    /// The times of all waiting points in milliseconds, in the order of the ring.
    package static func times(of directory: String) throws -> [Int] {
        guard FileManager.default.fileExists(atPath: directory) else { return [] }
        let copies = try TemporaryDirectory()
        let copy = copies.file("cache")
        try FileManager.default.copyItem(atPath: directory, toPath: copy)
        let now = MonotonicTime(milliseconds: 0)
        let cache = try TrackCache(directory: copy, now: now)
        var times: [Int] = []
        var position: UInt64 = 0
        while let batch = cache.read(after: position, maximumCount: 1000, maximumBytes: .max, now: now) {
            times += batch.records.map { Int($0.time) }
            position = batch.lastSequence
        }
        cache.close(now: now)
        return times
    }
}
