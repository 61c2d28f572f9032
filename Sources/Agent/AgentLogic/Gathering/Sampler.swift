package import TrackModel

/// Gathering: chooses the fixes that become track points, on a grid of GNSS time. Knows no clock.
///
/// The first fix sets t0. Points are due at t0 + k * interval. A point is the first fix at or after a due time; a fix
/// may be 50 ms early. After a gap the grid continues unchanged. When a gate rejects a due fix, the point stays due,
/// and the next fix may become the point. Time never goes back. With ``LocationOptions/parking`` a parked vehicle makes
/// few points. A new process begins behind the newest point of the process before: gpsd may report an epoch again.
package struct Sampler: Hashable, Sendable {
    package enum Outcome: Hashable, Sendable {
        /// This fix becomes a track point.
        case point(Fix)
        /// This fix becomes a point of a parked vehicle, at the place of its stay.
        case parked(Fix)
        /// The vehicle has left its place. These fixes become track points, in order. All but the last came before this
        /// fix.
        case departed([Fix])
        /// A good fix between two due times.
        case notDue
        case skipped(SkipReason)
    }

    /// Why a fix made no point; the raw values are names for the control interface.
    package enum SkipReason: String, Hashable, Sendable, CaseIterable {
        /// Not later than the last point, which the process before may have made, or dated back and not yet confirmed.
        case notLater = "not_later"
        /// Dated more than ten minutes ahead of what the clocks expect, and not yet confirmed: see ``TimeGuard``.
        case unconfirmedTime = "unconfirmed_time"
        /// The receiver told no time, and no clock that is kept tells another.
        case withoutTime = "without_time"
        /// The receiver told the same time again and again, and no clock that is kept tells another.
        case clockStands = "clock_stands"
        /// Its known horizontal error is larger than the desired accuracy.
        case inaccurate
        /// The vehicle cannot have reached it from the last point at the activity's speed.
        case implausible
        /// Closer to the last point than the distance filter.
        case unmoved
        /// Its due time makes no point because the vehicle is parked.
        case parked
    }

    /// A fix may come so many milliseconds before its due time.
    package static let tolerance: Int64 = 50

    package private(set) var counters = SamplerCounters()
    package private(set) var options: LocationOptions
    /// The fix of the last point. ``restart()`` keeps it, because time must not go back before it.
    package private(set) var lastPoint: Fix?

    /// Milliseconds.
    private var interval: Int64
    /// A due time of the grid: t0, or the due time at the last change of the interval. Nil before the first fix.
    private var anchor: Timestamp?
    /// The due time of the last point; nil while no point was made for `anchor`.
    private var served: Timestamp?
    /// The time of the newest point of an earlier sampler; nil when there is none, and as soon as this sampler has made a
    /// point.
    private var floor: Timestamp?
    private var plausibility = PlausibilityGate()
    /// Nil when parking is off.
    private var parking: ParkingFilter?
    /// The last due time that made no point because the vehicle is parked.
    private var withheld: Timestamp?

    /// When the stay began; nil while not parked.
    package var parkedSince: Timestamp? { parking?.parkedSince }

    /// `interval`: seconds, checked by ``Settings``. Less than one second counts as one. `floor`: the time of the entity's
    /// newest point of an earlier sampler, if there is one. Fixes that are not later make no points.
    package init(interval: Int, options: LocationOptions = LocationOptions(), floor: Timestamp? = nil) {
        self.interval = Self.milliseconds(interval)
        self.options = options
        self.floor = floor
        parking = options.parking.map(ParkingFilter.init)
    }

    /// A fix is not judged by its place, because its time cannot be believed.
    package mutating func skip(_ reason: SkipReason) -> Outcome {
        counters.fixes &+= 1
        counters.count(.skipped(reason))
        return .skipped(reason)
    }

    /// The dates up to now were wrong: time goes back to the next fix.
    package mutating func beginAnew() {
        restart()
        lastPoint = nil
        floor = nil
        counters.timeRestarts &+= 1
    }

    /// Takes the next fix of the receiver, with a time that ``TimeGuard`` believes.
    package mutating func fix(_ fix: Fix) -> Outcome {
        counters.fixes &+= 1
        let (released, outcome) = judge(fix)
        counters.count(outcome)
        guard !released.isEmpty else { return outcome }
        counters.released &+= UInt64(released.count)
        if case .point(let last) = outcome { return .departed(released + [last]) }
        return .departed(released)
    }

    /// Takes effect at once: the next point is due one new interval after the last due time.
    package mutating func setInterval(_ seconds: Int) {
        let changed = Self.milliseconds(seconds)
        guard changed != interval else { return }
        interval = changed
        if let served { anchor = served }
    }

    package mutating func setOptions(_ options: LocationOptions) {
        self.options = options
        plausibility.reset()
        forgetParking()
    }

    /// Begins gathering again. The next fix sets a new t0. Only the times of earlier points still count.
    ///
    /// Make a new sampler for another entity.
    package mutating func restart() {
        anchor = nil
        served = nil
        plausibility.reset()
        forgetParking()
    }

    /// Judges a fix. `released`: earlier fixes that become points because this fix confirms a departure.
    private mutating func judge(_ fix: Fix) -> (released: [Fix], Outcome) {
        if let floor, floor.milliseconds(since: fix.time) >= -EpochAssembler.tolerance {
            return ([], .skipped(.notLater))
        }
        if let lastPoint, fix.time <= lastPoint.time { return ([], .skipped(.notLater)) }
        guard let slot = dueTime(reachedBy: fix.time) else { return (isAccurate(fix) ? observe(fix) : [], .notDue) }
        guard isAccurate(fix) else { return ([], .skipped(.inaccurate)) }
        guard isPlausible(fix) else { return ([], .skipped(.implausible)) }
        let released = observe(fix)
        if let served, slot <= served { return (released, .notDue) }
        if isOfServedSecond(fix) { return (released, .notDue) }
        switch parkingVerdict(fix, slot) {
        case .moving: break
        case .withheld: return (released, outcomeWithheld(slot))
        case .parked(let point):
            accept(point, slot)
            return (released, .parked(point))
        }
        guard hasMoved(fix) else { return (released, .skipped(.unmoved)) }
        accept(fix, slot)
        return (released, .point(fix))
    }

    private mutating func accept(_ point: Fix, _ slot: Timestamp) {
        served = slot
        lastPoint = point
        floor = nil
    }

    // MARK: Parking

    private mutating func forgetParking() {
        parking = options.parking.map(ParkingFilter.init)
        withheld = nil
    }

    /// Gives the fix to the parking filter. Fixes that it releases take their due times, as if it had not held them.
    private mutating func observe(_ fix: Fix) -> [Fix] {
        guard let held = parking?.observe(fix) else { return [] }
        return held.filter { fix in
            guard let slot = dueTime(reachedBy: fix.time), !isOfServedSecond(fix), hasMoved(fix) else { return false }
            accept(fix, slot)
            return true
        }
    }

    private mutating func parkingVerdict(_ fix: Fix, _ slot: Timestamp) -> ParkingFilter.Verdict {
        let heldSlot = parking?.held.last.flatMap { dueTime(reachedBy: $0.time) }
        return parking?.judge(fix, isNewSlot: heldSlot.map { slot > $0 } ?? true) ?? .moving
    }

    /// Counts one withheld point for each due time, however many fixes it has.
    private mutating func outcomeWithheld(_ slot: Timestamp) -> Outcome {
        if let withheld, slot <= withheld { return .notDue }
        withheld = slot
        return .skipped(.parked)
    }

    // MARK: Gates

    /// The latest due time that a fix of this time serves; nil when its point is made already.
    private mutating func dueTime(reachedBy time: Timestamp) -> Timestamp? {
        guard let anchor else {
            self.anchor = time
            return time
        }
        let reached = time.adding(milliseconds: Self.tolerance).milliseconds(since: anchor)
        guard reached >= 0 else {
            guard served == nil else { return nil }
            // No point is on this grid yet, so the grid begins with the earlier time.
            self.anchor = time
            return time
        }
        let slot = anchor.adding(milliseconds: reached / interval * interval)
        guard let served else { return slot }
        return slot > served ? slot : nil
    }

    /// The last point came late for its due time, as the first one after a hole does, and this fix is of the same second: a
    /// point is known by its second, so the next second's first fix is this due time's point.
    private func isOfServedSecond(_ fix: Fix) -> Bool {
        guard let lastPoint, let served, lastPoint.time.milliseconds(since: served) > Self.tolerance else {
            return false
        }
        return lastPoint.time.seconds == fix.time.seconds
    }

    private func isAccurate(_ fix: Fix) -> Bool {
        guard let limit = options.desiredAccuracy, let error = fix.accuracy else { return true }
        return Double(error) / 10 <= limit
    }

    private mutating func isPlausible(_ fix: Fix) -> Bool {
        // During a restart the vehicle may have been carried anywhere.
        guard let lastPoint, served != nil else { return true }
        return plausibility.admits(fix, after: lastPoint, activity: options.activity)
    }

    private func hasMoved(_ fix: Fix) -> Bool {
        guard let lastPoint, served != nil, let filter = options.distanceFilter else { return true }
        return PlausibilityGate.distance(lastPoint, fix) >= filter
    }

    private static func milliseconds(_ seconds: Int) -> Int64 {
        let (product, overflow) = Int64(max(seconds, 1)).multipliedReportingOverflow(by: 1000)
        return overflow ? .max : product
    }
}

