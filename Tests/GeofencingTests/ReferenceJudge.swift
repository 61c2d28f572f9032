import TrackModel

@testable import Geofencing

/// The rules without any haste: every fence is judged for every point, by its plan alone. No index, no leaf, no short cut.
/// `denoises` are those of all fences that there ever were, as a set of fences keeps them.
struct ReferenceJudge {
    static func judge(
        _ point: FencePoint, of memory: inout EntityMemory, by plans: [FencePlan], denoises: [Int32],
        into alarms: inout [FenceAlarm]
    ) {
        if let last = memory.lastTime, point.time <= last { return }
        var told = FenceTelling()
        var pairs: [FencePair] = []
        for plan in plans.sorted(by: { $0.id < $1.id }) {
            let kept = memory.pair(of: plan.id)
            guard point.time >= plan.from, point.passes(denoise: plan.denoise) else {
                if let kept { pairs.append(kept) }
                continue
            }
            let last = memory.lastPoint(denoise: plan.denoise)
            var pair = memory.present(kept, of: plan, last: last)
            PairJudge(step: FenceStep(from: last, to: point)).judge(&pair, of: plan, into: &told)
            if pair.isWorthKeeping { pairs.append(pair) }
        }
        memory.pairs = pairs
        let step = FenceStep(from: memory.points.first, to: point)
        told.alarms += GroupJudge(changes: told.changes, step: step).alarms { group, changed in
            pairs.contains { pair in
                pair.place == .in && !changed.contains(pair.fence)
                    && plans.contains { $0.id == pair.fence && $0.group == group }
            }
        }
        let limits = plans.filter { plan in
            plan.speedLimit != nil && plan.validity?.contains(point.time) ?? true
                && pairs.contains { $0.fence == plan.id && $0.place == .in }
        }
        let governing = limits.min { left, right in
            (left.speedLimit?.speed ?? 0, left.id) < (right.speedLimit?.speed ?? 0, right.id)
        }
        let verdict = OverspeedJudge.judge(memory.overspeed, governing: governing, step: step)
        memory.overspeed = verdict.episode
        if let alarm = verdict.alarm { told.alarms.append(alarm) }
        memory.remember(point, denoises: denoises)
        told.arrange()
        alarms += told.alarms
    }
}
