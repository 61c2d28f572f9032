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
    func judge(_ pair: inout FencePair, of plan: FencePlan, into told: inout FenceTelling) {
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

    private func find(_ pair: inout FencePair, of plan: FencePlan, _ told: inout FenceTelling) {
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

    private func leaveAtOnce(_ pair: inout FencePair, of plan: FencePlan, _ told: inout FenceTelling) {
        if pair.place == .unknown { pair.place = .out }
        pair.sign = nil
        guard pair.isInside else { return }
        let earliest = step.previous?.time ?? step.point.time
        change(&pair, of: plan, Crossing(between: earliest, and: step.point.time, causing: step.point), &told)
    }

    private func judgeOutside(_ pair: inout FencePair, of plan: FencePlan, _ told: inout FenceTelling) {
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

    private func judgeInside(_ pair: inout FencePair, of plan: FencePlan, _ told: inout FenceTelling) {
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
    private func visitBetween(_ pair: inout FencePair, of plan: FencePlan, _ told: inout FenceTelling) {
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
