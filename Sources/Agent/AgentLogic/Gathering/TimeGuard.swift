package import TrackModel

/// Judges the dates of a receiver by every clock at hand: the receiver's own, the monotonic one, and the system clock while
/// a program keeps it. docs/decisions/0005-dates-from-receivers.md has the rules and their reasons.
///
/// The receiver's date and the monotonic clock go on together: their difference is a *line*. A fix on the believed line is
/// right, however long ago the fix before was. A date off the line is believed when the kept system clock says the same, or
/// when the fixes that follow continue it. Where the kept clock contradicts the receiver, the clock's time is used.
package struct TimeGuard: Hashable, Sendable {
    package enum Verdict: Hashable, Sendable {
        /// The fix with the time that it has for sure. `beginsAnew`: the dates before were too late, and time goes back to
        /// this fix.
        case dated(Fix, beginsAnew: Bool)
        /// The date goes back, and nothing confirms it yet.
        case notLater
        /// The date is far ahead, and nothing confirms it yet.
        case unconfirmed
        /// The receiver told no time, and no clock that is kept tells another.
        case withoutTime
    }

    /// Milliseconds. A date that is farther ahead must be confirmed, and clocks that are farther apart contradict each other.
    package static let largestStep: Int64 = 600_000
    /// Milliseconds. Fixes that go back by less are late or told twice.
    package static let smallestReturn: Int64 = 30_000
    /// So many fixes confirm a date when they arrive as their dates go on; without that, so many more.
    static let confirmations = 3
    static let closeConfirmations = 5
    /// Milliseconds, of the arrivals or of the dates.
    static let confirmationSpan: Int64 = 4000
    /// Milliseconds by which the arrival of fixes that confirm each other may vary.
    static let jitter: Int64 = 5000
    /// The most milliseconds between the dates of fixes that confirm each other whenever they arrive.
    static let largestRunStep: Int64 = 60_000
    /// Milliseconds for which a line must have been believed to contradict a date before this program was made.
    static let settling: Int64 = 60_000
    /// Seconds after this program was made in which a line is of today: less than 1,024 weeks.
    static let lifetime: Int64 = 15 * 366 * 86_400

    /// The receiver's date less the monotonic clock, milliseconds.
    private struct Line: Hashable {
        var offset: Int64
        /// When it was believed first; the clock's is believed from ever.
        let since: MonotonicTime
        /// The receiver's, and a kept clock once said the same. Otherwise a kept clock is believed more.
        var isVouched = false

        func time(at now: MonotonicTime) -> Timestamp { Timestamp(milliseconds: now.milliseconds &+ offset) }

        /// The time of today, so that a date before this program was made can be replaced by it. A line of some fixes may be the
        /// wrong one of the two.
        func today(at now: MonotonicTime) -> Timestamp? {
            let (time, made) = (time(at: now), SakerVersion.madeAt)
            guard isVouched || now - since >= TimeGuard.settling else { return nil }
            return (made..<made + TimeGuard.lifetime).contains(time.seconds) ? time : nil
        }
    }

    /// Fixes in a row that are not believed and go on from each other.
    private struct Run: Hashable {
        let first: Timestamp
        let began: MonotonicTime
        var count = 1
        var last: Timestamp
        /// Date and monotonic clock went on together.
        var isSteady = true
        /// The dates have followed each other closely. gpsd may play a recording faster than it was made.
        var isClose = true

        init(_ time: Timestamp, _ now: MonotonicTime) {
            (first, last, began) = (time, time, now)
        }

        /// False when neither holds any more.
        mutating func takes(_ time: Timestamp, _ now: MonotonicTime) -> Bool {
            guard time > last else { return false }
            let drift = TimeGuard.difference(time.milliseconds(since: first), now - began)
            isSteady = isSteady && drift.magnitude <= TimeGuard.jitter
            isClose = isClose && time.milliseconds(since: last) <= TimeGuard.largestRunStep
            count += 1
            last = time
            return isSteady || isClose
        }

        func confirms(_ now: MonotonicTime) -> Bool {
            if isSteady, count >= TimeGuard.confirmations, now - began >= TimeGuard.confirmationSpan { return true }
            return isClose && count >= TimeGuard.closeConfirmations
                && last.milliseconds(since: first) >= TimeGuard.confirmationSpan
        }
    }

    private var line: Line?
    private var run: Run?
    private var trail: DateTrail
    /// The kept system clock less the monotonic clock, when it was kept last.
    private var clockOffset: Int64?

    /// `newest`: the time of the newest point of the process before; nil: there is none, or nobody knows.
    package init(newest: Timestamp? = nil) {
        trail = DateTrail(newest: newest)
    }

    /// The last date that was used.
    package var last: Timestamp? { trail.last }

    /// Dates that were used and turned out to be ahead of the right time, each range once: see ``DateTrail``.
    package mutating func takeDisproved() -> [ClosedRange<Timestamp>] { trail.takeDisproved() }

    package mutating func judge(_ epoch: Epoch) -> Verdict {
        let now = epoch.arrival.now
        let clock = self.clock(epoch.arrival)
        guard epoch.hasTime else {
            guard let clock else { return .withoutTime }
            return date(epoch.fix, byClock: clock, now)
        }
        let time = epoch.fix.time
        guard let clock, !isDoubted(clock, now) || Self.agree(time, clock) else { return ordinary(epoch.fix, now) }
        guard Self.agree(time, clock) else { return date(epoch.fix, byClock: clock, now) }
        guard let line, Self.agree(line.time(at: now), clock) else {
            return adopt(epoch.fix, now, isVouched: true, isCertain: true)
        }
        let verdict = ordinary(epoch.fix, now)
        if case .dated = verdict { self.line?.isVouched = true }
        return verdict
    }

    /// What the system clock says, as long as it can be believed: while it is kept, and then while it has not jumped.
    private mutating func clock(_ reading: ClockReading) -> Timestamp? {
        let offset = reading.system.milliseconds &- reading.now.milliseconds
        if reading.isKept {
            clockOffset = offset
            return reading.system
        }
        guard let clockOffset, Self.distance(offset, clockOffset) <= Self.smallestReturn else {
            clockOffset = nil
            return nil
        }
        return reading.system
    }

    /// The receiver went on as before and agreed with the clock, and now the clock says something else.
    private func isDoubted(_ clock: Timestamp, _ now: MonotonicTime) -> Bool {
        guard let line, line.isVouched else { return false }
        return !Self.agree(line.time(at: now), clock)
    }

    // MARK: The receiver's own date

    private mutating func ordinary(_ fix: Fix, _ now: MonotonicTime) -> Verdict {
        guard let line else {
            if let last, (Self.smallestReturn + 1...Self.largestStep).contains(last.milliseconds(since: fix.time)) {
                return hasConfirmed(fix.time, now) ? adopt(fix, now) : .notLater
            }
            return adopt(fix, now)
        }
        if fix.time.seconds < SakerVersion.madeAt, let today = line.today(at: now) {
            // The date is wrong for certain, and the monotonic clock still tells the right one.
            var fix = fix
            (fix.time, fix.isClockTime) = (today, true)
            return use(fix, now)
        }
        let offset = Self.offset(fix.time, now)
        let deviation = Self.difference(offset, line.offset)
        if deviation > Self.largestStep { return hasConfirmed(fix.time, now) ? adopt(fix, now) : .unconfirmed }
        guard deviation < -Self.smallestReturn else {
            run = nil
            // Fixes come late, never early: only a small lag is taken for a clock that goes slower.
            self.line?.offset = deviation > -Self.jitter ? offset : line.offset
            return use(fix, now)
        }
        if hasConfirmed(fix.time, now) { return adopt(fix, now) }
        if let last, fix.time <= last { return .notLater }
        // Late, or a date that was set back while no fix came: in both cases in order.
        return use(fix, now)
    }

    /// From now on the receiver's date is believed as this fix tells it.
    private mutating func adopt(
        _ fix: Fix, _ now: MonotonicTime, isVouched: Bool = false, isCertain: Bool = false
    ) -> Verdict {
        line = Line(offset: Self.offset(fix.time, now), since: now, isVouched: isVouched)
        run = nil
        return use(fix, now, isCertain: isCertain)
    }

    private mutating func use(_ fix: Fix, _ now: MonotonicTime, isCertain: Bool = false) -> Verdict {
        let goesBack = last.map { $0.milliseconds(since: fix.time) > Self.smallestReturn } ?? false
        let isCertain = isCertain || line?.isVouched ?? false
        trail.used(fix.time, line: line?.offset ?? 0, now, isCertain: isCertain, goesBack: goesBack)
        return .dated(fix, beginsAnew: goesBack)
    }

    /// Whether this fix and those before it, none of them believed, go on together for long enough.
    private mutating func hasConfirmed(_ time: Timestamp, _ now: MonotonicTime) -> Bool {
        guard var run, run.takes(time, now) else {
            run = Run(time, now)
            return false
        }
        self.run = run
        return run.confirms(now)
    }

    // MARK: The system clock's date

    private mutating func date(_ fix: Fix, byClock clock: Timestamp, _ now: MonotonicTime) -> Verdict {
        var fix = fix
        fix.time = clock
        fix.isClockTime = true
        line = Line(offset: Self.offset(clock, now), since: .distantPast)
        run = nil
        return use(fix, now, isCertain: true)
    }

    // MARK: Differences

    static func agree(_ left: Timestamp, _ right: Timestamp) -> Bool {
        distance(left.milliseconds, right.milliseconds) <= largestStep
    }

    private static func offset(_ time: Timestamp, _ now: MonotonicTime) -> Int64 {
        time.milliseconds &- now.milliseconds
    }

    fileprivate static func difference(_ left: Int64, _ right: Int64) -> Int64 {
        let (difference, overflow) = left.subtractingReportingOverflow(right)
        return overflow ? (left < right ? .min : .max) : difference
    }

    private static func distance(_ left: Int64, _ right: Int64) -> Int64 {
        Int64(clamping: difference(left, right).magnitude)
    }
}
