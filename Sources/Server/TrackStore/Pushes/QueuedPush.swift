/// What became of a message that was queued.
package struct QueuedPush: Hashable, Sendable {
    /// Greater than that of every message queued before, and never used again.
    package var message: Int64
    /// Entities that get it.
    package var count: Int
    /// Entities that do not get it, because too many wait for them: see ``NewPush/about``.
    package var leftOut = 0

    package init(message: Int64, count: Int) {
        self.message = message
        self.count = count
    }
}
