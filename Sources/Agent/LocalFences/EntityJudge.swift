internal import Geofencing
package import TrackModel

/// What judging points asks for, by the box's own fences and by the server's.
package enum JudgingAction: Hashable, Sendable {
    case alarms(AlarmOutbox.Action)
    /// The fence makes more than 60 alarms an hour for the entity; said once an hour.
    case storm(fence: Int32, name: String, entity: String)
    /// One point has caused more alarms than are published; so many are left out.
    case leftOut(Int)
    /// The fence is not judged: its weekly windows name a time zone that the box does not have.
    case notJudged(fence: Int32, reason: String)
}

/// What is the same for the box's own fences and for the server's: points of entities are judged by a set of fences, the
/// entities are remembered, and alarms go into an ``AlarmOutbox`` together with the fence state that follows from them.
///
/// Knows neither where fences come from, nor which points there are. Do the actions in their order.
struct EntityJudge {
    typealias Action = JudgingAction

    /// Whose point it is, and what it may be judged by.
    struct Case {
        let entity: String
        /// Its number, for the alarms' keys.
        let service: Int64
        let set: FenceSet
        /// Where the point is in the ring; nil when nobody needs it.
        var cause: PointCause?
        /// The process after this one may not know by which fences it judged. The server then judges by others, and may not find
        /// the alarm: the agent reports it.
        var isReported = false
    }

    let limits: FenceMachine.Limits
    let source: AlarmScope.Source
    var outbox: AlarmOutbox
    /// Whose fences these are; nil: the box's own.
    var service: Int64?
    /// Without a fence a fence state without an alarm is worth no write.
    var isNoting = true
    var counters = FenceMachine.Counters()
    /// By entity. The one that was judged last is last.
    private(set) var fenceStates: [(entity: ExactName, fenceState: EntityFenceState)] = []
    /// As it was last handed to the outbox, of the entity that is judged.
    private var noted: EntityFenceState?
    /// A point of the entity was judged since its fence state was recalled. Before that the journal may have a newer fence state than
    /// this one: a disk that refused to be read at the start shows it later.
    private var hasJudged = false
    private var judge = FenceJudge()
    private var storm = AlarmStorm()

    init(
        _ source: AlarmScope.Source, fenceStates: [(String, EntityFenceState)], limits: FenceMachine.Limits,
        outbox: AlarmOutbox.Limits
    ) {
        (self.source, self.limits) = (source, limits)
        self.outbox = AlarmOutbox(limits: outbox)
        for (entity, fenceState) in fenceStates.suffix(limits.entities) {
            self.fenceStates.append((ExactName(entity), fenceState))
        }
    }

    // MARK: Points

    /// `definition`: of a fence of the set.
    mutating func judge(
        _ point: FencePoint, in this: Case, definition: (Int32) -> FenceDefinition?
    ) -> [Action] {
        let index = slot(of: this.entity)
        var alarms: [FenceAlarm] = []
        guard judge.judge(point, of: &fenceStates[index].fenceState, by: this.set, into: &alarms) == .judged else {
            counters.late += 1
            return []
        }
        counters.judged += 1
        hasJudged = true
        guard !alarms.isEmpty else { return note(of: this.entity, isForced: false) }
        let (told, more) = tellable(alarms, in: this, definition)
        noted = fenceStates[index].fenceState
        let actions = outbox.judged(told, of: this.entity, service: service, fenceState: fenceStates[index].fenceState)
        return actions.map(Action.alarms) + more
    }

    /// What an alarm needs to be told, within the limits of one write.
    private mutating func tellable(
        _ alarms: [FenceAlarm], in this: Case, _ definition: (Int32) -> FenceDefinition?
    ) -> (told: [LocalAlarm], more: [Action]) {
        var (told, more, bytes): ([LocalAlarm], [Action], Int) = ([], [], 0)
        for alarm in alarms {
            guard let definition = definition(alarm.fence) else { continue }
            let scope = AlarmScope(service: this.service, entity: this.entity, source: source)
            let local = LocalAlarm(alarm, of: definition, in: scope, cause: this.cause, isReported: this.isReported)
            bytes += local.body.utf8.count
            guard told.count < limits.alarms, told.isEmpty || bytes <= limits.alarmBytes else { break }
            told.append(local)
            if storm.add(fence: alarm.fence, entity: this.entity, at: alarm.point.time) {
                more.append(.storm(fence: alarm.fence, name: definition.name, entity: this.entity))
            }
        }
        let leftOut = alarms.count - told.count
        if leftOut > 0 {
            counters.leftOut += UInt64(leftOut)
            more.append(.leftOut(leftOut))
        }
        return (told, more)
    }

