import Foundation
import TrackCache

/// What a dead agent's ring holds: read from a copy by the ring's own code, so that the next agent finds it as it was.
package enum CacheContents {
    /// The times of all points that wait, in milliseconds, in the order of the ring.
    package static func times(of directory: String) throws -> [Int] {
        guard FileManager.default.fileExists(atPath: directory) else { return [] }
        let copies = try TemporaryDirectory()
        let copy = copies.file("cache")
        try FileManager.default.copyItem(atPath: directory, toPath: copy)
        let cache = try TrackCache(directory: copy, now: 0)
        var times: [Int] = []
        var position: UInt64 = 0
        while let batch = cache.read(after: position, maximumCount: 1000, maximumBytes: .max, now: 0) {
            times += batch.records.map { Int($0.time) }
            position = batch.lastSequence
        }
        cache.close(now: 0)
        return times
    }
}
