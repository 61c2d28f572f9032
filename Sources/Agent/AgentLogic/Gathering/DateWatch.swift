package import TrackModel

/// Knows what is wrong with the dates of the receivers, for those who are told of it.
package struct DateWatch: Hashable, Sendable {
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
            trouble = DateWatch.trouble(of: epoch, verdict)
        }

        func contradicts(_ other: Receiver) -> Bool {
            let (mine, others) = (time.milliseconds(since: other.time), arrival - other.arrival)
            return hasTime && TimeGuard.difference(mine, others).magnitude > TimeGuard.largestStep
        }
    }

    /// Milliseconds for which it must last: the first fixes after a start may have no time yet.
    static let patience: Int64 = 5000
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
