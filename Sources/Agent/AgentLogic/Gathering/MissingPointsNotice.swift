package import TrackModel

/// Decides when the journal says that points are missing although they are wanted, and that they are made again. Knows no journal and
/// no clock.
///
/// At most one message in ten minutes: a receiver that seldom has a fix would fill the journal. Points that are missing still when this
/// time has passed are told then.
package struct MissingPointsNotice: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        case tellMissing
        case tellReturned
        /// Call ``timerFired(now:)`` once after this time; replaces an earlier timer.
        case setTimer(milliseconds: Int64)
        case cancelTimer
    }

    /// Milliseconds between two messages that points are missing.
    package static let pause: Int64 = 600_000

    private var areMissing = false
    /// The journal was told that they are missing, and not yet that they are made again.
    private var isTold = false
    private var toldAt: MonotonicTime?

    package init() {}

    /// Points are missing now, or they are made again.
    package mutating func changed(areMissing: Bool, now: MonotonicTime) -> [Action] {
        self.areMissing = areMissing
        guard !areMissing else { return tell(now) }
        defer { isTold = false }
        return [isTold ? .tellReturned : .cancelTimer]
    }

    /// Nobody wants points any more.
    package mutating func gatheringStopped() -> [Action] {
        (areMissing, isTold) = (false, false)
        return [.cancelTimer]
    }

    package mutating func timerFired(now: MonotonicTime) -> [Action] { tell(now) }

    private mutating func tell(_ now: MonotonicTime) -> [Action] {
        guard areMissing, !isTold else { return [] }
        if let toldAt, now - toldAt < Self.pause { return [.setTimer(milliseconds: Self.pause - (now - toldAt))] }
        (isTold, toldAt) = (true, now)
        return [.tellMissing]
    }
}