    /// Writes the fence state, so that a power cut does not lose it.
    mutating func secure(_ entity: String) -> [Action] {
        let fenceState = fenceStates[slot(of: entity)].fenceState
        guard isNoting, hasJudged else { return [] }
        noted = fenceState
        return outbox.judged([], of: entity, service: service, fenceState: fenceState, isDurable: true).map(
            Action.alarms)
    }

    /// Writes a fence state when more than its last point has changed, or some time has passed.
    mutating func note(of entity: String, isForced: Bool) -> [Action] {
        let fenceState = fenceStates[slot(of: entity)].fenceState
        guard isNoting, hasJudged, let time = fenceState.lastTime else { return [] }
        if let noted, let last = noted.lastTime, noted.pairs == fenceState.pairs,
            noted.overspeed == fenceState.overspeed
        {
            guard time > last, isForced || time.milliseconds(since: last) >= limits.noteInterval else { return [] }
        }
        noted = fenceState
        return outbox.judged([], of: entity, service: service, fenceState: fenceState).map(Action.alarms)
    }

    // MARK: Fence states

    /// The points of another entity follow, or of the same one by another service: nothing is noted of it yet.
    mutating func forgetNoted() { (noted, hasJudged) = (nil, false) }

    /// What is remembered of an entity; nil when it was never judged.
    func fenceState(of entity: String) -> EntityFenceState? {
        fenceStates.last { $0.entity == ExactName(entity) }?.fenceState
    }

    /// The points of this entity follow, as a process before or an earlier login has left it; nil: it is not remembered.
    mutating func recall(_ entity: String, _ fenceState: EntityFenceState?) {
        remember(entity, fenceState ?? EntityFenceState())
        hasJudged = false
    }

    /// A new set of fences has made another fence state of the one that was judged.
    mutating func remember(_ entity: String, _ fenceState: EntityFenceState) {
        fenceStates[slot(of: entity)].fenceState = fenceState
        noted = nil
    }

    mutating func timeRestarted(of entity: String) {
        fenceStates[slot(of: entity)].fenceState.timeRestarted()
        noted = nil
    }

    mutating func forget(_ fences: [Int32]) {
        for index in fenceStates.indices {
            for fence in fences { fenceStates[index].fenceState.forget(fence: fence) }
        }
    }

    /// Forgets what is remembered of fences that are not kept.
    mutating func forget(where isGone: (Int32) -> Bool) {
        for index in fenceStates.indices {
            for pair in fenceStates[index].fenceState.pairs where isGone(pair.fence) {
                fenceStates[index].fenceState.forget(fence: pair.fence)
            }
        }
    }

    mutating func forget(_ fence: Int32, of entity: ExactName) {
        for index in fenceStates.indices where fenceStates[index].entity == entity {
            fenceStates[index].fenceState.forget(fence: fence)
        }
    }

    private mutating func slot(of entity: String) -> Int {
        let name = ExactName(entity)
        if let index = fenceStates.lastIndex(where: { $0.entity == name }) {
            if index < fenceStates.count - 1 { fenceStates.append(fenceStates.remove(at: index)) }
            return fenceStates.count - 1
        }
        if fenceStates.count >= limits.entities { fenceStates.removeFirst() }
        fenceStates.append((name, EntityFenceState()))
        return fenceStates.count - 1
    }
}

/// Where a gathered point is in the ring.
package struct PointCause: Hashable, Sendable {
    package let stream: StreamID
    package let sequence: UInt64

    package init(stream: StreamID, sequence: UInt64) {
        (self.stream, self.sequence) = (stream, sequence)
    }
}
