internal import TrackModel

/// Since when the disk has refused the alarm journal to one process: an error may pass, and what is given up is lost.
struct ReadRetryModel {
    /// Milliseconds for which the journal tries at least, before it gives up what it cannot read.
    static let least: Int64 = 590_000

    private var refusals: Int
    private var since: MonotonicTime?

    /// `refusals`: of this file, as the disk has counted them.
    init(refusals: Int) {
        self.refusals = refusals
    }

    mutating func observe(refusals count: Int, hasGivenUp: Bool, _ now: MonotonicTime) throws(Violation) {
        if count > refusals, since == nil { since = now }
        refusals = count
        guard hasGivenUp, now - (since ?? now) < Self.least else { return }
        throw Violation(
            guarantee: .alarms,
            detail: "the journal gave up what it could not read after \(now - (since ?? now)) ms of errors, not after "
                + "\(Self.least / 1000) s")
    }
}
