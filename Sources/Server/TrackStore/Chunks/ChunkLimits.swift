import TrackWire

/// The numbers that bound a chunk in every store.
package enum ChunkLimits {
    /// Most points of a chunk.
    package static let points = 4096
    /// A chunk with fewer points is small. Small chunks are worth merging when they have so many points together.
    package static let smallPoints = 512
    /// Longest time from the first to the last point, milliseconds: seven days. A range query therefore finds every
    /// chunk that reaches into the range by looking back no further than this.
    package static let span: Int64 = 7 * 86_400_000
    /// Most bytes of attribute texts and object names: far from what a payload may hold uncompressed.
    package static let textBytes = WireLimits.plainPayloadBytes / 2
    /// Most distinct attribute keys: a full chunk then holds no more values than a payload may.
    package static let keys = WireLimits.payloadValues / points
    /// Age at which small chunks are merged, however few points they have, milliseconds: one hour.
    package static let patience: Int64 = 3_600_000
}
