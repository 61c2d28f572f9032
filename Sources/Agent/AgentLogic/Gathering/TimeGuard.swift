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
    /// Milliseconds by which the arrival of fixes that confirm each other may vary.
    static let jitter: Int64 = 5000
    /// Milliseconds for which a receiver that goes on as before is believed more than another one with another date.
    static let primacy: Int64 = 30_000
    /// Receivers of which an unconfirmed date is remembered: a gpsd has four at most.
    private static let maximumRuns = 4
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
        /// The receiver that went on along the line last, and when; nil also: the clock's.
        var device: String?
        var heard: MonotonicTime
        /// Bursts confirmed it: the clock does not see the time between them.
        var isBursty = false

        func time(at now: MonotonicTime) -> Timestamp { Timestamp(milliseconds: now.milliseconds &+ offset) }

        /// The time of today, so that a date before this program was made can be replaced by it. A line of some fixes may be the
        /// wrong one of the two.
        func today(at now: MonotonicTime) -> Timestamp? {
            let (time, made) = (time(at: now), SakerVersion.madeAt)
            guard isVouched || now - since >= TimeGuard.settling else { return nil }
            return (made..<made + TimeGuard.lifetime).contains(time.seconds) ? time : nil
        }
    }

    private var line: Line?
    /// Of receivers whose dates are not believed.
    private var runs: [DateRun] = []
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
            return date(epoch, byClock: clock, now)
        }
        let time = epoch.fix.time
        guard let clock, !isDoubted(clock, now) || Self.agree(time, clock) else { return ordinary(epoch, now) }
        guard Self.agree(time, clock) else { return date(epoch, byClock: clock, now) }
        guard let line, Self.agree(line.time(at: now), clock) else {
            return adopt(epoch, now, isVouched: true, isCertain: true)
        }
        let verdict = ordinary(epoch, now)
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

    private mutating func ordinary(_ epoch: Epoch, _ now: MonotonicTime) -> Verdict {
        let fix = epoch.fix
        guard let line else {
            if let last, (Self.smallestReturn + 1...Self.largestStep).contains(last.milliseconds(since: fix.time)) {
                return hasConfirmed(epoch, now) ? adopt(epoch, now) : .notLater
            }
            return adopt(epoch, now)
        }
        if fix.time.seconds < SakerVersion.madeAt, let today = line.today(at: now) {
            // The date is wrong for certain, and the monotonic clock still tells the right one.
            var fix = fix
            (fix.time, fix.isClockTime) = (today, true)
            return use(fix, now)
        }
        let offset = Self.offset(fix.time, now)
        let deviation = Self.difference(offset, line.offset)
        if deviation > Self.largestStep { return hasConfirmed(epoch, now) ? adopt(epoch, now) : .unconfirmed }
        guard deviation < -Self.smallestReturn else {
            runs.removeAll { $0.device == epoch.device }
            // Fixes come late, never early: only a small lag is taken for a clock that goes slower.
            self.line?.offset = deviation > -Self.jitter ? offset : line.offset
            self.line?.device = epoch.device
            self.line?.heard = now
            return use(fix, now)
        }
        if hasConfirmed(epoch, now) { return adopt(epoch, now) }
        if let last, fix.time <= last { return .notLater }
        // Late, or a date that was set back while no fix came: in both cases in order.
        return use(fix, now)
    }

    /// From now on the receiver's date is believed as this fix tells it.
    private mutating func adopt(
        _ epoch: Epoch, _ now: MonotonicTime, isVouched: Bool = false, isCertain: Bool = false
    ) -> Verdict {
        // Fixes that confirmed nothing, before the first date or beside a kept clock, are no bursts.
        let isBursty = runs.contains {
            $0.device == epoch.device && $0.confirms(now, isBursty: line?.isBursty ?? false) && !$0.isSteady(now)
        }
        line = Line(
            offset: Self.offset(epoch.fix.time, now), since: now, isVouched: isVouched, device: epoch.device,
            heard: now,
            isBursty: isBursty && !isVouched)
        runs = []
        return use(epoch.fix, now, isCertain: isCertain)
    }

    private mutating func use(_ fix: Fix, _ now: MonotonicTime, isCertain: Bool = false) -> Verdict {
        let goesBack = last.map { $0.milliseconds(since: fix.time) > Self.smallestReturn } ?? false
        let isCertain = isCertain || line?.isVouched ?? false
        trail.used(fix.time, line: line?.offset ?? 0, now, isCertain: isCertain, goesBack: goesBack)
        return .dated(fix, beginsAnew: goesBack)
    }

    /// Whether this fix and those of its receiver before it, none of them believed, go on together for long enough, and no
    /// receiver that goes on as before contradicts them.
    private mutating func hasConfirmed(_ epoch: Epoch, _ now: MonotonicTime) -> Bool {
        let time = epoch.fix.time
        guard let index = runs.firstIndex(where: { $0.device == epoch.device }), runs[index].takes(time, now) else {
            runs.removeAll { $0.device == epoch.device }
            if runs.count == Self.maximumRuns { runs.removeFirst() }
            runs.append(DateRun(time, from: epoch.device, now))
            return false
        }
        return runs[index].confirms(now, isBursty: line?.isBursty ?? false) && !isContradicted(epoch, now)
    }

    /// Another receiver goes on along the believed line; the clock is none. A line before this program was made contradicts no
    /// later date.
    private func isContradicted(_ epoch: Epoch, _ now: MonotonicTime) -> Bool {
        guard let line, let believed = line.device, believed != epoch.device, now - line.heard < Self.primacy else {
            return false
        }
        return line.time(at: now).seconds >= SakerVersion.madeAt || epoch.fix.time.seconds < SakerVersion.madeAt
    }

    // MARK: The system clock's date

    private mutating func date(_ epoch: Epoch, byClock clock: Timestamp, _ now: MonotonicTime) -> Verdict {
        var fix = epoch.fix
        fix.time = clock
        fix.isClockTime = true
        // The line of another receiver that agrees with the clock stays: it knows when the clock jumps.
        if let line, line.isVouched, line.device != epoch.device, now - line.heard < Self.primacy,
            Self.agree(line.time(at: now), clock)
        {
            return use(fix, now, isCertain: true)
        }
        line = Line(offset: Self.offset(clock, now), since: .distantPast, heard: now)
        runs = []
        return use(fix, now, isCertain: true)
    }

    // MARK: Differences

    static func agree(_ left: Timestamp, _ right: Timestamp) -> Bool {
        distance(left.milliseconds, right.milliseconds) <= largestStep
    }

    private static func offset(_ time: Timestamp, _ now: MonotonicTime) -> Int64 {
        time.milliseconds &- now.milliseconds
    }

    static func difference(_ left: Int64, _ right: Int64) -> Int64 {
        let (difference, overflow) = left.subtractingReportingOverflow(right)
        return overflow ? (left < right ? .min : .max) : difference
    }

    private static func distance(_ left: Int64, _ right: Int64) -> Int64 {
        Int64(clamping: difference(left, right).magnitude)
    }
}

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
