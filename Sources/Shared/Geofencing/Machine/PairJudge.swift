internal import Geodesy
internal import TrackModel

/// The rules of one fence and one entity: docs/decisions/0015-fences.md has them with their reasons.
struct PairJudge {
    let plan: FencePlan
    let step: FenceStep
    /// What is told, in the order of discovery.
    var alarms: [FenceAlarm] = []
    var changes: [FenceChange] = []

    /// Points that may leave a place unknown.
    private static let mostTries: UInt8 = 2
    /// Metres beyond the boundary, with the accuracy, that two slow points must show.
    private static let slowMargin = 20.0

    init(_ plan: FencePlan, _ step: FenceStep) {
        self.plan = plan
        self.step = step
    }

    mutating func judge(_ pair: inout FencePair) {
        // Time began anew before the visit did: the visit is counted from here.
        if pair.place == .in, pair.since > step.point.time { enter(&pair, at: step.point.time) }
        if plan.isElsewhere(step.point) {
            leaveAtOnce(&pair)
        } else if pair.place == .unknown {
            find(&pair)
        } else if pair.isInside {
            judgeInside(&pair)
        } else {
            judgeOutside(&pair)
        }
        settle(&pair)
        tellStays(&pair)
    }

    // MARK: The first place

    private mutating func find(_ pair: inout FencePair) {
        let signed = plan.shape.signedDistance(to: step.point.place)
        guard signed.magnitude > step.error || pair.tries >= Self.mostTries else {
            pair.tries += 1
            return
        }
        pair.tries = 0
        guard signed <= 0 else {
            pair.place = .out
            return
        }
        let crossing = Crossing(between: step.point.time, and: step.point.time, causing: step.point)
        guard plan.initial else {
            enter(&pair, at: crossing.time)
            note(isEnter: true, crossing: nil)
            return
        }
        pair.place = .out
        change(&pair, crossing)
    }

    // MARK: In and out

    private mutating func leaveAtOnce(_ pair: inout FencePair) {
        if pair.place == .unknown { pair.place = .out }
        pair.sign = nil
        guard pair.isInside else { return }
        let earliest = step.previous?.time ?? step.point.time
        change(&pair, Crossing(between: earliest, and: step.point.time, causing: step.point))
    }

    private mutating func judgeOutside(_ pair: inout FencePair) {
        guard plan.shape.contains(step.point.place) else {
            if pair.sign == nil { visitBetween(&pair) }
            pair.sign = nil
            return
        }
        let confirmed = pair.sign?.isConfirmable ?? false
        var sign = pair.sign ?? sign(of: \.entry)
        sign.isConfirmable = true
        pair.sign = sign
        guard step.isCredible || confirmed, isDeepEnough() else { return }
        pair.sign = nil
        change(&pair, sign.crossing(causedBy: step.point))
    }

    /// A vehicle that stands beside a fence must not come in by jitter.
    private func isDeepEnough() -> Bool {
        guard step.areSlow else { return true }
        return plan.shape.signedDistance(to: step.point.place) + min(step.error, plan.shape.width / 4) <= 0
    }

    private mutating func judgeInside(_ pair: inout FencePair) {
        let signed = plan.shape.signedDistance(to: step.point.place)
        guard signed > 0 else {
            pair.sign = nil
            return
        }
        var sign = pair.sign ?? sign(of: \.exit)
        let beyond = signed - step.error
        let isClear = beyond > 0
        let isProven = beyond > plan.exitMargin && step.isCredible
        let isConfirmed = isClear && sign.isConfirmable && (!step.areSlow || beyond > Self.slowMargin)
        guard isProven || isConfirmed else {
            sign.isConfirmable = isClear
            pair.sign = sign
            return
        }
        pair.sign = nil
        change(&pair, sign.crossing(causedBy: step.point))
    }

    /// The sign that this point gives, with the crossing on the way to it when the way is known.
    private func sign(of share: KeyPath<Passage, Double?>) -> FencePair.Sign {
        let earliest = step.previous?.time ?? step.point.time
        var sign = FencePair.Sign(
            crossing: nil, earliest: earliest, latest: step.point.time, isConfirmable: false)
        if let way = step.way(for: plan), let share = plan.shape.passage(of: way)[keyPath: share] {
            let crossing = step.crossing(at: share, of: way)
            (sign.crossing, sign.earliest, sign.latest) = (crossing, crossing.time, crossing.time)
        }
        return sign
    }

