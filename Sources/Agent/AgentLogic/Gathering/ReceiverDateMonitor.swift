package import TrackModel

/// Knows what is wrong with the dates of the receivers, for those who are told of it.
package struct ReceiverDateMonitor: Hashable, Sendable {
    /// What one receiver of gpsd told last.
    private struct Receiver: Hashable {
        let device: String?
        let time: Timestamp
        let arrival: MonotonicTime
        let hasTime: Bool
        /// Points have its own time.
        let isUsed: Bool
        let trouble: DateTrouble?

        init(_ epoch: Epoch, _ verdict: TimeGuard.Verdict) {
            (device, time, arrival, hasTime) = (epoch.device, epoch.fix.time, epoch.arrival.now, epoch.hasTime)
            if case .dated(let fix, _) = verdict { isUsed = !fix.isClockTime } else { isUsed = false }
            trouble = ReceiverDateMonitor.trouble(of: epoch, verdict)
        }

        func contradicts(_ other: Receiver) -> Bool {
            let (mine, others) = (time.milliseconds(since: other.time), arrival - other.arrival)
            return hasTime && TimeGuard.difference(mine, others).magnitude > TimeGuard.largestStep
        }
    }

    /// Milliseconds for which it must last: the first fixes after a start may have no time yet.
    static let timeout: Int64 = 5000
    /// Milliseconds by which a system clock that nobody keeps may be wrong.
    static let neglect: Int64 = 43_200_000
    /// A gpsd has four receivers at most.
    private static let maximumReceivers = 4

    /// What has lasted, with the dates of the last fix; nil: nothing.
    package private(set) var trouble: DateTrouble?
    private var seen: DateTrouble?
    /// When ``trouble`` began, while there is one.
    package private(set) var since = MonotonicTime.distantPast
    /// Those that were heard a moment ago, the last one last.
    private var receivers: [Receiver] = []

    package init() {}

    /// A fix was judged. True: what is told is of another kind now.
    package mutating func judged(_ epoch: Epoch, _ verdict: TimeGuard.Verdict) -> Bool {
        let now = epoch.arrival.now
        receivers.removeAll { $0.device == epoch.device || now - $0.arrival >= TimeGuard.primacy }
        receivers = receivers.suffix(Self.maximumReceivers - 1) + [Receiver(epoch, verdict)]
        return look(current, now)
    }

    /// There is no receiver any more: nothing is known of its dates. True: something was told. A receiver that loses its fix may have
    /// the same dates with the next one.
    package mutating func receiversGone() -> Bool {
        receivers = []
        return look(nil, .distantPast)
    }

    /// Beside a receiver whose time is used, another one can only contradict it: points are made.
    private var current: DateTrouble? {
        guard let used = receivers.last(where: \.isUsed) else { return receivers.last?.trouble }
        guard let other = receivers.last(where: { !$0.isUsed && $0.contradicts(used) }) else { return used.trouble }
        return .receivers(used: used.time, other: other.time, device: other.device)
    }

    private mutating func look(_ new: DateTrouble?, _ now: MonotonicTime) -> Bool {
        let before = trouble
        if let new {
            if !(seen.map { $0.isLike(new) } ?? false) { since = now }
            // What becomes of a trouble that was told is told at once.
            if trouble != nil || now - since >= Self.timeout { trouble = new }
        } else {
            trouble = nil
        }
        seen = new
        guard let trouble, let before else { return (trouble == nil) != (before == nil) }
        return !trouble.isLike(before)
    }

    private static func trouble(of epoch: Epoch, _ verdict: TimeGuard.Verdict) -> DateTrouble? {
        let isClockUsed: Bool
        if case .dated(let fix, _) = verdict { isClockUsed = fix.isClockTime } else { isClockUsed = false }
        if let time = epoch.standsAt { return .standing(receiver: time, isClockUsed: isClockUsed) }
        guard epoch.hasTime else { return .missing(isClockUsed: isClockUsed) }
        let (time, reading) = (epoch.fix.time, epoch.arrival)
        // A clock that is before this program was made was never set: everybody knows that it is wrong.
        guard reading.system.seconds >= SakerVersion.madeAt else { return nil }
        let difference = time.milliseconds(since: reading.system).magnitude
        guard difference > (reading.isKept ? TimeGuard.largestStep : neglect) else { return nil }
        return .disagreement(receiver: time, clock: reading.system, isClockUsed: isClockUsed)
    }
}

/// The dates that a receiver's fixes were used with, in stretches of one line each, and which of them turned out to be ahead
/// of the right time, or before this program was made.
///
/// Where no kept clock decides, the date that was believed for longer is right: a receiver that goes wrong for some seconds
/// must not cost the points of an hour. A date before this program was made disproves nothing, and any later one disproves it.
struct DateTrail: Hashable, Sendable {
    private struct Stretch: Hashable {
        /// See ``TimeGuard``. Nil: of the process before.
        var line: Int64?
        var first: Timestamp
        var last: Timestamp
        /// Milliseconds for which fixes came on this line.
        var weight: Int64
        var lastArrival: MonotonicTime
    }

    /// Older stretches are forgotten.
    private static let maximumStretches = 8
    /// Milliseconds between two fixes that count at most.
    private static let longestStep: Int64 = 120_000

    /// The last date that was used.
    private(set) var last: Timestamp?
    /// The present one is the last.
    private var stretches: [Stretch] = []
    private var disproved: [ClosedRange<Timestamp>] = []

