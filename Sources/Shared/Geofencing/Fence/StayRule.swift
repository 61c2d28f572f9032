/// When a stay is told: some time after the enter, once or again and again.
package struct StayRule: Hashable, Sendable {
    /// Seconds after the enter, ``seconds``.
    package let after: Int
    /// Seconds between one stay and the next, ``seconds``; nil: once a visit.
    package let every: Int?

    package static let seconds = 5...604_800

    /// Nil when a number is outside its range.
    package init?(after: Int, every: Int? = nil) {
        guard Self.seconds.contains(after), Self.seconds.contains(every ?? after) else { return nil }
        self.after = after
        self.every = every
    }
}
