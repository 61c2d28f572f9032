package import TrackModel

package struct StreamPosition: Hashable, Sendable {
    package var stream: StreamID
    /// Sequence of the first point the agent sent in this batch, refused ones counted.
    package var first: UInt64
    /// How many the agent sent, refused ones counted; at least 1, and `first + count` does not overflow.
    package var count: UInt32

    package init(stream: StreamID, first: UInt64, count: UInt32) {
        self.stream = stream
        self.first = first
        self.count = count
    }

    package var last: UInt64 { first + UInt64(count) - 1 }
}