    /// `newest`: the last date that the process before used.
    init(newest: Timestamp?) {
        last = newest
        guard let newest else { return }
        // Only certainty disproves what the process before believed.
        let first = Timestamp(milliseconds: .min)
        stretches = [Stretch(line: nil, first: first, last: newest, weight: .max, lastArrival: .distantPast)]
    }

    mutating func takeDisproved() -> [ClosedRange<Timestamp>] {
        defer { disproved = [] }
        return disproved
    }

    /// `isCertain`: a kept clock says the same. `goesBack`: the dates before were too late.
    mutating func used(_ time: Timestamp, line: Int64, _ now: MonotonicTime, isCertain: Bool, goesBack: Bool) {
        let before = last
        enter(line, time, now)
        last = goesBack ? time : max(before ?? time, time)
        guard time.seconds >= SakerVersion.madeAt, let present = stretches.last else { return }
        let limit = time.adding(milliseconds: TimeGuard.smallestReturn)
        stretches.removeAll { stretch in
            guard stretch.last.seconds >= SakerVersion.madeAt else {
                disproved.append(stretch.first...stretch.last)
                return true
            }
            guard stretch.line != present.line, stretch.last > limit, isCertain || present.weight >= stretch.weight
            else {
                return false
            }
            disproved.append(max(stretch.first, time.adding(milliseconds: 1))...stretch.last)
            return true
        }
    }

    private mutating func enter(_ line: Int64, _ time: Timestamp, _ now: MonotonicTime) {
        let index = stretches.lastIndex { stretch in
            stretch.line.map { Timestamp(milliseconds: $0) }.map { TimeGuard.agree($0, Timestamp(milliseconds: line)) }
                ?? false
        }
        guard let index else {
            stretches.append(Stretch(line: line, first: time, last: time, weight: 0, lastArrival: now))
            if stretches.count > Self.maximumStretches { stretches.removeFirst() }
            return
        }
        var stretch = stretches.remove(at: index)
        // Time in which another date was believed does not count.
        if index == stretches.count { stretch.weight += min(max(now - stretch.lastArrival, 0), Self.longestStep) }
        stretch.line = line
        stretch.first = min(stretch.first, time)
        stretch.last = max(stretch.last, time)
        stretch.lastArrival = now
        stretches.append(stretch)
    }
}

/// Fixes of one receiver in a row whose dates are not believed, each later than the one before. Enough of them that go on from
/// each other confirm their date.
struct DateRun: Hashable, Sendable {
    /// Fixes that go on from each other in one way.
    private struct Stretch: Hashable {
        let first: Timestamp
        let began: MonotonicTime
        var count = 1
    }

    /// So many fixes confirm a date when they arrive as their dates go on; without that, so many more.
    private static let confirmations = 3
    private static let closeConfirmations = 5
    /// Milliseconds, of the arrivals or of the dates.
    private static let confirmationSpan: Int64 = 4000
    /// The most milliseconds between the dates of fixes that confirm each other whenever they arrive.
    private static let largestStep: Int64 = 60_000
    /// So many bursts, of so many fixes at least, confirm a date whatever passes between them.
    private static let confirmingBursts = 3
    private static let leastBurst = 2

    /// The receiver's path at gpsd.
    let device: String?
    private var last: Timestamp
    private var lastArrival: MonotonicTime
    /// Date and monotonic clock go on together.
    private var steady: Stretch
    /// The dates follow each other closely. gpsd may play a recording faster than it was made.
    private var close: Stretch
    /// Fixes of the present burst. In a burst date and monotonic clock go on together. Between two bursts the date goes ahead of
    /// the clock, as when the computer stood still meanwhile.
    private var burst = 1
    /// Bursts in a row that had enough fixes, the present one included.
    private var bursts = 0

    init(_ time: Timestamp, from device: String?, _ now: MonotonicTime) {
        self.device = device
        (last, lastArrival) = (time, now)
        steady = Stretch(first: time, began: now)
        close = steady
    }

    /// False when the fix is not later than the one before.
    mutating func takes(_ time: Timestamp, _ now: MonotonicTime) -> Bool {
        guard time > last else { return false }
        let alone = Stretch(first: time, began: now)
        let drift = TimeGuard.difference(time.milliseconds(since: steady.first), now - steady.began)
        if drift.magnitude <= TimeGuard.jitter { steady.count += 1 } else { steady = alone }
        if time.milliseconds(since: last) <= Self.largestStep { close.count += 1 } else { close = alone }
        takesIntoBurst(TimeGuard.difference(time.milliseconds(since: last), now - lastArrival))
        (last, lastArrival) = (time, now)
        return true
    }

    /// `isBursty`: the date before was confirmed by bursts, so one more burst is enough.
    func confirms(_ now: MonotonicTime, isBursty: Bool) -> Bool {
        isSteady(now) || bursts >= (isBursty ? 1 : Self.confirmingBursts)
    }

    /// Confirmed without bursts.
    func isSteady(_ now: MonotonicTime) -> Bool {
        if steady.count >= Self.confirmations, now - steady.began >= Self.confirmationSpan { return true }
        return close.count >= Self.closeConfirmations && last.milliseconds(since: close.first) >= Self.confirmationSpan
    }

    /// `lead`: milliseconds by which the date went on farther than the clock.
    private mutating func takesIntoBurst(_ lead: Int64) {
        if lead.magnitude <= TimeGuard.jitter {
            burst += 1
            if burst == Self.leastBurst { bursts += 1 }
        } else {
            if lead < 0 || burst < Self.leastBurst { bursts = 0 }
            burst = 1
        }
    }
}
