internal import AgentLogic
internal import AlarmLog
internal import Logging
internal import Systemd

/// What the journal of alarms is to note of its alarms. It must not forget it.
enum AlarmNote: Hashable, Sendable {
    /// All hooks of the alarm have ended.
    case hooksEnded(UInt64)
    /// Hooks are turned off: none is owed to any alarm.
    case hooksOff
    /// Whether the server is to be told of these alarms, or what it has answered.
    case report(ReportState, of: Set<UInt64>)

    /// Runs on the journal's thread.
    func apply(to journal: AlarmJournal) {
        switch self {
        case .hooksEnded(let number): journal.finish(number)
        case .hooksOff: journal.finishAll()
        case .report(let state, let numbers): journal.note(state, of: numbers)
        }
    }

    /// The alarms that it is about; none when it is about all.
    var numbers: Set<UInt64> {
        switch self {
        case .hooksEnded(let number): [number]
        case .hooksOff: []
        case .report(_, let numbers): numbers
        }
    }
}

/// The notes of one shell, until the journal has taken them.
///
/// May touch: one timer and the system's journal.
final class AlarmNotes {
    private enum Timer { case again }

    private let context: ShellContext
    private let timers: ShellTimers<Timer>
    private var machine = JournalNotes<AlarmNote>()
    /// Gives notes to the journal, in their order; false: it has taken none of them.
    private let write: ([AlarmNote]) -> Bool

    init(_ context: ShellContext, write: @escaping ([AlarmNote]) -> Bool) {
        self.context = context
        self.write = write
        timers = ShellTimers(context)
    }

    func add(_ note: AlarmNote) { perform(machine.add(note)) }

    /// Notes that were forgotten because too many waited.
    var lost: UInt64 { machine.lost }

    /// The alarms of which the journal will hear.
    var numbers: Set<UInt64> { machine.waiting.reduce(into: []) { $0.formUnion($1.numbers) } }

    private func perform(_ actions: [JournalNotes<AlarmNote>.Action]) {
        for action in actions {
            switch action {
            case .write: perform(write(machine.waiting) ? machine.taken() : machine.refused())
            case .setTimer(let milliseconds):
                timers.set(.again, milliseconds: milliseconds) { [self] in perform(machine.timerFired()) }
            case .complain:
                context.log.warning(
                    "What becomes of alarms cannot be noted on the disk",
                    metadata: .event(.alarmJournalFailed, ["reason": "the disk hangs, and too much waits for it"]))
            case .complainOfLoss:
                context.log.error(
                    "What becomes of alarms is forgotten: after a restart hooks run again, and the server misses alarms",
                    metadata: .event(
                        .alarmJournalFailed,
                        ["reason": "more than \(JournalNotes<AlarmNote>.most) notes wait for the disk"]))
            case .relieved(let lost):
                context.log.notice(
                    "What becomes of alarms is noted again",
                    metadata: .event(.alarmJournalReturned, lost == 0 ? [:] : ["forgotten": "\(lost)"]))
            }
        }
    }

    /// The agent stops: whatever waits is offered once more.
    func shutDown() {
        timers.cancelAll()
        if !machine.waiting.isEmpty { _ = write(machine.waiting) }
    }
}
