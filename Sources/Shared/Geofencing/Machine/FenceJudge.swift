internal import Geodesy
internal import TrackModel

/// Judges the points of entities by fences. It keeps no state of an entity, only room to work in: one judge serves any
/// number of entities, one after the other.
package struct FenceJudge {
    package enum Outcome: Hashable, Sendable {
        case judged
        /// At or before the newest point of the entity: nothing happens.
        case late
    }

    /// A fence near a point. `isOwn`: of the entity's own set.
    private struct Candidate {
        let fence: Int32
        let slot: UInt32
        let isOwn: Bool
    }

    /// Milliseconds: the way between two points is never asked for beyond.
    private static let longestWay = Int64(FencePlan.crossingGaps.upperBound) * 1000
    /// Metres: farther from a fence than any error that counts.
    private static let reachOfUnknown = 60.0

    /// Every fence is looked at, near or not: for tests of the index.
    var looksAtAll = false
    private var slots: [UInt32] = []
    private var candidates: [Candidate] = []
    private var changes: [FenceChange] = []
    private var steps: [(denoise: Int32, step: FenceStep)] = []

    package init() {}

    /// Judges a point and remembers it.
    ///
    /// `fences` are those of many entities, such as the fences over everybody; `own` those of this entity alone. No fence
    /// is in both. What is to be told is appended to `alarms`, in the order of its crossings.
    package mutating func judge(
        _ point: FencePoint, of memory: inout EntityMemory, by fences: FenceSet, own: FenceSet? = nil,
        into alarms: inout [FenceAlarm]
    ) -> Outcome {
        if let last = memory.lastTime, point.time <= last { return .late }
        let firstAlarm = alarms.count
        changes.removeAll(keepingCapacity: true)
        steps.removeAll(keepingCapacity: true)
        candidates.removeAll(keepingCapacity: true)
        gather(point, memory, fences, isOwn: false)
        if let own { gather(point, memory, own, isOwn: true) }
        sortCandidates()
        judgePairs(point, &memory, fences, own, &alarms)
        judgeGroups(point, memory, fences, own, &alarms)
        judgeSpeed(point, &memory, fences, own, &alarms)
        memory.remember(point, denoises: Self.denoises(fences, own))
        if alarms.count > firstAlarm { arrange(&alarms, from: firstAlarm) }
        return .judged
    }

    private static func denoises(_ fences: FenceSet, _ own: FenceSet?) -> [Int32] {
        guard let own, !own.denoises.isEmpty else { return fences.denoises }
        return fences.denoises.isEmpty ? own.denoises : Array(Set(fences.denoises + own.denoises)).sorted()
    }

    // MARK: Fences near the way

    private mutating func gather(_ point: FencePoint, _ memory: EntityMemory, _ set: FenceSet, isOwn: Bool) {
        guard set.count > 0 else { return }
        slots.removeAll(keepingCapacity: true)
        if looksAtAll {
            set.findAll(into: &slots)
        } else {
            let isSettled = memory.points.last.map { $0.time >= set.newestChange } ?? false
            let margin = isSettled ? 0 : Self.reachOfUnknown
            var hasWay = false
            for previous in memory.points
            where previous.time < set.newestChange || Self.hasWay(from: previous, to: point) {
                hasWay = true
                set.find(ShapeBox(from: previous.place, to: point.place, grownBy: margin), into: &slots)
            }
            if !hasWay { set.find(ShapeBox(from: point.place, to: point.place, grownBy: margin), into: &slots) }
        }
        for slot in slots {
            candidates.append(Candidate(fence: set.leaf(at: slot).id, slot: slot, isOwn: isOwn))
        }
    }

    /// Only a way that can be travelled is looked at: who jumps around the world must not ask for every fence.
    private static func hasWay(from previous: FencePoint, to point: FencePoint) -> Bool {
        let span = point.time.milliseconds(since: previous.time)
        guard span <= longestWay else { return false }
        return FenceStep.isTravelled(Way(from: previous.place, to: point.place), in: span)
    }

    /// By fence, each once.
    private mutating func sortCandidates() {
        guard candidates.count > 1 else { return }
        if candidates.count > 64 {
            candidates.sort { $0.fence < $1.fence }
        } else {
            for index in 1..<candidates.count {
                let candidate = candidates[index]
                var place = index
                while place > 0, candidates[place - 1].fence > candidate.fence {
                    candidates[place] = candidates[place - 1]
                    place -= 1
                }
                candidates[place] = candidate
            }
        }
        var kept = 1
        for index in 1..<candidates.count where candidates[index].fence != candidates[kept - 1].fence {
            candidates[kept] = candidates[index]
            kept += 1
        }
        candidates.removeLast(candidates.count - kept)
    }

    // MARK: Pairs

    private mutating func judgePairs(
        _ point: FencePoint, _ memory: inout EntityMemory, _ fences: FenceSet, _ own: FenceSet?,
        _ alarms: inout [FenceAlarm]
    ) {
        let way = memory.points.first.map { Way(from: $0.place, to: point.place) }
        let span = memory.points.first.map { point.time.milliseconds(since: $0.time) } ?? .max
        var index = 0
        for candidate in candidates {
            while index < memory.pairs.count, memory.pairs[index].fence < candidate.fence {
                judgeKept(&index, point, &memory, fences, own, &alarms)
            }
            let set = candidate.isOwn ? own ?? fences : fences
            let leaf = set.leaf(at: candidate.slot)
            let isKept = index < memory.pairs.count && memory.pairs[index].fence == candidate.fence
            if isKept {
                let isQuiet = Self.isQuiet(memory.pairs[index], leaf, point)
                if isQuiet, set.contains(point.place, slot: candidate.slot, leaf) {
                    index += 1
                    continue
                }
            } else if leaf.isPlain, leaf.denoise == 0, let first = memory.points.first, first.time >= set.newestChange {
                let isTouched =
                    leaf.countsThrough && span <= Int64(leaf.crossingGap)
                    && way.map { set.mayTouch($0, slot: candidate.slot, leaf) } ?? false
                if !isTouched, !set.contains(point.place, slot: candidate.slot, leaf) { continue }
            }
            judge(&index, isKept: isKept, set.plan(at: candidate.slot), point, &memory, &alarms)
        }
        while index < memory.pairs.count { judgeKept(&index, point, &memory, fences, own, &alarms) }
    }

    /// Inside, and nothing is due: only leaving would change anything.
    @inline(__always)
    private static func isQuiet(_ pair: FencePair, _ leaf: FenceLeaf, _ point: FencePoint) -> Bool {
        guard pair.place == .in, pair.revision == leaf.revision, leaf.isPlain, leaf.denoise == 0 else { return false }
        guard pair.sign == nil, pair.held == nil, pair.since <= point.time else { return false }
        return pair.nextStay.map { $0 > point.time } ?? true
    }

    /// A remembered pair whose fence is not near the way, or is no more.
    private mutating func judgeKept(
        _ index: inout Int, _ point: FencePoint, _ memory: inout EntityMemory, _ fences: FenceSet, _ own: FenceSet?,
        _ alarms: inout [FenceAlarm]
    ) {
        let fence = memory.pairs[index].fence
        guard let plan = own?.plan(of: fence) ?? fences.plan(of: fence) else {
            memory.pairs.remove(at: index)
            return
        }
        judge(&index, isKept: true, plan, point, &memory, &alarms)
    }

    private mutating func judge(
        _ index: inout Int, isKept: Bool, _ plan: FencePlan, _ point: FencePoint, _ memory: inout EntityMemory,
        _ alarms: inout [FenceAlarm]
    ) {
        guard point.time >= plan.from, point.passes(denoise: plan.denoise) else {
            if isKept { index += 1 }
            return
        }
        let last = memory.lastPoint(denoise: plan.denoise)
        var pair = memory.present(isKept ? memory.pairs[index] : nil, of: plan, last: last)
        var judge = PairJudge(plan, step(denoise: plan.denoise, from: last, to: point))
        judge.judge(&pair)
        alarms.append(contentsOf: judge.alarms)
        changes.append(contentsOf: judge.changes)
        switch (isKept, pair.isWorthKeeping) {
        case (true, true): memory.pairs[index] = pair
        case (false, true): memory.pairs.insert(pair, at: index)
        case (true, false): memory.pairs.remove(at: index)
        case (false, false): break
        }
        if pair.isWorthKeeping { index += 1 }
    }

    private mutating func step(denoise: Int32, from last: FencePoint?, to point: FencePoint) -> FenceStep {
        if let known = steps.first(where: { $0.denoise == denoise }) { return known.step }
        let step = FenceStep(from: last, to: point)
        steps.append((denoise, step))
        return step
    }

    // MARK: Groups, speed, order

    private func judgeGroups(
        _ point: FencePoint, _ memory: EntityMemory, _ fences: FenceSet, _ own: FenceSet?, _ alarms: inout [FenceAlarm]
    ) {
        guard !changes.isEmpty else { return }
        let step = FenceStep(from: memory.points.first, to: point)
        let found = GroupJudge(changes: changes, step: step).alarms { group, changed in
            memory.pairs.contains { pair in
                pair.place == .in && !changed.contains(pair.fence)
                    && (own?.plan(of: pair.fence) ?? fences.plan(of: pair.fence))?.group == group
            }
        }
        alarms.append(contentsOf: found)
    }

    private func judgeSpeed(
        _ point: FencePoint, _ memory: inout EntityMemory, _ fences: FenceSet, _ own: FenceSet?,
        _ alarms: inout [FenceAlarm]
    ) {
        guard fences.hasSpeedLimits || own?.hasSpeedLimits ?? false else { return }
        var governing: FencePlan?
        for pair in memory.pairs where pair.place == .in {
            guard let plan = own?.plan(of: pair.fence) ?? fences.plan(of: pair.fence), let limit = plan.speedLimit,
                plan.validity?.contains(point.time) ?? true, limit.speed < governing?.speedLimit?.speed ?? .max
            else { continue }
            governing = plan
        }
        let step = FenceStep(from: memory.points.first, to: point)
        let verdict = OverspeedJudge.judge(memory.overspeed, governing: governing, step: step)
        memory.overspeed = verdict.episode
        if let alarm = verdict.alarm { alarms.append(alarm) }
    }

    private func arrange(_ alarms: inout [FenceAlarm], from first: Int) {
        if alarms.count - first > 1 { alarms[first...].sort(by: FenceAlarm.isBefore) }
        for index in alarms.indices.dropFirst(first + 1) {
            let alarm = alarms[index]
            alarms[index].number = alarms[first..<index].count {
                $0.fence == alarm.fence && $0.action == alarm.action && $0.group == alarm.group
            }
        }
    }
}
