internal import TrackModel

/// Where the disk ring begins and ends, and in which stream its sequence numbers count.
struct RingEnds: Hashable {
    let stream: StreamID
    let first: UInt64
    let next: UInt64
    /// The server has said that it owns everything through this sequence.
    let acknowledged: UInt64
}

extension CacheSnapshot {
    var ends: RingEnds {
        RingEnds(stream: stream, first: firstSequence, next: nextSequence, acknowledged: acknowledged)
    }
}
