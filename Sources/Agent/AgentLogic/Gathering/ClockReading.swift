package import TrackModel

/// What the clocks of the computer said when something arrived.
package struct ClockReading: Hashable, Sendable {
    package let now: MonotonicTime
    /// The system clock, right or wrong.
    package let system: Timestamp
    /// A program keeps the system clock, and the clock is not before this program was made.
    package let isKept: Bool

    package init(now: MonotonicTime, system: Timestamp, isKept: Bool) {
        self.now = now
        self.system = system
        self.isKept = isKept
    }
}
