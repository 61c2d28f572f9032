import FenceJSON
import Geofencing
import TrackModel
package import TrackStore

/// Judges the points of batches by the fences of their service. It remembers nothing: what must be remembered goes in and
/// comes out.
package struct BatchJudge: Sendable {
    /// What the points of a batch bring about.
    package struct Verdict: Sendable {
        package var state: JudgedState
        package var alarms: [CausedAlarm] = []
        package var judged = 0
        /// At or before a point that was judged before: they change nothing.
        package var late = 0
        /// Dated so far ahead of the server's clock that judging them would make everything after them late.
        package var ahead = 0
        /// What is left of the budget, and what was beyond it.
        package var budget: AlarmBudget
    }

    /// Milliseconds that a point may be ahead of the server's clock and still be judged: ten minutes.
    package static let lead: Int64 = 600_000

    private var judge = FenceJudge()
    private var found: [FenceAlarm] = []
    private var points: [FencePoint] = []

    package init() {}

    /// `state`: of the entity before the batch. `fences`: ascending in time; the first of them judges from the beginning.
    /// `budget`: alarms beyond it are found and not told, the earliest are told.
    package mutating func judge(
        _ batch: IngestBatch, from state: JudgedState, by fences: [JudgingFences],
        within budget: AlarmBudget = AlarmBudget()
    ) -> Verdict {
        var verdict = Verdict(state: state, budget: budget)
        var fenceState = state.fenceState
        let before = state.fenceState.lastTime ?? Timestamp(milliseconds: .min)
        let latest = batch.received.adding(milliseconds: Self.lead)
        takePoints(of: batch)
        let inTime = points.firstIndex { $0.time > latest } ?? points.count
        verdict.ahead = points.count - inTime
        var start = 0
        while start < inTime {
            // The points that one set judges.
            let set = fences.lastIndex { $0.after < points[start].time } ?? fences.startIndex
            guard set < fences.endIndex else { break }
            // A vehicle's fences are dated by the vehicle's points.
            if start == 0, set == fences.startIndex, let received = state.newestReceived {
                fenceState.newestCame(at: received, judgedBy: fences[set].everyones.set, own: fences[set].own?.set)
            }
            var end = inTime
            if set + 1 < fences.endIndex {
                end = points[start..<inTime].firstIndex { $0.time > fences[set + 1].after } ?? inTime
            }
            judge(points[start..<max(end, start + 1)], &fenceState, by: fences[set], &verdict) {
                found, label, isStale, budget in
                Self.caused(found, by: batch, label, isStale: isStale, &budget) { time in
                    time > before ? batch.received : state.received(time) ?? batch.received
                }
            }
            start = max(end, start + 1)
        }
        if verdict.judged > 0 { verdict.state.went(on: fenceState, at: batch.received) }
        return verdict
    }

    /// Points that one set judges, in the order of their times.
    private mutating func judge(
        _ points: ArraySlice<FencePoint>, _ fenceState: inout EntityFenceState, by set: JudgingFences,
        _ verdict: inout Verdict,
        caused: (FenceAlarm, FenceLabel, _ isStale: Bool, inout AlarmBudget) -> CausedAlarm
    ) {
        let (everyones, own) = (set.everyones.set, set.own?.set)
        var rest = points
        while let point = rest.first {
            if fenceState.lastTime.map({ $0 <= set.after }) ?? false {
                if set.beginsAnew { fenceState.beginAnew() }
                for fence in set.fresh { fenceState.forget(fence: fence) }
            }
            let passed = point.time > set.after ? judge.passOver(rest, of: &fenceState, by: everyones, own: own) : 0
            guard passed == 0 else {
                verdict.judged += passed
                rest = rest.dropFirst(passed)
                continue
            }
            rest = rest.dropFirst()
            found.removeAll(keepingCapacity: true)
            switch judge.judge(point, of: &fenceState, by: everyones, own: own, into: &found) {
            case .judged: verdict.judged += 1
            case .late: verdict.late += 1
            }
            for alarm in found {
                guard let label = set.label(of: alarm.fence), verdict.budget.takeAlarm() else { continue }
                verdict.alarms.append(caused(alarm, label, set.isStale(alarm), &verdict.budget))
            }
        }
    }

    /// The points that are not stored yet, as far as their session knows, in the order of their times; of equal times the
    /// first counts.
    private mutating func takePoints(of batch: IngestBatch) {
        points.removeAll(keepingCapacity: true)
        let stored = batch.position?.previous
        let isRepeated = stored.map { stored in batch.sequences.first.map { $0 <= stored } ?? false } ?? false
        // By its place: to take a stored point out of its array counts references, and that costs more than to judge it.
        for index in batch.points.indices {
            if isRepeated, let stored, index >= batch.sequences.count || batch.sequences[index] <= stored { continue }
            points.append(FencePoint(batch.points[index]))
        }
        let isOrdered = points.indices.dropFirst().allSatisfy { points[$0 - 1].time <= points[$0].time }
        guard !isOrdered else { return }
        points = points.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
            .map(\.element)
    }

    private static func caused(
        _ found: FenceAlarm, by batch: IngestBatch, _ label: FenceLabel, isStale: Bool,
        _ budget: inout AlarmBudget, received: (Timestamp) -> Timestamp
    ) -> CausedAlarm {
        let scope = AlarmScope(service: batch.service.rawValue, entity: batch.entity, source: .server)
        let reaction = label.reactions.first { $0.on == found.action }
        let alarm = Alarm(
            key: AlarmKey(found, in: scope), source: .server, fence: found.fence, revision: found.revision,
            name: label.name, group: found.group == nil ? nil : label.group, action: found.action,
            point: AlarmPoint(found.point, received: batch.received),
            previous: found.previous.map { AlarmPoint($0, received: received($0.time)) }, crossing: found.crossing,
            inside: found.inside, skipped: found.skipped, speedLimit: found.speedLimit,
            parameters: reaction?.parameters, isStale: isStale)
        let isRemote = reaction?.isRemote ?? false
        // Each target is a row of the transaction that stores the points.
        let isTold = isRemote && label.watch.entities.count <= FenceReaction.mostRemote
        var others = isTold ? label.watch.entities.map(\.text) : []
        let count = others.count { !$0.utf8.elementsEqual(batch.entity.utf8) }
        if count > 0, !budget.takeMessages(count) { others = [] }
        let targets = PushTargets.entities([batch.entity] + others)
        let push = NewPush(
            type: PushRules.fenceAlarm, body: alarm.body(of: batch.entity, isRemote: isRemote), targets: targets,
            alarm: alarm.key, about: batch.entity)
        // The vehicle has told it and waits for the server's word. The operator has changed his mind before it happened.
        return CausedAlarm(alarm, pushes: [push], isCalledBack: !isStale)
    }
}

