package import TrackModel

/// Knows what is wrong with a receiver's dates, for those who are told of it.
package struct DateWatch: Hashable, Sendable {
    /// Milliseconds for which it must last: the first fixes after a start may have no time yet.
    static let patience: Int64 = 5000
    /// Milliseconds by which a system clock that nobody keeps may be wrong.
    static let neglect: Int64 = 43_200_000

    /// What has lasted, with the dates of the last fix; nil: nothing.
    package private(set) var trouble: DateTrouble?
    private var seen: DateTrouble?
    private var since = MonotonicTime.distantPast

    package init() {}

    /// A fix was judged. True: what is told is of another kind now.
    package mutating func judged(_ epoch: Epoch, _ verdict: TimeGuard.Verdict) -> Bool {
        look(Self.trouble(of: epoch, verdict), epoch.arrival.now)
    }

    /// No fixes come: nothing is known of their dates. True: something was told.
    package mutating func fixesEnd() -> Bool { look(nil, .distantPast) }

    private mutating func look(_ new: DateTrouble?, _ now: MonotonicTime) -> Bool {
        let before = trouble
        if let new {
            if !(seen.map { $0.isLike(new) } ?? false) { since = now }
            // What becomes of a trouble that was told is told at once.
            if trouble != nil || now - since >= Self.patience { trouble = new }
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
        guard epoch.hasTime else { return .missing(isClockUsed: isClockUsed) }
        let (time, reading) = (epoch.fix.time, epoch.arrival)
        // A clock that is before this program was made was never set: everybody knows that it is wrong.
        guard reading.system.seconds >= SakerVersion.madeAt else { return nil }
        let difference = time.milliseconds(since: reading.system).magnitude
        guard difference > (reading.isKept ? TimeGuard.largestStep : neglect) else { return nil }
        return .disagreement(receiver: time, clock: reading.system, isClockUsed: isClockUsed)
    }
}
