internal import TrackModel

/// Keeps a receiver's wrong dates from silencing the sampler; see docs/decisions/0003-gathering-and-uplink.md.
///
/// Because time never goes back, one fix dated far ahead would stop gathering until then. So a jump ahead of more than
/// ``largestStep`` is believed only when ``confirmations`` fixes in a row carry it on.
struct TimeGuard: Hashable, Sendable {
    enum Verdict: Hashable {
        case trusted
        /// Not later than the last point.
        case notLater
        /// Far ahead, and not confirmed yet.
        case unconfirmed
        /// The time of the only point so far was wrong: everything begins with this fix.
        case beginsAnew
    }

    /// Milliseconds; a longer tunnel costs the confirmation, a few fixes.
    static let largestStep: Int64 = 600_000
    static let confirmations = 5
    /// Milliseconds between fixes that confirm each other.
    static let largestRunStep: Int64 = 60_000

    /// The time trusted last.
    private var latest: Timestamp?
    /// Fixes whose time was trusted, up to ``confirmations``: then a date that goes back is the wrong one.
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
            // Only a start-up date that nothing has confirmed can turn out wrong in this direction.
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

    /// Whether the run of consecutive fixes that disagree with the trusted time is long enough now; ends it then.
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
