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

    /// Every fence is looked at, near or not: for tests of the index.
    var looksAtAll: Bool {
        get { search.findsAll }
        set { search.findsAll = newValue }
    }
    private var search = FenceSearch()
    var passing = PassingLength()
    private var told = FenceAlarmCollector()
    private var steps: [(denoise: Int32, step: FenceStep)] = []

    package init() {}

    /// Judges a point and remembers it.
    ///
    /// `fences` are those of many entities, such as the fences over everybody; `own` those of this entity alone. No fence
    /// is in both. What is to be told is appended to `alarms`, in the order of its crossings.
    package mutating func judge(
        _ point: FencePoint, of fenceState: inout EntityFenceState, by fences: FenceSet, own: FenceSet? = nil,
        into alarms: inout [FenceAlarm]
    ) -> Outcome {
        if let last = fenceState.lastTime, point.time <= last { return .late }
        steps.removeAll(keepingCapacity: true)
        told.clear()
        search.find(point, fenceState, fences, own: own)
        judgePairs(point, &fenceState, fences, own)
        judgeGroups(point, fenceState, fences, own)
        judgeSpeed(point, &fenceState, fences, own)
        fenceState.remember(point, denoises: Self.denoises(fences, own))
        if !told.alarms.isEmpty {
            told.arrange()
            alarms.append(contentsOf: told.alarms)
        }
        return .judged
    }

    static func denoises(_ fences: FenceSet, _ own: FenceSet?) -> [Int32] {
        guard let own, !own.denoises.isEmpty else { return fences.denoises }
        return fences.denoises.isEmpty ? own.denoises : Array(Set(fences.denoises + own.denoises)).sorted()
    }

    // MARK: Pairs

    /// Fences near the way and remembered pairs, in the order of the fences.
    private mutating func judgePairs(
        _ point: FencePoint, _ fenceState: inout EntityFenceState, _ fences: FenceSet, _ own: FenceSet?
    ) {
        let way = fenceState.points.first.map { Way(from: $0.place, to: point.place) }
        var index = 0
        for candidate in search.candidates {
            while index < fenceState.pairs.count, fenceState.pairs[index].fence < candidate.fence {
                judgeKept(&index, point, &fenceState, fences, own)
            }
            if candidate.isOwn, let own {
                judge(&index, candidate, of: own, point, way, &fenceState)
            } else {
                judge(&index, candidate, of: fences, point, way, &fenceState)
            }
        }
        while index < fenceState.pairs.count { judgeKept(&index, point, &fenceState, fences, own) }
    }

    /// A fence near the way. Most are settled by their leaf: the entity stays outside, or inside with nothing due.
    private mutating func judge(
        _ index: inout Int, _ candidate: FenceSearch.Candidate, of set: FenceSet, _ point: FencePoint, _ way: Way?,
        _ fenceState: inout EntityFenceState
    ) {
        let leaf = set.leaf(at: candidate.slot)
        let isKept = index < fenceState.pairs.count && fenceState.pairs[index].fence == candidate.fence
        if isKept {
            let isQuiet = Self.isQuiet(fenceState.pairs[index], leaf, point)
            if isQuiet, set.contains(point.place, slot: candidate.slot, leaf) {
                index += 1
                return
            }
        } else if leaf.isPlain, leaf.denoise == 0, let way, let first = fenceState.points.first,
            first.time >= set.newestChange
        {
            let span = point.time.milliseconds(since: first.time)
            let isTouched =
                leaf.countsThrough && span <= Int64(leaf.crossingGap)
                && set.mayTouch(way, slot: candidate.slot, leaf)
            if !isTouched, !set.contains(point.place, slot: candidate.slot, leaf) { return }
        }
        set.withPlan(at: candidate.slot) { judge(&index, isKept: isKept, $0, point, &fenceState) }
    }

    /// Inside, and nothing is due: only leaving would change anything.
    @inline(__always)
    private static func isQuiet(_ pair: FencePair, _ leaf: FenceLeaf, _ point: FencePoint) -> Bool {
        guard pair.place == .in, pair.revision == leaf.revision, leaf.isPlain, leaf.denoise == 0 else { return false }
        guard pair.isSettled, pair.since <= point.time else { return false }
        return pair.nextStay.map { $0 > point.time } ?? true
    }

    /// A remembered pair whose fence is not near the way, or is no more.
    private mutating func judgeKept(
        _ index: inout Int, _ point: FencePoint, _ fenceState: inout EntityFenceState, _ fences: FenceSet,
        _ own: FenceSet?
    ) {
        let fence = fenceState.pairs[index].fence
        if let own, let slot = own.slot(of: fence) {
            own.withPlan(at: slot) { judge(&index, isKept: true, $0, point, &fenceState) }
        } else if let slot = fences.slot(of: fence) {
            fences.withPlan(at: slot) { judge(&index, isKept: true, $0, point, &fenceState) }
        } else {
            fenceState.pairs.remove(at: index)
        }
    }

    private mutating func judge(
        _ index: inout Int, isKept: Bool, _ plan: FencePlan, _ point: FencePoint, _ fenceState: inout EntityFenceState
    ) {
        guard point.time >= plan.from, point.passes(denoise: plan.denoise) else {
            if isKept { index += 1 }
            return
        }
        let last = fenceState.lastPoint(denoise: plan.denoise)
        var pair = fenceState.present(isKept ? fenceState.pairs[index] : nil, of: plan, last: last)
        PairJudge(step: step(denoise: plan.denoise, from: last, to: point)).judge(&pair, of: plan, into: &told)
        switch (isKept, pair.isWorthKeeping) {
        case (true, true): fenceState.pairs[index] = pair
        case (false, true): fenceState.pairs.insert(pair, at: index)
        case (true, false): fenceState.pairs.remove(at: index)
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

    // MARK: Groups and speed

    private mutating func judgeGroups(
        _ point: FencePoint, _ fenceState: EntityFenceState, _ fences: FenceSet, _ own: FenceSet?
    ) {
        guard !told.changes.isEmpty else { return }
        let step = FenceStep(from: fenceState.points.first, to: point)
        let found = GroupJudge(changes: told.changes, step: step).alarms { group, changed in
            fenceState.pairs.contains { pair in
                pair.place == .in && !changed.contains(pair.fence)
                    && (own?.plan(of: pair.fence) ?? fences.plan(of: pair.fence))?.group == group
            }
        }
        told.alarms.append(contentsOf: found)
    }

    private mutating func judgeSpeed(
        _ point: FencePoint, _ fenceState: inout EntityFenceState, _ fences: FenceSet, _ own: FenceSet?
    ) {
        // An episode ends also when its fence was the last one with a limit, and is gone.
        guard fences.hasSpeedLimits || own?.hasSpeedLimits ?? false || fenceState.overspeed != nil else { return }
        var governing: FencePlan?
        for pair in fenceState.pairs where pair.place == .in {
            guard let plan = own?.plan(of: pair.fence) ?? fences.plan(of: pair.fence), let limit = plan.speedLimit,
                plan.validity?.contains(point.time) ?? true, limit.speed < governing?.speedLimit?.speed ?? .max
            else { continue }
            governing = plan
        }
        let step = FenceStep(from: fenceState.points.first, to: point)
        let verdict = OverspeedJudge.judge(fenceState.overspeed, governing: governing, step: step)
        fenceState.overspeed = verdict.episode
        if let alarm = verdict.alarm { told.alarms.append(alarm) }
    }
}

/// What the fences have to tell of one point, in the order of discovery.
struct FenceAlarmCollector {
    var alarms: [FenceAlarm] = []
    /// Changed places of fences that are in a group.
    var changes: [FenceChange] = []

    /// Keeps the room for the next point.
    mutating func clear() {
        alarms.removeAll(keepingCapacity: true)
        changes.removeAll(keepingCapacity: true)
    }

    /// Puts the alarms in the order in which they are told, and numbers those that only their number tells apart.
    mutating func arrange() {
        guard alarms.count > 1 else { return }
        alarms.sort(by: FenceAlarm.isBefore)
        for index in alarms.indices.dropFirst() {
            let alarm = alarms[index]
            alarms[index].number = alarms[..<index].count {
                $0.fence == alarm.fence && $0.action == alarm.action && $0.group == alarm.group
            }
        }
    }
}

/// The alarms of groups: a group is in when one of its fences is in.
struct GroupJudge {
    /// What changed with this point, in the order of discovery.
    let changes: [FenceChange]
    let step: FenceStep

    /// `isMemberIn` tells whether a fence of the group other than those that changed is in.
    func alarms(isMemberIn: (GroupCode, _ otherThan: Set<Int32>) -> Bool) -> [FenceAlarm] {
        var alarms: [FenceAlarm] = []
        var seen: Set<GroupCode> = []
        for change in changes where seen.insert(change.group).inserted {
            let own = changes.filter { $0.group == change.group }
            // Another member was in all the time: nothing changes for the group.
            guard !isMemberIn(change.group, Set(own.map(\.fence))) else { continue }
            var (first, last): ([Int32: Bool], [Int32: Bool]) = ([:], [:])
            for one in own {
                if first[one.fence] == nil { first[one.fence] = one.isEnter }
                last[one.fence] = one.isEnter
            }
            let wasIn = first.values.contains(false)
            let isIn = last.values.contains(true)
            guard !(wasIn && isIn) else { continue }
            let told = own.compactMap { change in change.crossing.map { (change, $0) } }
            if !wasIn, let enter = told.filter(\.0.isEnter).min(by: { $0.1.time < $1.1.time }),
                enter.0.plan.tells(.enter, at: enter.1.time)
            {
                alarms.append(alarm(.enter, enter))
            }
            if !isIn, let exit = told.filter({ !$0.0.isEnter }).max(by: { $0.1.time < $1.1.time }),
                exit.0.plan.tells(.exit, at: exit.1.time)
            {
                alarms.append(alarm(.exit, exit))
            }
        }
        return alarms
    }

    private func alarm(_ action: FenceAction, _ member: (FenceChange, Crossing)) -> FenceAlarm {
        FenceAlarm(action, of: member.0.plan, group: member.0.group, step: step, crossing: member.1)
    }
}

/// A place that changed, for the group of the fence.
struct FenceChange {
    let fence: Int32
    let group: GroupCode
    let isEnter: Bool
    /// Nil when nothing is told: the place was found, not changed.
    let crossing: Crossing?
    let plan: FencePlan
}

/// The speed limits of fences. In several fences at once the lowest limit holds, and of equal limits that of the lowest
/// fence number.
struct OverspeedJudge {
    /// Milliseconds without a point after which nobody knows whether the entity was too fast all the time.
    static let longestGap: Int64 = 120_000

    /// Goes on with an episode. `governing` is the fence whose limit holds now.
    static func judge(
        _ episode: OverspeedEpisode?, governing: FencePlan?, step: FenceStep
    ) -> (episode: OverspeedEpisode?, alarm: FenceAlarm?) {
        guard let plan = governing, let limit = plan.speedLimit else { return (nil, nil) }
        let point = step.point
        // A point without a speed says nothing: an episode goes on, none begins.
        guard let speed = point.speed else {
            return (episode?.fence == plan.id && step.span <= longestGap ? episode : nil, nil)
        }
        guard speed > limit.speed else { return (nil, nil) }
        var current = OverspeedEpisode(
            fence: plan.id, revision: plan.revision, since: point.time, place: point.place, isTold: false)
        if let episode, episode.fence == plan.id, episode.revision == plan.revision, step.span <= longestGap {
            current = episode
        }
        guard !current.isTold,
            point.time.milliseconds(since: current.since) >= Int64(limit.duration) * 1000
        else { return (current, nil) }
        current.isTold = true
        guard plan.validity?.contains(current.since) ?? true else { return (current, nil) }
        var crossing = Crossing(at: current.since, current.place)
        crossing.isEstimated = false
        return (
            current, FenceAlarm(.overspeed, of: plan, step: step, crossing: crossing, speedLimit: limit.speed)
        )
    }
}

/// An entity is faster than the lowest limit of the fences that it is in.
package struct OverspeedEpisode: Hashable, Sendable {
    /// The fence whose limit holds.
    package let fence: Int32
    let revision: Int32
    /// The first point that was too fast.
    let since: Timestamp
    let place: Coordinate
    var isTold: Bool
}
