package import TrackModel

/// A session's right to store points of one stream for one entity: see ``PointStore/openStream(_:of:in:at:)``.
package struct StreamClaim: Hashable, Sendable {
    /// Streams of an entity that are remembered. With one more the store forgets the one that was opened longest ago: a session of
    /// it ends, and begins as with a new stream. An agent makes a new stream only when its cache is lost.
    package static let mostStreams = 256

    /// Greater than the epoch of every earlier claim of the stream for an entity of this name, also for one that was
    /// deleted since.
    package var epoch: Int64
    /// Everything of the stream up to this sequence is stored, was refused, or was never sent. It may be less than what is
    /// stored and is never more; 0 when nothing is known of the stream.
    package var storedThrough: UInt64
    /// The entity's version: see ``IngestOutcome/stored(through:version:)``.
    package var version: Int64
    /// The entity's fence state as the last batch that had one left it; the store does not look into it.
    package var fences: [UInt8]?

    package init(epoch: Int64, storedThrough: UInt64, version: Int64, fences: [UInt8]? = nil) {
        self.epoch = epoch
        self.storedThrough = storedThrough
        self.version = version
        self.fences = fences
    }
}

/// Names a claim that a session believes to have.
package struct HeldClaim: Hashable, Sendable {
    package var stream: StreamID
    package var epoch: Int64

    package init(stream: StreamID, epoch: Int64) {
        self.stream = stream
        self.epoch = epoch
    }
}

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

/// Compares a batch with what the store has of its stream for its entity.
package enum StreamFit: Hashable, Sendable {
    /// The points beyond this sequence number are to be stored.
    case next(after: UInt64)
    /// All of it is stored, and the stream through this sequence.
    case stored(through: UInt64)
    /// The claim does not hold any more.
    case replaced
    /// The store has the stream only up to this sequence number, less than the session believes.
    case rewound(through: UInt64)

    /// `epoch` and `storedThrough` are what the store has: the epoch of the newest claim and the last sequence.
    package init(_ position: StreamPosition, epoch: Int64, storedThrough: UInt64) {
        if position.epoch != epoch {
            self = .replaced
        } else if storedThrough < position.previous {
            self = .rewound(through: storedThrough)
        } else if position.last <= storedThrough {
            self = .stored(through: storedThrough)
        } else {
            self = .next(after: storedThrough)
        }
    }
}
