internal import Geodesy
internal import TrackModel

/// The rules of one fence and one entity. A plan is lent to each function, because to keep it would copy it: docs/decisions/0015-fences.md has them with their reasons.
struct PairJudge {
    let step: FenceStep

    /// Points that may leave a place unknown.
    private static let mostTries: UInt8 = 2
    /// Metres beyond the boundary, with the accuracy, that two slow points must show.
    private static let slowMargin = 20.0

    /// Appends what is told, in the order of discovery.
    func judge(_ pair: inout FencePair, of plan: FencePlan, into told: inout FenceAlarmCollector) {
        // Time began anew before the visit did: the visit is counted from here.
        if pair.place == .in, pair.since > step.point.time { enter(&pair, of: plan, at: step.point.time) }
        if plan.isElsewhere(step.point) {
            leaveAtOnce(&pair, of: plan, &told)
        } else if pair.place == .unknown {
            find(&pair, of: plan, &told)
        } else if pair.isInside {
            judgeInside(&pair, of: plan, &told)
        } else {
            judgeOutside(&pair, of: plan, &told)
        }
        settle(&pair, of: plan, &told)
        tellStays(&pair, of: plan, &told)
    }

    // MARK: The first place

    private func find(_ pair: inout FencePair, of plan: FencePlan, _ told: inout FenceAlarmCollector) {
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
            enter(&pair, of: plan, at: crossing.time)
            note(plan, isEnter: true, crossing: nil, &told)
            return
        }
        pair.place = .out
        change(&pair, of: plan, crossing, &told)
    }

    // MARK: In and out

    private func leaveAtOnce(_ pair: inout FencePair, of plan: FencePlan, _ told: inout FenceAlarmCollector) {
        if pair.place == .unknown { pair.place = .out }
        pair.sign = nil
        guard pair.isInside else { return }
        let earliest = step.previous?.time ?? step.point.time
        change(&pair, of: plan, Crossing(between: earliest, and: step.point.time, causing: step.point), &told)
    }

    private func judgeOutside(_ pair: inout FencePair, of plan: FencePlan, _ told: inout FenceAlarmCollector) {
        guard plan.shape.contains(step.point.place) else {
            if pair.sign == nil { visitBetween(&pair, of: plan, &told) }
            pair.sign = nil
            return
        }
        let confirmed = pair.sign?.isConfirmable ?? false
        var sign = pair.sign ?? sign(of: plan) { $0.entry }
        sign.isConfirmable = true
        pair.sign = sign
        guard step.isCredible || confirmed, isDeepEnough(in: plan) else { return }
        pair.sign = nil
        change(&pair, of: plan, sign.crossing(causedBy: step.point), &told)
    }

    /// A vehicle that stands beside a fence must not come in by jitter.
    private func isDeepEnough(in plan: FencePlan) -> Bool {
        guard step.areSlow else { return true }
        return plan.shape.signedDistance(to: step.point.place) + min(step.error, plan.shape.width / 4) <= 0
    }

    private func judgeInside(_ pair: inout FencePair, of plan: FencePlan, _ told: inout FenceAlarmCollector) {
        let signed = plan.shape.signedDistance(to: step.point.place)
        guard signed > 0 else {
            pair.sign = nil
            return
        }
        var sign = pair.sign ?? sign(of: plan) { $0.exit }
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
        change(&pair, of: plan, sign.crossing(causedBy: step.point), &told)
    }

    /// The sign that this point gives, with the crossing on the way to it when the way is known.
    private func sign(of plan: FencePlan, _ share: (Passage) -> Double?) -> FencePair.Sign {
        let earliest = step.previous?.time ?? step.point.time
        var sign = FencePair.Sign(
            crossing: nil, earliest: earliest, latest: step.point.time, isConfirmable: false)
        if let way = step.way(for: plan), let share = share(plan.shape.passage(of: way)) {
            let crossing = step.crossing(at: share, of: way)
            (sign.crossing, sign.earliest, sign.latest) = (crossing, crossing.time, crossing.time)
        }
        return sign
    }

    /// Outside before and after, and inside between: a visit when it is deeper than both points' errors.
    private func visitBetween(_ pair: inout FencePair, of plan: FencePlan, _ told: inout FenceAlarmCollector) {
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
        change(&pair, of: plan, entry, &told)
        change(&pair, of: plan, exit, &told)
    }
}

