package import AgentLogic
package import Geofencing
package import TrackModel

/// The fences of the box's own: which there are, where the entities are with regard to them, and what is told.
///
/// Every fix that passed the gates is judged while the agent gathers, by the time of the fixes: there is no timer for stays,
/// windows and limits of speed. The parts are an ``AlarmOutbox`` for the alarms and their durable order, and a
/// ``DurableStateMachine`` for the fences on the disk. Knows no disk and no clock. Every `mutating func` is an event; do the
/// actions in their order.
package struct FenceMachine {
    package enum Action: Hashable, Sendable {
        case judging(JudgingAction)
        /// `write` asks for ``FenceMachine/table`` as it is then.
        case saving(DurableStateMachine.Action)
    }

    package struct Limits: Hashable, Sendable {
        /// Alarms of one point, and the bytes of their bodies.
        package var alarms = 500
        package var alarmBytes = 128 * 1024
        /// Milliseconds of the points' time after which a fence state is written that nothing but the last point has changed.
        package var noteInterval: Int64 = 30_000
        /// Entities that are remembered.
        package var entities = 16
        /// Milliseconds: the time of the points goes back so far only when it began anew.
        package var largestStepBack: Int64 = 30_000

        package init() {}
    }

    package struct Counters: Hashable, Sendable {
        package var judged: UInt64 = 0
        /// Not later than the point before.
        package var late: UInt64 = 0
        package var leftOut: UInt64 = 0

        package init() {}
    }

    /// Who is judged, and by which fences.
    struct Judged {
        let entity: String
        let service: Int64
        var field = FenceField()
        /// No live point was judged yet: the time may have gone back while nobody looked.
        var isFirst = true
    }

    private let limits: Limits
    package internal(set) var table: LocalFenceTable {
        didSet { changes &+= 1 }
    }
    /// Grows with each change of the fences, of what their zones stand for, and of who is judged.
    private(set) var changes: UInt64 = 0
    package private(set) var saving: DurableStateMachine
    /// Why the fences on the disk could not be read: nothing may be written over them.
    package private(set) var unreadable: String?
    var judge: EntityJudge
    var judged: Judged?

    /// `unreadable`: why the fences on the disk cannot be read; until they are, no fence changes.
    package init(
        table: LocalFenceTable = LocalFenceTable(), fenceStates: [(String, EntityFenceState)] = [],
        unreadable: String? = nil,
        limits: Limits = Limits(), outbox: AlarmOutbox.Limits = .init()
    ) {
        self.limits = limits
        self.table = table
        self.unreadable = unreadable
        saving = DurableStateMachine(trouble: unreadable)
        judge = EntityJudge(.local, fenceStates: fenceStates, limits: limits, outbox: outbox)
        if unreadable == nil { forgetDeleted() }
    }

    package var outbox: AlarmOutbox { judge.outbox }
    package var counters: Counters { judge.counters }

    /// The fences on the disk could not be read, and now they can be.
    package mutating func opened(_ found: LocalFenceTable) -> [Action] {
        guard unreadable != nil else { return [] }
        unreadable = nil
        let zones = table.zones
        table = found
        table.zones = zones.merging(found.zones) { _, new in new }
        forgetDeleted()
        saving = DurableStateMachine()
        return [.saving(.relieved)] + buildField()
    }

    /// Forgets fences that were deleted while the fence states were not written.
    private mutating func forgetDeleted() {
        let kept = table.fences
        judge.forget { !kept.contains($0) }
    }

    // MARK: Gathering

    /// Points of this entity follow. `service`: its number, for the alarms' keys.
    package mutating func started(entity: String, service: Int64) -> [Action] {
        changes &+= 1
        var actions: [Action] = []
        if let judged, ExactName(judged.entity) == ExactName(entity) {
            self.judged = Judged(entity: entity, service: service, field: judged.field, isFirst: judged.isFirst)
        } else {
            actions += stopped()
            judged = Judged(entity: entity, service: service)
            judge.forgetNoted()
        }
        return actions + buildField()
    }

    /// No points follow. What is remembered stays.
    package mutating func stopped() -> [Action] {
        guard let judged else { return [] }
        let actions = judge.note(of: judged.entity, isForced: true).map(Action.judging)
        self.judged = nil
        judge.forgetNoted()
        return actions
    }

    /// The agent stops: alarms that the disk refused are tried once more.
    package mutating func closing() -> [Action] { stopped() + judge.outbox.closing().map { .judging(.alarms($0)) } }

    /// A fix passed the gates. `floor`: the track attribute of this name.
    package mutating func fix(_ fix: Fix, floor: String? = nil) -> [Action] {
        take(FencePoint(fix, floor: floor.flatMap(FloorCode.init(name:))), isLive: true)
    }

    /// A point that a process before has gathered, and may not have judged.
    package mutating func replayed(_ point: FencePoint) -> [Action] {
        take(point, isLive: false)
    }

    private mutating func take(_ point: FencePoint, isLive: Bool) -> [Action] {
        // Without the fences nobody knows which places still count. A gap is a gap.
        guard unreadable == nil, let now = judged else { return [] }
        var actions: [Action] = []
        if isLive, let last = fenceState(of: now.entity)?.lastTime {
            let back = last.milliseconds(since: point.time)
            if back > limits.largestStepBack || (now.isFirst && back >= 0) {
                judge.timeRestarted(of: now.entity)
                actions += fencesBegin(by: point.time)
            }
        }
        if isLive, now.isFirst {
            judged?.isFirst = false
            actions += fencesBegin(by: point.time)
        }
        let (fences, zones) = (table.fences, table.zones)
        let before = fenceState(of: now.entity) ?? EntityFenceState()
        let near = judged?.field.near(point, before) {
            try? Self.plan(of: $0, for: now.entity, fences, zones)
        }
        guard let near else { return actions }
        judge.isNoting = !fences.isEmpty
        return actions
            + judge.judge(point, in: .init(entity: now.entity, service: now.service, set: near)) { number in
                fences[number]?.fence.definition
            }.map(Action.judging)
    }

    /// No fence comes to be later than a point that is judged now: another date was wrong.
    private mutating func fencesBegin(by time: Timestamp) -> [Action] {
        guard table.timeBeganAnew(at: time) else { return [] }
        judged?.field.begin(by: time)
        return save()
    }

    mutating func buildField() -> [Action] {
        guard let entity = judged?.entity else { return [] }
        let (field, actions) = Self.field(of: table, for: entity)
        judged?.field = field
        return actions
    }

    /// The fences that watch an entity, and those of them that cannot be judged.
    static func field(of table: LocalFenceTable, for entity: String) -> (FenceField, [Action]) {
        var (field, actions): (FenceField, [Action]) = (FenceField(count: table.fences.count), [])
        for number in table.fences.numbers {
            do throws(FenceError) {
                guard let plan = try plan(of: number, for: entity, table.fences, table.zones) else { continue }
                field.add(plan)
            } catch {
                actions.append(.judging(.notJudged(fence: number, reason: error.description)))
            }
        }
        return (field, actions)
    }

    /// What is judged of a fence for an entity; nil when there is none of this number that watches it.
    private static func plan(
        of number: Int32, for entity: String, _ fences: KeptFences, _ zones: [String: ZoneOffsets]
    ) throws(FenceError) -> FencePlan? {
        guard fences.watch(of: number)?.contains(entity) ?? false, let fence = fences[number] else { return nil }
        return try fence.plan(for: entity, zones)
    }

    // MARK: Fences

    /// Makes fences. `now`: the system's clock, for people. All of them, or none.
    package mutating func create(
        _ definitions: [FenceDefinition], now: SystemTime
    ) throws(FenceRefusal) -> (fences: [Int32], actions: [Action]) {
        try checkReadable()
        let numbers = try table.create(
            definitions, now: Timestamp(milliseconds: now.milliseconds), since: nextPoint)
        return (numbers, changed(numbers))
    }

    /// Puts another definition in the place of a fence's. A changed area sets places anew, without an alarm.
    package mutating func update(
        _ fence: Int32, _ definition: FenceDefinition, now: SystemTime
    ) throws(FenceRefusal) -> (edit: FenceEdit, actions: [Action]) {
        try checkReadable()
        let before = table
        let edit = try table.update(
            fence, definition, now: Timestamp(milliseconds: now.milliseconds), since: nextPoint)
        watchMayHaveChanged([fence], from: before)
        return (edit, edit == .nothing ? [] : changed([fence]))
    }

    /// Removes fences, all or none, without an exit.
    package mutating func delete(_ fences: [Int32]) throws(FenceRefusal) -> [Action] {
        try checkReadable()
        guard !fences.isEmpty else { return [] }
        try table.delete(fences)
        judge.forget(fences)
        return changed(fences)
    }

    /// What the names of time zones stand for has been read; fences may name them now.
    package mutating func zonesRead(_ zones: [String: ZoneOffsets]) -> [Action] {
        table.zones.merge(zones) { _, new in new }
        return buildField()
    }

    func checkReadable() throws(FenceRefusal) {
        guard let unreadable else { return }
        throw FenceRefusal(.unreadable, "the fences on the disk cannot be read, so none is changed: \(unreadable)")
    }

    /// Points from here on are judged by what changes now. Entities whose points are older have not seen it.
    var nextPoint: Timestamp {
        // A date of another entity may be wrong; the present one's is what its points go on from.
        let present = judged.flatMap { fenceState(of: $0.entity)?.lastTime }
        guard let newest = present ?? judge.fenceStates.compactMap(\.fenceState.lastTime).max() else {
            return Timestamp(milliseconds: .min)
        }
        return newest.adding(milliseconds: 1)
    }

    /// An entity that a fence begins to watch is unknown to it; of one that it watches no more, the state goes.
    mutating func watchMayHaveChanged(_ fences: [Int32], from before: LocalFenceTable) {
        for fence in fences {
            guard let old = before.fences.watch(of: fence),
                let new = table.fences.watch(of: fence), old != new
            else { continue }
            for (entity, fenceState) in judge.fenceStates {
                guard old.contains(entity.text) != new.contains(entity.text) else { continue }
                judge.forget(fence, of: entity)
                guard new.contains(entity.text), let last = fenceState.lastTime else { continue }
                table.join(fence, entity, since: last.adding(milliseconds: 1))
            }
        }
    }

    /// A few fences change in the field; for many it is built anew.
    mutating func changed(_ numbers: [Int32]) -> [Action] {
        guard let entity = judged?.entity else { return save() }
        guard numbers.count <= 16 else { return buildField() + save() }
        for number in numbers {
            if let plan = try? Self.plan(of: number, for: entity, table.fences, table.zones) {
                judged?.field.put(plan)
            } else {
                judged?.field.remove(number)
            }
        }
        return save()
    }

    mutating func save() -> [Action] { saving.changed().map(Action.saving) }

    // MARK: What the disk says

    /// An event of the outbox: `written`, `refused` or `timerFired`.
    package mutating func alarms(_ event: (inout AlarmOutbox) -> [AlarmOutbox.Action]) -> [Action] {
        event(&judge.outbox).map { .judging(.alarms($0)) }
    }

    /// An event of the fences' own file: `asked`, `written`, `failed` or `timerFired`.
    package mutating func saving(_ event: (inout DurableStateMachine) -> [DurableStateMachine.Action]) -> [Action] {
        event(&saving).map(Action.saving)
    }

    // MARK: Questions

    /// What is remembered of an entity; nil when it was never judged.
    package func fenceState(of entity: String) -> EntityFenceState? { judge.fenceState(of: entity) }
}
