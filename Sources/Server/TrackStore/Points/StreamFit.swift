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
