package import TrackModel

/// Where a batch stands in its agent's stream, and by which claim it is stored.
package struct StreamPosition: Hashable, Sendable {
    package var stream: StreamID
    /// The epoch of the claim that the session has on the stream for the batch's entity.
    package var epoch: Int64
    /// What the session believes to be stored of the stream for the batch's entity: what the claim said, then the last
    /// sequence of the session's batch before.
    package var previous: UInt64
    /// Sequence of the first point the agent sent in this batch, refused ones counted.
    package var first: UInt64
    /// How many the agent sent, refused ones counted; at least 1, and `first + count` does not overflow.
    package var count: UInt32

    package init(stream: StreamID, epoch: Int64, previous: UInt64, first: UInt64, count: UInt32) {
        self.stream = stream
        self.epoch = epoch
        self.previous = previous
        self.first = first
        self.count = count
    }

    package var last: UInt64 { first + (UInt64(count) - 1) }
}
