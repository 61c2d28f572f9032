/// What a cache is opened with. Limits, sizes and defaults of the format are in docs/formats/track-cache.md.
package struct TrackCacheOptions: Hashable, Sendable {
    /// Bytes of segment files; nil: as many as the disk holds. At least two segments. Default 256 MiB.
    package var limit: Int?
    /// Bytes of records held while the disk does not work. Default 1 MiB.
    package var memoryLimit: Int
    /// Milliseconds an appended record may stay unsynchronised; 0: every append is durable when it returns. Default 0.
    package var syncInterval: Int64
    /// Bytes of a new segment, `smallestSegment` or more. Default 1 MiB; anything else is for tests.
    package var segmentBytes: Int

    package static let smallestSegment = 80 * 1024

    package init(
        limit: Int? = 256 << 20, memoryLimit: Int = 1 << 20, syncInterval: Int64 = 0, segmentBytes: Int = 1 << 20
    ) {
        self.limit = limit
        self.memoryLimit = max(memoryLimit, 0)
        self.syncInterval = max(syncInterval, 0)
        self.segmentBytes = max(segmentBytes, Self.smallestSegment)
    }
}
