package import TrackModel

/// Gathering: chooses the fixes that become track points, on a grid of GNSS time; knows no clock.
///
/// The first fix sets t0; points are due at t0 + k * interval, and a point is the first fix at or after a due time
/// (50 ms early is in time). After a gap the grid goes on. A due fix that a gate rejects leaves the point due: the next
/// fix may take its place. Time never goes back.
package struct Sampler: Hashable, Sendable {
    package enum Outcome: Hashable, Sendable {
        /// Make a track point of it.
        case point(Fix)
        /// A good fix between two due times.
        case notDue
        case skipped(SkipReason)
    }

    /// Why a fix made no point; the raw values are names for the control interface.
    package enum SkipReason: String, Hashable, Sendable, CaseIterable {
        /// Not later than the last point.
        case notLater = "not_later"
        /// Dated more than ten minutes ahead of the one before, and not confirmed yet by those that follow.
        case unconfirmedTime = "unconfirmed_time"
        /// Its known horizontal error is larger than the desired accuracy.
        case inaccurate
        /// Cannot have been reached from the last point at the activity's speed.
        case implausible
        /// Closer to the last point than the distance filter.
        case unmoved
    }

    /// Milliseconds by which a fix may come before its due time.
    package static let tolerance: Int64 = 50

    package private(set) var counters = SamplerCounters()
    package private(set) var options: LocationOptions
    /// The fix of the last point made; kept by ``restart()`` as the time before which there is no going back.
    package private(set) var lastPoint: Fix?

    /// Milliseconds.
    private var interval: Int64
    /// A due time from which the others follow: t0, or the one in force when the interval changed. Nil before the first fix.
    private var anchor: Timestamp?
    /// The due time of the last point; nil while the point due at `anchor` is still to be made.
    private var served: Timestamp?
    private var time = TimeGuard()
    private var plausibility = PlausibilityGate()

    /// `interval`: seconds, as ``Settings`` has checked it; less than one counts as one.
    package init(interval: Int, options: LocationOptions = LocationOptions()) {
        self.interval = Self.milliseconds(interval)
        self.options = options
    }

    /// Takes the next fix of the receiver.
    package mutating func fix(_ fix: Fix) -> Outcome {
        counters.fixes &+= 1
        let outcome = judge(fix)
        counters.count(outcome)
        return outcome
    }

    /// Takes effect at once: the next point is due one new interval after the due time of the last one.
    package mutating func setInterval(_ seconds: Int) {
        let changed = Self.milliseconds(seconds)
        guard changed != interval else { return }
        interval = changed
        if let served { anchor = served }
    }

    package mutating func setOptions(_ options: LocationOptions) {
        self.options = options
        plausibility.reset()
    }

    /// Gathering begins again: the next fix sets a new t0, and only time remembers the points before.
    ///
    /// For another entity, or to get out of a wrong date that many fixes had confirmed, make a new sampler.
    package mutating func restart() {
        anchor = nil
        served = nil
        plausibility.reset()
    }

    private mutating func judge(_ fix: Fix) -> Outcome {
        switch time.judge(fix.time, floor: lastPoint?.time) {
        case .trusted: break
        case .notLater: return .skipped(.notLater)
        case .unconfirmed: return .skipped(.unconfirmedTime)
        case .beginsAnew:
            restart()
            lastPoint = nil
            counters.timeRestarts &+= 1
        }
        guard let slot = dueTime(reachedBy: fix.time) else { return .notDue }
        if let reason = rejection(of: fix) { return .skipped(reason) }
        served = slot
        lastPoint = fix
        return .point(fix)
    }

    /// The latest due time that a fix of this time serves; nil when the point due then is made already.
    private mutating func dueTime(reachedBy time: Timestamp) -> Timestamp? {
        guard let anchor else {
            self.anchor = time
            return time
        }
        let reached = time.adding(milliseconds: Self.tolerance).milliseconds(since: anchor)
        guard reached >= 0 else {
            guard served == nil else { return nil }
            // No point stands on this grid yet: it begins with the earlier time.
            self.anchor = time
            return time
        }
        let slot = anchor.adding(milliseconds: reached / interval * interval)
        guard let served else { return slot }
        return slot > served ? slot : nil
    }

    private mutating func rejection(of fix: Fix) -> SkipReason? {
        if let limit = options.desiredAccuracy, let error = fix.accuracy, Double(error) / 10 > limit {
            return .inaccurate
        }
        // After a restart the box may have been carried anywhere.
        guard let lastPoint, served != nil else { return nil }
        guard plausibility.admits(fix, after: lastPoint, activity: options.activity) else {
            return .implausible
        }
        if let filter = options.distanceFilter, PlausibilityGate.distance(lastPoint, fix) < filter {
            return .unmoved
        }
        return nil
    }

    private static func milliseconds(_ seconds: Int) -> Int64 {
        let (product, overflow) = Int64(max(seconds, 1)).multipliedReportingOverflow(by: 1000)
        return overflow ? .max : product
    }
}

/// What became of every fix: `fixes` is the sum of all the others except `timeRestarts`. Only grow.
package struct SamplerCounters: Hashable, Sendable {
    package internal(set) var fixes: UInt64 = 0
    package internal(set) var points: UInt64 = 0
    package internal(set) var notDue: UInt64 = 0
    package internal(set) var notLater: UInt64 = 0
    package internal(set) var unconfirmedTime: UInt64 = 0
    package internal(set) var inaccurate: UInt64 = 0
    package internal(set) var implausible: UInt64 = 0
    package internal(set) var unmoved: UInt64 = 0
    /// Times that a receiver's first date turned out to be wrong.
    package internal(set) var timeRestarts: UInt64 = 0

    /// Fixes skipped for a reason.
    package subscript(reason: Sampler.SkipReason) -> UInt64 {
        switch reason {
        case .notLater: notLater
        case .unconfirmedTime: unconfirmedTime
        case .inaccurate: inaccurate
        case .implausible: implausible
        case .unmoved: unmoved
        }
    }

    mutating func count(_ outcome: Sampler.Outcome) {
        switch outcome {
        case .point: points &+= 1
        case .notDue: notDue &+= 1
        case .skipped(.notLater): notLater &+= 1
        case .skipped(.unconfirmedTime): unconfirmedTime &+= 1
        case .skipped(.inaccurate): inaccurate &+= 1
        case .skipped(.implausible): implausible &+= 1
        case .skipped(.unmoved): unmoved &+= 1
        }
    }
}
