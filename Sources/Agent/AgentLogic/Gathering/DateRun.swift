internal import TrackModel

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
