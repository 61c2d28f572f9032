import AgentLogic
import AlarmLog
import DiskRing
import Geodesy
import Geofencing
import JSON
import TrackModel
import TrackTestKit

@testable import LocalFences

/// A box with a machine, a journal and a simulated disk: what the shell does, without threads.
struct FenceBox: JournalingBox {
    static let entity = "van_07"
    /// No time passes for the journal.
    static let now = MonotonicTime(milliseconds: 0)
    let disk: DiskSimulation
    var journal: AlarmJournal
    var machine: FenceMachine
    let definitions: [FenceDefinition]
    var told: [(key: String, isDurable: Bool)] = []
    var hooksRun: [String] = []
    var other: [FenceMachine.Action] = []
    /// Timers that are set.
    var timers: Set<AlarmOutbox.Timer> = []
    /// The disk does not answer.
    var isHanging = false
    var hanging: AlarmOutbox.Writing?

    init(_ definitions: [FenceDefinition], disk: DiskSimulation) {
        self.disk = disk
        self.definitions = definitions
        journal = AlarmJournal(directory: "/var/saker", fileSystem: disk, now: Self.now)
        machine = FenceMachine()
        start()
    }

    /// The process starts, with the fences of the file and the fence states of the journal.
    mutating func start() {
        journal = AlarmJournal(directory: "/var/saker", fileSystem: disk, now: Self.now)
        var table = LocalFenceTable()
        do {
            _ = try table.create(
                definitions, now: Timestamp(milliseconds: 0), since: Timestamp(milliseconds: .min))
        } catch {
            preconditionFailure(error.description)
        }
        let fenceStates = journal.fenceStates.compactMap { state in
            (try? EntityFenceState(encoded: state.fenceState)).map { (state.entity, $0) }
        }
        machine = FenceMachine(table: table, fenceStates: fenceStates)
        timers = []
        perform(machine.started(entity: Self.entity, service: 7))
    }

    /// A fix of the receiver.
    mutating func gather(_ point: FencePoint) {
        perform(
            machine.fix(
                Fix(
                    time: point.time, coordinate: point.place, speed: point.speed, accuracy: point.accuracy,
                    mode: .threeDimensional)))
    }

    /// A point of the ring that a process before has gathered.
    mutating func replay(_ point: FencePoint) { perform(machine.replayed(point)) }

    mutating func fire(_ timer: AlarmOutbox.Timer) {
        guard timers.remove(timer) != nil else { return }
        perform(machine.alarms { $0.timerFired(timer) })
    }

    mutating func perform(_ actions: [FenceMachine.Action]) {
        for action in actions {
            switch action {
            case .judging(.alarms(.write(let writing))):
                if isHanging { hanging = writing } else { write(writing) }
            case .judging(.alarms(.tell(let alarm, let standing))):
                if case .durable = standing {
                    told.append((alarm.key.text, true))
                } else {
                    told.append((alarm.key.text, false))
                }
            case .judging(.alarms(.runHooks(let alarm, _))): hooksRun.append(alarm.key.text)
            case .judging(.alarms(.settleHooks(let number))): journal.finish(number)
            case .judging(.alarms(.setTimer(let timer, _))): timers.insert(timer)
            case .judging(.alarms(.cancelTimer(let timer))): timers.remove(timer)
            case .judging, .saving:
                other.append(action)
            }
        }
    }

    /// The disk answers.
    mutating func release() {
        isHanging = false
        guard let writing = hanging else { return }
        hanging = nil
        write(writing)
    }

    private mutating func write(_ writing: AlarmOutbox.Writing) {
        switch append(writing) {
        case .written(let outcomes): perform(machine.alarms { $0.written(outcomes) })
        case .refused(let reason): perform(machine.alarms { $0.refused(reason: reason) })
        }
    }

    /// The keys of the alarms that a run without any trouble makes of these points.
    static func undisturbed(_ points: [FencePoint], _ definitions: [FenceDefinition]) -> [String] {
        var (judge, fenceState, alarms) = (FenceJudge(), EntityFenceState(), [FenceAlarm]())
        let plans = definitions.enumerated().compactMap { index, definition in
            try? Fence(id: Int32(index + 1), definition, at: Timestamp(milliseconds: .min))
                .plan(from: Timestamp(milliseconds: .min))
        }
        let set = FenceSet(plans)
        for point in points { _ = judge.judge(point, of: &fenceState, by: set, into: &alarms) }
        let scope = AlarmScope(service: 7, entity: entity, source: .local)
        return alarms.map { AlarmKey($0, in: scope).text }
    }
}

/// A box of the tests that writes alarms into a journal, as the agent's shell does.
protocol JournalingBox {
    /// No time passes for the journal.
    static var now: MonotonicTime { get }
    var journal: AlarmJournal { get }
}

enum JournalOutcome {
    case written([AlarmOutbox.Written])
    case refused(String)
}

