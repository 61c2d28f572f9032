internal import Geodesy
internal import TrackModel

extension EntityMemory {
    /// The pair as it stands before the next point: an absent one made, one of another area placed anew.
    /// `last` is the last point that the fence's denoise lets through.
    func present(_ kept: FencePair?, of plan: FencePlan, last: FencePoint?) -> FencePair {
        let isKnown = last.map { $0.time >= plan.from } ?? wasJudged(before: plan.from)
        guard isKnown, newestReceived.map({ $0 >= plan.from }) ?? true else { return new(plan, .unknown) }
        guard let kept else {
            guard let last, last.time < plan.revisedAt else { return new(plan, .out) }
            return placed(plan, by: last)
        }
        guard kept.revision != plan.revision else { return kept }
        var pair = kept
        pair.revision = plan.revision
        // Only what is told was edited: places, first signs and held changes stay. An earlier revision comes from a
        // backup, and may have another area.
        guard (plan.areaRevision...max(plan.areaRevision, plan.revision)).contains(kept.revision) else {
            guard let last else { return new(plan, .unknown) }
            let placed = placed(plan, by: last)
            guard placed.place == .in, kept.isInside || kept.place == .in else { return placed }
            // The same place: the visit goes on.
            if kept.place != .in, let held = kept.held { (pair.place, pair.since) = (.in, held.time) }
            (pair.sign, pair.held) = (nil, nil)
            pair.countStays(by: plan.stay, after: last.time)
            return pair
        }
        pair.countStays(by: plan.stay, after: last?.time ?? pair.since)
        return pair
    }

    /// Where the entity is by its last point, without an alarm.
    private func placed(_ plan: FencePlan, by last: FencePoint) -> FencePair {
        guard plan.shape.contains(last.place), !plan.isElsewhere(last) else { return new(plan, .out) }
        var pair = FencePair(fence: plan.id, revision: plan.revision, place: .in, since: last.time)
        pair.nextStay = plan.stay.map { last.time.adding(milliseconds: Int64($0.after) * 1000) }
        return pair
    }

    private func new(_ plan: FencePlan, _ place: FencePair.Place) -> FencePair {
        FencePair(fence: plan.id, revision: plan.revision, place: place, since: plan.from)
    }

    /// Where the entity is kept to be, as its alarms told it, and since when it is inside. It changes nothing.
    package func status(of plan: FencePlan) -> FenceStatus {
        let last = lastPoint(denoise: plan.denoise)
        let pair = present(pair(of: plan.id), of: plan, last: last)
        return FenceStatus(
            place: pair.place, since: pair.place == .in ? pair.since : nil,
            signedDistance: last.map { plan.shape.signedDistance(to: $0.place) }, time: last?.time)
    }

    /// The ``FenceStatus/place`` of ``status(of:)``, without the cost of a distance.
    package func place(of plan: FencePlan) -> FencePair.Place {
        present(pair(of: plan.id), of: plan, last: lastPoint(denoise: plan.denoise)).place
    }
}
