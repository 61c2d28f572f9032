import AgentLogic
import AlarmLog
import Geodesy
import Geofencing
import TrackCache
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

    /// The process starts, with the fences of the file and the memories of the journal.
    mutating func start() {
        journal = AlarmJournal(directory: "/var/saker", fileSystem: disk, now: Self.now)
        var book = FenceBook()
        do {
            _ = try book.create(
                definitions, now: Timestamp(milliseconds: 0), since: Timestamp(milliseconds: .min))
        } catch {
            preconditionFailure(error.description)
        }
        let memories = journal.fenceStates.compactMap { state in
            (try? EntityMemory(encoded: state.memory)).map { (state.entity, $0) }
        }
        machine = FenceMachine(book: book, memories: memories)
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
        perform(machine.timerFired(timer))
    }

    mutating func perform(_ actions: [FenceMachine.Action]) {
        for action in actions {
            switch action {
            case .alarms(.write(let writing)):
                if isHanging { hanging = writing } else { write(writing) }
            case .alarms(.tell(let alarm, let standing)):
                if case .durable = standing {
                    told.append((alarm.key.text, true))
                } else {
                    told.append((alarm.key.text, false))
                }
            case .alarms(.runHooks(let alarm, _)): hooksRun.append(alarm.key.text)
            case .alarms(.settleHooks(let number)): journal.finish(number)
            case .alarms(.setTimer(let timer, _)): timers.insert(timer)
            case .alarms(.cancelTimer(let timer)): timers.remove(timer)
            case .alarms(.complain), .alarms(.relieved), .alarms(.dropped), .saving, .storm, .leftOut, .notJudged:
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
        case .written(let outcomes): perform(machine.journalWrote(outcomes))
        case .refused(let reason): perform(machine.journalRefused(reason: reason))
        }
    }

    /// The keys of the alarms that a run without any trouble makes of these points.
    static func undisturbed(_ points: [FencePoint], _ definitions: [FenceDefinition]) -> [String] {
        var (judge, memory, alarms) = (FenceJudge(), EntityMemory(), [FenceAlarm]())
        let plans = definitions.enumerated().compactMap { index, definition in
            try? Fence(id: Int32(index + 1), definition, at: Timestamp(milliseconds: .min))
                .plan(from: Timestamp(milliseconds: .min))
        }
        let set = FenceSet(plans)
        for point in points { _ = judge.judge(point, of: &memory, by: set, into: &alarms) }
        let scope = AlarmScope(service: 7, entity: entity, source: .local)
        return alarms.map { AlarmKey($0, in: scope).text }
    }
}