/// Counts what happened to every fix. `fixes` is the sum of all others except `timeRestarts` and `released`. They only
/// grow.
package struct SamplerCounters: Hashable, Sendable {
    package internal(set) var fixes: UInt64 = 0
    /// Points made at once, including those of a parked vehicle.
    package internal(set) var points: UInt64 = 0
    /// Points made of fixes that were first counted as withheld: the points of a departure.
    package internal(set) var released: UInt64 = 0
    package internal(set) var notDue: UInt64 = 0
    package internal(set) var notLater: UInt64 = 0
    package internal(set) var unconfirmedTime: UInt64 = 0
    package internal(set) var withoutTime: UInt64 = 0
    package internal(set) var clockStands: UInt64 = 0
    package internal(set) var inaccurate: UInt64 = 0
    package internal(set) var implausible: UInt64 = 0
    package internal(set) var unmoved: UInt64 = 0
    package internal(set) var parked: UInt64 = 0
    /// How often the dates turned out to be too late.
    package internal(set) var timeRestarts: UInt64 = 0

    /// Fixes that made no point for this reason.
    package subscript(reason: Sampler.SkipReason) -> UInt64 {
        switch reason {
        case .notLater: notLater
        case .unconfirmedTime: unconfirmedTime
        case .withoutTime: withoutTime
        case .clockStands: clockStands
        case .inaccurate: inaccurate
        case .implausible: implausible
        case .unmoved: unmoved
        case .parked: parked
        }
    }

    mutating func count(_ outcome: Sampler.Outcome) {
        switch outcome {
        case .point, .parked: points &+= 1
        // These fixes were counted before.
        case .departed: break
        case .notDue: notDue &+= 1
        case .skipped(.notLater): notLater &+= 1
        case .skipped(.unconfirmedTime): unconfirmedTime &+= 1
        case .skipped(.withoutTime): withoutTime &+= 1
        case .skipped(.clockStands): clockStands &+= 1
        case .skipped(.inaccurate): inaccurate &+= 1
        case .skipped(.implausible): implausible &+= 1
        case .skipped(.unmoved): unmoved &+= 1
        case .skipped(.parked): parked &+= 1
        }
    }
}
