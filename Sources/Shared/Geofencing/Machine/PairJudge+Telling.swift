internal import TrackModel

// What a verdict makes of a pair, and what is told of it.
extension PairJudge {
    /// The entity is on the other side. It is told when that has held for the fence's settle time.
    func change(_ pair: inout FencePair, of plan: FencePlan, _ crossing: Crossing, _ told: inout FenceTelling) {
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
    func settle(_ pair: inout FencePair, of plan: FencePlan, _ told: inout FenceTelling) {
        guard let held = pair.held, step.point.time.milliseconds(since: held.time) >= plan.settleTime else { return }
        pair.held = nil
        tell(&pair, of: plan, held, &told)
    }

    private func tell(_ pair: inout FencePair, of plan: FencePlan, _ crossing: Crossing, _ told: inout FenceTelling) {
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

    func note(_ plan: FencePlan, isEnter: Bool, crossing: Crossing?, _ told: inout FenceTelling) {
        guard let group = plan.group else { return }
        told.changes.append(FenceChange(fence: plan.id, group: group, isEnter: isEnter, crossing: crossing, plan: plan))
    }

    // MARK: Stays

    func tellStays(_ pair: inout FencePair, of plan: FencePlan, _ told: inout FenceTelling) {
        guard pair.place == .in, pair.nextStay != nil else { return }
        let limit = pair.held?.earliest ?? pair.sign?.earliest ?? step.point.time
        tellStays(&pair, of: plan, until: limit, &told)
    }

    /// Tells the latest stay that is due, with the number of those that were due before it.
    private func tellStays(
        _ pair: inout FencePair, of plan: FencePlan, until limit: Timestamp, _ told: inout FenceTelling
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