    /// Outside before and after, and inside between: a visit when it is deeper than both points' errors.
    private mutating func visitBetween(_ pair: inout FencePair) {
        guard plan.countsThrough, step.isCredible, let way = step.travelledWay(for: plan),
            let part = plan.shape.passage(of: way).longest
        else { return }
        let middle = way.place(at: (part.lowerBound + part.upperBound) / 2)
        let depth = -plan.shape.signedDistance(to: middle)
        guard depth > max(step.error, step.previousError) else { return }
        let entry = step.crossing(at: part.lowerBound, of: way)
        let exit = step.crossing(at: part.upperBound, of: way)
        // A visit shorter than a millisecond has no order.
        guard entry.time < exit.time else { return }
        change(&pair, entry)
        change(&pair, exit)
    }

    // MARK: Telling

    /// The entity is on the other side. It is told when that has held for the fence's settle time.
    private mutating func change(_ pair: inout FencePair, _ crossing: Crossing) {
        if let held = pair.held {
            pair.held = nil
            // Not held for long enough: as if neither had been.
            guard crossing.time.milliseconds(since: held.time) >= settleTime else { return }
            tell(&pair, held)
        }
        pair.held = crossing
        if settleTime == 0 { settle(&pair) }
    }

    private var settleTime: Int64 { Int64(plan.settle) * 1000 }

    private mutating func settle(_ pair: inout FencePair) {
        guard let held = pair.held, step.point.time.milliseconds(since: held.time) >= settleTime else { return }
        pair.held = nil
        tell(&pair, held)
    }

    private mutating func tell(_ pair: inout FencePair, _ crossing: Crossing) {
        guard pair.place == .in else {
            enter(&pair, at: crossing.time)
            if plan.tells(.enter, at: crossing.time) {
                alarms.append(FenceAlarm(.enter, of: plan, step: step, crossing: crossing))
            }
            note(isEnter: true, crossing: crossing)
            return
        }
        tellStays(&pair, until: crossing.earliest)
        if plan.tells(.exit, at: crossing.time) {
            let inside = crossing.time.milliseconds(since: pair.since)
            alarms.append(FenceAlarm(.exit, of: plan, step: step, crossing: crossing, inside: inside))
        }
        pair.place = .out
        pair.since = crossing.time
        pair.nextStay = nil
        note(isEnter: false, crossing: crossing)
    }

    private mutating func enter(_ pair: inout FencePair, at time: Timestamp) {
        pair.place = .in
        pair.since = time
        pair.nextStay = plan.stay.map { time.adding(milliseconds: Int64($0.after) * 1000) }
    }

    private mutating func note(isEnter: Bool, crossing: Crossing?) {
        guard let group = plan.group else { return }
        changes.append(FenceChange(fence: plan.id, group: group, isEnter: isEnter, crossing: crossing, plan: plan))
    }

    // MARK: Stays

    private mutating func tellStays(_ pair: inout FencePair) {
        guard pair.place == .in, pair.nextStay != nil else { return }
        let limit = pair.held?.earliest ?? pair.sign?.earliest ?? step.point.time
        tellStays(&pair, until: limit)
    }

    /// Tells the latest stay that is due, with the number of those that were due before it.
    private mutating func tellStays(_ pair: inout FencePair, until limit: Timestamp) {
        guard let stay = plan.stay, let due = pair.nextStay, due <= limit else { return }
        let every = stay.every.map { Int64($0) * 1000 }
        let count = every.map { limit.milliseconds(since: due) / $0 } ?? 0
        let last = due.adding(milliseconds: count * (every ?? 0))
        pair.nextStay = every.map { last.adding(milliseconds: $0) }
        // The latest that lies in a window. Windows open again within days, so the search is short.
        var (time, skipped) = (last, count)
        while skipped >= 0, !plan.tells(.stay, at: time) {
            guard skipped > 0, count - skipped < 10_000, plan.rule.contains(.stay) else { return }
            time = time.adding(milliseconds: -(every ?? 0))
            skipped -= 1
        }
        var crossing = Crossing(at: time, step.point.place)
        crossing.isEstimated = false
        alarms.append(
            FenceAlarm(
                .stay, of: plan, step: step, crossing: crossing, inside: time.milliseconds(since: pair.since),
                skipped: Int(clamping: skipped)))
    }
}