extension AlarmPoint {
    fileprivate init(_ point: FencePoint, received: Timestamp) {
        self.init(
            time: point.time, place: point.place, accuracy: point.accuracy, speed: point.speed, received: received)
    }
}

/// How much the points of a batch may bring about. What is beyond is counted and not made.
package struct AlarmBudget: Hashable, Sendable {
    package var alarms: Int
    /// Messages to other entities than the one that moved.
    package var messages: Int
    package var untoldAlarms = 0
    package var untoldMessages = 0

    package init(alarms: Int = .max, messages: Int = .max) {
        (self.alarms, self.messages) = (alarms, messages)
    }

    /// False: there is no room for a further alarm.
    package mutating func takeAlarm() -> Bool {
        guard alarms > 0 else {
            untoldAlarms += 1
            return false
        }
        alarms -= 1
        return true
    }

    /// All of the messages of one alarm, or none: false.
    package mutating func takeMessages(_ count: Int) -> Bool {
        guard count <= messages else {
            untoldMessages += count
            return false
        }
        messages -= count
        return true
    }
}

extension Alarm {
    /// The alarm as pushes carry it; parameters that do not fit into a push are left out.
    package func body(of entity: String, isRemote: Bool) -> String {
        var body = AlarmBody(
            key, of: entity, action: action, fence: fence, revision: revision, name: name,
            point: AlarmBody.Point(point), crossing: crossing)
        body.group = group
        body.previous = previous.map(AlarmBody.Point.init)
        body.inside = inside
        body.skipped = skipped
        body.speedLimit = speedLimit
        body.isRemote = isRemote
        body.parameters = parameters
        return body.text(most: PushRules.maximumBodyBytes)
    }
}

extension AlarmBody.Point {
    fileprivate init(_ point: AlarmPoint) {
        self.init(time: point.time, place: point.place, accuracy: point.accuracy, received: point.received)
    }
}