// What a verdict makes of a pair, and what is told of it.
extension PairJudge {
    /// The entity is on the other side. It is told when that has held for the fence's settle time.
    func change(_ pair: inout FencePair, of plan: FencePlan, _ crossing: Crossing, _ told: inout FenceAlarmCollector) {
        if let held = pair.held {
            pair.held = nil
            // Not held for long enough: as if neither had been.
            guard crossing.time.milliseconds(since: held.time) >= plan.settleTime else { return }
            tell(&pair, of: plan, held, &told)
        }
        guard plan.settle == 0, crossing.time <= step.point.time else {
            pair.held = crossing
            return
        }
        tell(&pair, of: plan, crossing, &told)
    }

    /// Tells a change that has held for long enough.
    func settle(_ pair: inout FencePair, of plan: FencePlan, _ told: inout FenceAlarmCollector) {
        guard let held = pair.held, step.point.time.milliseconds(since: held.time) >= plan.settleTime else { return }
        pair.held = nil
        tell(&pair, of: plan, held, &told)
    }

    private func tell(
        _ pair: inout FencePair, of plan: FencePlan, _ crossing: Crossing, _ told: inout FenceAlarmCollector
    ) {
        guard pair.place == .in else {
            enter(&pair, of: plan, at: crossing.time)
            if plan.tells(.enter, at: crossing.time) {
                told.alarms.append(FenceAlarm(.enter, of: plan, step: step, crossing: crossing))
            }
            note(plan, isEnter: true, crossing: crossing, &told)
            return
        }
        tellStays(&pair, of: plan, until: crossing.earliest, &told)
        if plan.tells(.exit, at: crossing.time) {
            let inside = crossing.time.milliseconds(since: pair.since)
            told.alarms.append(FenceAlarm(.exit, of: plan, step: step, crossing: crossing, inside: inside))
        }
        pair.place = .out
        pair.since = crossing.time
        pair.nextStay = nil
        note(plan, isEnter: false, crossing: crossing, &told)
    }

    func enter(_ pair: inout FencePair, of plan: FencePlan, at time: Timestamp) {
        pair.place = .in
        pair.since = time
        pair.nextStay = plan.stay.map { time.adding(milliseconds: Int64($0.after) * 1000) }
    }

    func note(_ plan: FencePlan, isEnter: Bool, crossing: Crossing?, _ told: inout FenceAlarmCollector) {
        guard let group = plan.group else { return }
        told.changes.append(FenceChange(fence: plan.id, group: group, isEnter: isEnter, crossing: crossing, plan: plan))
    }

    // MARK: Stays

    private func tellStays(_ pair: inout FencePair, of plan: FencePlan, _ told: inout FenceAlarmCollector) {
        guard pair.place == .in, pair.nextStay != nil else { return }
        let limit = pair.held?.earliest ?? pair.sign?.earliest ?? step.point.time
        tellStays(&pair, of: plan, until: limit, &told)
    }

    /// Tells the latest stay that is due, with the number of those that were due before it.
    private func tellStays(
        _ pair: inout FencePair, of plan: FencePlan, until limit: Timestamp, _ told: inout FenceAlarmCollector
    ) {
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
        told.alarms.append(
            FenceAlarm(
                .stay, of: plan, step: step, crossing: crossing, inside: time.milliseconds(since: pair.since),
                skipped: Int(clamping: skipped)))
    }
}
