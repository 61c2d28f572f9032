/// A message that a point causes: queued in the transaction of the point, or not at all.
package struct CausedPush: Hashable, Sendable {
    /// Of the point; nil for a custom point. When the point had been stored before, so had the push.
    package var sequence: UInt64?
    /// Targets that the service does not have are left out: an alarm must not hold up a point.
    package var push: NewPush

    package init(by sequence: UInt64?, _ push: NewPush) {
        self.sequence = sequence
        self.push = push
    }
}
