internal import TrackModel

/// Keeps wrong dates of a receiver from silencing the sampler; see docs/decisions/0003-gathering-and-uplink.md.
///
/// Time never goes back, so one fix that is dated far ahead would stop gathering until that date. So the guard believes
/// a jump of more than ``largestStep`` ahead only when ``confirmations`` fixes in a row continue it.
struct TimeGuard: Hashable, Sendable {
    enum Verdict: Hashable {
        case trusted
        /// Not later than the last point.
        case notLater
        /// Far ahead, and not confirmed yet.
        case unconfirmed
        /// The time of the only point so far was wrong. Sampling begins again with this fix.
        case beginsAnew
    }

    /// Milliseconds. A longer tunnel costs the fixes of the confirmation.
    static let largestStep: Int64 = 600_000
    static let confirmations = 5
    /// The most milliseconds between fixes that confirm each other.
    static let largestRunStep: Int64 = 60_000

    /// The last trusted time.
    private var latest: Timestamp?
    /// Fixes with a trusted time, up to ``confirmations``. From then on a date that goes back is wrong.
    private var trustedCount = 0
    private var runEnd: Timestamp?
    private var runCount = 0

    /// `floor`: the time of the last point.
    mutating func judge(_ time: Timestamp, floor: Timestamp?) -> Verdict {
        guard let reference = latest else {
            trust(time, count: 1)
            return .trusted
        }
        if let floor, time <= floor {
            // Only a first date that nothing has confirmed can turn out to be too late.
            guard trustedCount < Self.confirmations, floor.milliseconds(since: time) > Self.largestStep
            else {
                endRun()
                return .notLater
            }
            guard continueRun(time) else { return .notLater }
            trust(time, count: Self.confirmations)
            return .beginsAnew
        }
        guard time.milliseconds(since: reference) > Self.largestStep else {
            endRun()
            trust(time, count: trustedCount + 1)
            return .trusted
        }
        guard continueRun(time) else { return .unconfirmed }
        trust(time, count: Self.confirmations)
        return .trusted
    }

    private mutating func trust(_ time: Timestamp, count: Int) {
        latest = time
        trustedCount = min(count, Self.confirmations)
    }

    /// Whether the fixes in a row that disagree with the trusted time are enough now. Ends the run if so.
    private mutating func continueRun(_ time: Timestamp) -> Bool {
        if let end = runEnd, (1...Self.largestRunStep).contains(time.milliseconds(since: end)) {
            runCount += 1
        } else {
            runCount = 1
        }
        runEnd = time
        guard runCount >= Self.confirmations else { return false }
        endRun()
        return true
    }

    private mutating func endRun() {
        runEnd = nil
        runCount = 0
    }
}
