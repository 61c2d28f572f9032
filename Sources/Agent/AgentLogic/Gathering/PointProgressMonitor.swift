package import TrackModel

/// Watches whether points are made while they are wanted, and remembers what rejected the fixes since the last one. Knows no clock
/// and no receiver.
///
/// Without a point for ``timeout`` the vehicle is not tracked, whatever the states of its parts say. A vehicle that parks, or
/// stands still within its distance filter, makes few points on purpose: a fix that makes no point for this reason counts as one.
package struct PointProgressMonitor: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        /// Call ``timerFired(now:)`` once after this time; replaces an earlier timer.
        case setTimer(milliseconds: Int64)
        case cancelTimer
        /// Points are missing now, or they come again: tell everybody.
        case changed(isSilent: Bool)
    }

    /// No points, for too long.
    package struct Silence: Hashable, Sendable {
        /// When the last point was made, or gathering began.
        package let since: MonotonicTime
        /// What rejected most fixes since then; nil: nothing has rejected any.
        package let obstacle: TrackingObstacle?
        /// How many.
        package let rejected: UInt64

        package init(since: MonotonicTime, obstacle: TrackingObstacle? = nil, rejected: UInt64 = 0) {
            (self.since, self.obstacle, self.rejected) = (since, obstacle, rejected)
        }
    }

    /// Intervals without a point that are not worth a word, and the least of it in milliseconds.
    package static let intervals: Int64 = 3
    package static let shortestTimeout: Int64 = 30_000

    /// Seconds.
    private var interval: Int64
    /// Seconds between two points while parked; nil: not parked.
    private var parkingInterval: Int64?
    /// When the last point was made, or gathering began; nil while nobody gathers.
    private var since: MonotonicTime?
    /// Fixes and reports since the last point that made none, by what rejected them.
    package private(set) var rejected: [TrackingObstacle: UInt64] = [:]
    private var hasTimer = false
    private var isToldSilent = false

    /// Whether a point was made since gathering began.
    package private(set) var hasPoint = false
    /// Fixes since the last point that made none because the vehicle stands still within its distance filter.
    package private(set) var unmoved: UInt64 = 0

    /// `interval`: seconds between two points.
    package init(interval: Int) {
        self.interval = Int64(max(interval, 1))
    }

    /// Milliseconds.
    package var timeout: Int64 {
        let (time, isTooMuch) = max(interval, parkingInterval ?? 0).multipliedReportingOverflow(
            by: 1000 * Self.intervals)
        return isTooMuch ? .max : max(time, Self.shortestTimeout)
    }

    /// Nil while points are made, while nobody gathers, and as long as a point may still come in time.
    package func silence(now: MonotonicTime) -> Silence? {
        guard let since, now - since >= timeout else { return nil }
        let worst = rejected.max { ($0.value, $1.key.rawValue) < ($1.value, $0.key.rawValue) }
        return Silence(since: since, obstacle: worst?.key, rejected: worst?.value ?? 0)
    }

    // MARK: Events

    package mutating func started(now: MonotonicTime) -> [Action] {
        begin(now)
        hasPoint = false
        return settled(now) + awaitSilence(now)
    }

    package mutating func stopped() -> [Action] {
        since = nil
        hasTimer = false
        isToldSilent = false
        return [.cancelTimer]
    }

    /// A point stands in the cache.
    package mutating func pointStored(now: MonotonicTime) -> [Action] {
        guard since != nil else { return [] }
        begin(now)
        hasPoint = true
        return settled(now)
    }

    /// A fix made no point for this reason.
    package mutating func skipped(_ reason: Sampler.SkipReason, now: MonotonicTime) -> [Action] {
        guard since != nil else { return [] }
        switch reason {
        case .unmoved:
            let count = unmoved &+ 1
            begin(now)
            unmoved = count
            return settled(now)
        case .parked:
            begin(now)
            return settled(now)
        case .notLater, .unconfirmedTime, .withoutTime, .clockStands, .inaccurate, .implausible:
            return unusable(TrackingObstacle(reason), now: now)
        }
    }

    /// A report of the receiver, or a fix of it, is of no use for this reason.
    package mutating func unusable(_ obstacle: TrackingObstacle, now: MonotonicTime) -> [Action] {
        guard since != nil else { return [] }
        rejected[obstacle, default: 0] &+= 1
        return []
    }

    /// `interval`: seconds between two points; `parkingInterval`: while parked, nil otherwise.
    package mutating func paced(interval: Int, parkingInterval: Int?, now: MonotonicTime) -> [Action] {
        (self.interval, self.parkingInterval) = (Int64(max(interval, 1)), parkingInterval.map(Int64.init))
        return settled(now) + (hasTimer ? setTimer(now) : [])
    }

    package mutating func timerFired(now: MonotonicTime) -> [Action] {
        guard since != nil else { return [] }
        hasTimer = false
        guard silence(now: now) != nil else { return setTimer(now) }
        guard !isToldSilent else { return [] }
        isToldSilent = true
        return [.changed(isSilent: true)]
    }

    // MARK: Inside

    private mutating func begin(_ now: MonotonicTime) {
        since = now
        rejected = [:]
        unmoved = 0
    }

    /// Points come again.
    private mutating func settled(_ now: MonotonicTime) -> [Action] {
        guard isToldSilent, silence(now: now) == nil else { return [] }
        isToldSilent = false
        return [.changed(isSilent: false)] + setTimer(now)
    }

    private mutating func awaitSilence(_ now: MonotonicTime) -> [Action] { hasTimer ? [] : setTimer(now) }

    /// One timer for many points: when it fires too early, it is set again.
    private mutating func setTimer(_ now: MonotonicTime) -> [Action] {
        guard let since else { return [] }
        hasTimer = true
        return [.setTimer(milliseconds: max(1, since + timeout - now))]
    }
}

extension TrackingObstacle {
    /// A reason that rejects a fix; the reasons for which a fix makes no point on purpose are none.
    fileprivate init(_ reason: Sampler.SkipReason) {
        self =
            switch reason {
            case .notLater: .notLater
            case .unconfirmedTime: .unconfirmedTime
            case .withoutTime: .noTime
            case .clockStands: .clockStands
            case .inaccurate: .inaccurate
            case .implausible: .implausible
            case .unmoved, .parked: .other
            }
    }
}

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
