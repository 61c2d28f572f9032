internal import AgentControl
internal import AgentLogic
internal import AlarmLog
internal import Geofencing
internal import LocalFences
internal import Logging
internal import NIOCore
internal import Systemd
internal import TrackModel

/// Does what an `AlarmOutbox` decides: alarms that the agent has found go into the journal of alarms and to everybody.
///
/// May touch: the journal of alarms on the disk thread, its timers, and the system's journal.
final class FenceAlarmTeller {
    enum Effect {
        /// Tell everybody.
        case told(AlarmReport)
        /// The alarm is on the disk: its hooks run.
        case hooksDue(Alarm)
        /// The alarm is not on the disk: its hooks run once at most.
        case hooksDueOnce(AlarmReport)
        /// The journal owes hooks to this alarm that have been run already.
        case hooksSettled(UInt64)
        /// The journal of alarms after an operation.
        case journalIs(JournalSnapshot)
    }

    /// What the outbox is to hear.
    enum Event {
        case wrote([AlarmOutbox.Written], new: [Alarm])
        case refused(String)
        case timer(AlarmOutbox.Timer)
    }

    private let context: ShellContext
    private let journal: (any AlarmExecutor)?
    private let areHooksOwed: Bool
    private let tell: (Effect) -> Void
    private let happened: (Event) -> Void
    private let timers: ShellTimers<AlarmOutbox.Timer>
    /// Alarms that the journal has just taken, until they are told.
    private var fresh: [UInt64: Alarm] = [:]
    private(set) var told: [FenceAction: UInt64] = [:]
    /// When the newest alarm happened.
    private(set) var lastAlarm: Int64?

    /// `journal` nil: alarms are told and not kept.
    init(
        _ context: ShellContext, journal: (any AlarmExecutor)?, areHooksOwed: Bool, tell: @escaping (Effect) -> Void,
        happened: @escaping (Event) -> Void
    ) {
        self.context = context
        self.journal = journal
        self.areHooksOwed = areHooksOwed
        self.tell = tell
        self.happened = happened
        timers = ShellTimers(context)
    }

    func perform(_ action: AlarmOutbox.Action) {
        switch action {
        case .write(let writing): write(writing)
        case .tell(let alarm, let standing): announce(alarm, standing)
        case .runHooks(_, .durable(let number)):
            guard let kept = fresh.removeValue(forKey: number) else { return }
            tell(.hooksDue(kept))
        case .runHooks(let alarm, .notDurable):
            tell(.hooksDueOnce(AlarmReport(notDurable: alarm, received: context.systemTime)))
        case .settleHooks(let number):
            fresh[number] = nil
            tell(.hooksSettled(number))
        case .setTimer(let timer, let milliseconds):
            timers.set(timer, milliseconds: milliseconds) { [self] in happened(.timer(timer)) }
        case .cancelTimer(let timer): timers.cancel(timer)
        case .complain(let reason):
            context.log.error(
                "Alarms of fences cannot be kept: they are told at once, and a restart may forget them",
                metadata: .event(.alarmJournalFailed, ["reason": "\(reason)"]))
        case .relieved:
            context.log.notice("Alarms of fences are kept again", metadata: .event(.alarmJournalReturned))
        case .dropped(let count):
            context.log.error(
                "Alarms of fences are not written: too many wait for the disk", metadata: ["alarms": "\(count)"])
        }
    }

    private func announce(_ alarm: LocalAlarm, _ standing: AlarmOutbox.Standing) {
        told[alarm.alarm.action, default: 0] += 1
        lastAlarm = alarm.time
        var fields: Logger.Metadata = [
            "entity": "\(alarm.entity)", "type": "\(alarm.type)", "fence": "\(alarm.alarm.fence)",
            "name": "\(alarm.name)", "action": "\(alarm.alarm.action.rawValue)",
        ]
        let report: AlarmReport
        switch standing {
        case .durable(let number):
            guard let kept = fresh[number] else { return }
            fields["number"] = "\(number)"
            report = AlarmReport(kept)
        case .notDurable: report = AlarmReport(notDurable: alarm, received: context.systemTime)
        }
        context.log.notice("A fence has made an alarm", metadata: .event(.alarmReceived, fields))
        tell(.told(report))
    }

    private func write(_ writing: AlarmOutbox.Writing) {
        let (isOwed, received, now) = (areHooksOwed, context.systemTime, context.now)
        let work = journal?.perform(on: context.loop) { journal in
            (
                FenceJournal.write(
                    writing, to: journal, areHooksOwed: isOwed, received: received, now: now),
                JournalSnapshot(journal)
            )
        }
        guard let work else {
            let reason = journal == nil ? "there is no journal of alarms" : "the disk hangs, and too much waits for it"
            return happened(.refused(reason))
        }
        work.assumeIsolated().whenSuccess { [self] outcome, snapshot in
            tell(.journalIs(snapshot))
            switch outcome {
            case .refused(let reason): happened(.refused(reason))
            case .written(let outcomes, let alarms):
                for alarm in alarms { fresh[alarm.number] = alarm }
                happened(.wrote(outcomes, new: alarms))
            }
        }
    }

    /// The agent stops.
    func shutDown() { timers.cancelAll() }
}