extension JournalingBox {
    /// Writes alarms with the state that follows from them, or the state alone.
    func append(_ writing: AlarmOutbox.Writing) -> JournalOutcome {
        let state = JournalFenceState(
            entity: writing.entity, time: writing.fenceState.lastTime?.milliseconds ?? 0,
            fenceState: writing.fenceState.encoded,
            service: writing.service)
        do throws(CacheFileError) {
            guard writing.isDurable else {
                try journal.note(state, now: Self.now)
                return .written([])
            }
            let alarms = writing.alarms.map { waiting in
                FenceJournalRecord.Told(
                    content: Self.content(of: waiting.alarm), isOwed: !waiting.isTold,
                    isReported: waiting.alarm.isReported)
            }
            switch try journal.append(FenceJournalRecord(alarms: alarms, state: state), now: Self.now) {
            case .full: return .refused("full")
            case .taken(let outcomes):
                return .written(
                    outcomes.map { outcome in
                        if case .new(let alarm) = outcome { .new(alarm.number) } else { .known }
                    })
            }
        } catch {
            return .refused("\(error)")
        }
    }

    private static func content(of alarm: LocalAlarm) -> NewAlarm {
        let action: AlarmFence.Action =
            switch alarm.alarm.action {
            case .enter: .enter
            case .exit: .exit
            case .stay: .stay
            case .overspeed: .overspeed
            }
        return NewAlarm(
            id: alarm.id, type: alarm.type, entity: alarm.entity, time: alarm.time, received: 0, body: alarm.body,
            fence: AlarmFence(fence: alarm.alarm.fence, action: action),
            early: alarm.cause.map { EarlyAlarmPoint(stream: $0.stream, sequence: $0.sequence) }, service: alarm.service
        )
    }

    /// The keys of the journal, in the order of its numbers.
    var journaled: [String] {
        do {
            return try journal.alarms(AlarmQuery(limit: 10_000), now: Self.now).alarms.map { alarm in
                guard case .object(let body) = try JSONReader.value(of: Array(alarm.content.body.utf8)),
                    case .string(let key)? = body["key"]
                else { return "no key" }
                return key
            }
        } catch {
            return ["\(error)"]
        }
    }
}

/// A circle around 40.0, 116.0 that watches everyone.
func circle(_ radius: Double = 100, _ change: (inout FenceDefinition) -> Void = { _ in }) -> FenceDefinition {
    var definition = FenceDefinition(
        ShapeDraft(.circle(centre: Degrees(latitude: 40, longitude: 116), radius: radius)))
    definition.watch = .everyone
    change(&definition)
    return definition
}

/// A fix so many metres east of 40.0, 116.0, so many seconds after a beginning.
func east(_ seconds: Int64, _ metres: Double, speed: Int32 = 1000) -> Fix {
    guard let place = Coordinate(latitude: 40, longitude: 116 + metres / 85_393.95) else {
        preconditionFailure("no place")
    }
    return Fix(
        time: Timestamp(milliseconds: 1_795_000_000_000 + seconds * 1000), coordinate: place, speed: speed,
        accuracy: 50, mode: .threeDimensional)
}

let clock = SystemTime(milliseconds: 1_795_000_000_123)

/// Alarms that a circle of 100 m makes of a drive through it.
func someAlarms(_ count: Int = 2, entity: String = "van_07") -> (alarms: [LocalAlarm], fenceState: EntityFenceState) {
    var (judge, fenceState, alarms) = (FenceJudge(), EntityFenceState(), [FenceAlarm]())
    guard let fence = try? Fence(id: 1, circle(), at: Timestamp(milliseconds: 0)),
        let plan = try? fence.plan(from: Timestamp(milliseconds: .min))
    else { preconditionFailure("no fence") }
    var second: Int64 = 0
    while alarms.count < count {
        let metres = (second / 10) % 2 == 0 ? 200.0 : 10.0
        _ = judge.judge(
            FencePoint(east(second, metres, speed: 4000)), of: &fenceState, by: FenceSet([plan]), into: &alarms)
        second += 5
    }
    let told = alarms.prefix(count).map {
        LocalAlarm($0, of: circle(), in: AlarmScope(service: 7, entity: entity, source: .local))
    }
    return (told, fenceState)
}

extension [FenceMachine.Action] {
    /// What is told, in short.
    var told: [String] {
        compactMap { action in
            guard case .judging(.alarms(.tell(let alarm, let standing))) = action else { return nil }
            return "\(alarm.alarm.action) \(alarm.alarm.fence)\(standing == .notDurable ? " early" : "")"
        }
    }

    /// Alarms that are to be written.
    var writing: AlarmOutbox.Writing? {
        for case .judging(.alarms(.write(let writing))) in self { return writing }
        return nil
    }
}

extension FenceMachine {
    /// An import whose work is done before anything else happens.
    mutating func importing(
        _ whole: FenceImports.Whole, now: SystemTime
    ) throws(FenceRefusal) -> (outcome: LocalFenceTable.Imported, actions: [Action]) {
        guard let adopted = adopt(try beginImport(whole, now: now).run()) else {
            preconditionFailure("nothing has changed meanwhile")
        }
        return adopted
    }
}
