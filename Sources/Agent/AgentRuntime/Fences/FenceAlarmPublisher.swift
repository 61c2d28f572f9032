internal import AgentControl
internal import AgentLogic
internal import AlarmLog
internal import DiskRing
internal import Geofencing
internal import JSON
internal import LocalFences
internal import Logging
internal import NIOCore
internal import Systemd
internal import TrackModel
internal import TrackWire

/// Does what an `AlarmOutbox` decides: alarms that the agent has found go into the journal of alarms and to everybody.
///
/// May touch: the journal of alarms on the disk thread, its timers, and the system's journal.
final class FenceAlarmPublisher {
    enum Effect {
        /// Tell everybody.
        case told(AlarmReport)
        /// The alarm is on the disk: its hooks run.
        case hooksDue(JournalAlarm)
        /// The alarm is not on the disk: its hooks run once at most.
        case hooksDueOnce(AlarmReport)
        /// The journal owes hooks to this alarm that have been run already.
        case hooksSettled(UInt64)
        /// The journal of alarms after an operation.
        case journalIs(JournalSnapshot)
    }

    /// How the journal names the fences, and what they judge.
    struct Words {
        let fence: String
        let point: String

        static let local = Words(fence: "fence", point: "fix")
        static let server = Words(fence: "server fence", point: "point")
    }

    /// What the outbox is to hear.
    typealias Event = (inout AlarmOutbox) -> [AlarmOutbox.Action]

    private let context: ShellContext
    private let words: Words
    private let journal: (any AlarmExecutor)?
    private let areHooksOwed: Bool
    private let tell: (Effect) -> Void
    private let found: ([JournalAlarm]) -> Void
    private let happened: (@escaping Event) -> Void
    private let timers: ShellTimers<AlarmOutbox.Timer>
    /// Alarms that the journal has just taken, until they are told.
    private var fresh: [UInt64: JournalAlarm] = [:]
    private(set) var told: [FenceAction: UInt64] = [:]
    /// When the newest alarm happened.
    private(set) var lastAlarm: Int64?

    /// `journal` nil: alarms are told and not kept. `found`: hears of the alarms that the journal has newly taken, before the outbox.
    init(
        _ context: ShellContext, _ words: Words, journal: (any AlarmExecutor)?, areHooksOwed: Bool,
        tell: @escaping (Effect) -> Void,
        found: @escaping ([JournalAlarm]) -> Void = { _ in }, happened: @escaping (@escaping Event) -> Void
    ) {
        self.context = context
        self.words = words
        self.journal = journal
        self.areHooksOwed = areHooksOwed
        self.tell = tell
        self.found = found
        self.happened = happened
        timers = ShellTimers(context)
    }

    func perform(_ action: JudgingAction) {
        switch action {
        case .alarms(let action): perform(action)
        case .storm(let fence, let name, let entity):
            context.log.warning(
                "A \(words.fence) makes more than 60 alarms an hour",
                metadata: ["fence": "\(fence)", "name": "\(name)", "entity": "\(entity)"])
        case .leftOut(let count):
            context.log.warning(
                "One \(words.point) caused more alarms than are told", metadata: ["left_out": "\(count)"])
        case .notJudged(let fence, let reason):
            context.log.warning(
                "A \(words.fence) is not judged", metadata: ["fence": "\(fence)", "reason": "\(reason)"])
        }
    }

    private func perform(_ action: AlarmOutbox.Action) {
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
            timers.set(timer, milliseconds: milliseconds) { [self] in happened { $0.timerFired(timer) } }
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
            return happened { $0.refused(reason: reason) }
        }
        work.assumeIsolated().whenSuccess { [self] outcome, snapshot in
            tell(.journalIs(snapshot))
            switch outcome {
            case .refused(let reason): happened { $0.refused(reason: reason) }
            case .written(let outcomes, let alarms):
                for alarm in alarms { fresh[alarm.number] = alarm }
                found(alarms)
                happened { $0.written(outcomes) }
            }
        }
    }

    /// The agent stops.
    func shutDown() { timers.cancelAll() }
}

/// Alarms that the agent has found as records of the alarm journal.
enum FenceJournal {
    enum Outcome: Sendable {
        /// For each alarm what became of it, and those that are new.
        case written([AlarmOutbox.Written], [JournalAlarm])
        case refused(String)
    }

    /// Runs on the disk thread.
    static func write(
        _ writing: AlarmOutbox.Writing, to journal: AlarmJournal, areHooksOwed: Bool, received: SystemTime,
        now: MonotonicTime
    ) -> Outcome {
        let state = JournalFenceState(
            entity: writing.entity, time: writing.fenceState.lastTime?.milliseconds ?? 0,
            fenceState: writing.fenceState.encoded,
            service: writing.service)
        do throws(CacheFileError) {
            guard writing.isDurable else {
                try journal.note(state, now: now)
                return .written([], [])
            }
            let alarms = writing.alarms.map { waiting in
                FenceJournalRecord.Told(
                    content: NewAlarm(waiting.alarm, received: received), isOwed: areHooksOwed && !waiting.isTold,
                    isReported: waiting.alarm.isReported)
            }
            switch try journal.append(FenceJournalRecord(alarms: alarms, state: state), now: now) {
            case .full:
                return .refused("alarms whose hooks have not ended fill the alarm journal: see hooks in saker status")
            case .taken(let appended):
                var (outcomes, new): ([AlarmOutbox.Written], [JournalAlarm]) = ([], [])
                for one in appended {
                    switch one {
                    case .new(let alarm):
                        outcomes.append(.new(alarm.number))
                        new.append(alarm)
                    case .known, .confirmed, .dropped, .full: outcomes.append(.known)
                    }
                }
                return .written(outcomes, new)
            }
        } catch {
            return .refused("\(error)")
        }
    }
}

extension NewAlarm {
    init(_ alarm: LocalAlarm, received: SystemTime) {
        self.init(
            id: alarm.id, type: alarm.type, entity: alarm.entity, time: alarm.time, received: received.milliseconds,
            body: alarm.body,
            fence: AlarmFence(fence: alarm.alarm.fence, action: AlarmFence.Action(alarm.alarm.action)),
            early: alarm.cause.map { EarlyAlarmPoint(stream: $0.stream, sequence: $0.sequence) }, service: alarm.service
        )
    }
}

extension AlarmFence.Action {
    init(_ action: FenceAction) {
        self =
            switch action {
            case .enter: .enter
            case .exit: .exit
            case .stay: .stay
            case .overspeed: .overspeed
            }
    }

    init(_ action: AlarmSelection.Action) {
        self =
            switch action {
            case .enter: .enter
            case .exit: .exit
            case .stay: .stay
            case .overspeed: .overspeed
            }
    }
}

extension AlarmReport {
    /// An alarm that is told before it is on the disk.
    init(notDurable alarm: LocalAlarm, received: SystemTime) {
        self.init(
            number: 0, id: Int64(bitPattern: alarm.id), type: Int64(alarm.type), entity: alarm.entity, time: alarm.time,
            received: received.milliseconds,
            body: JSONValue(alarmBody: alarm.body), durable: false,
            early: alarm.source == .server ? true : nil)
    }
}

// Alarms of the journal in the messages that tell the server of them.
extension AlarmReporting.Item {
    /// Nil when the alarm has no key, or is too long without its parameters.
    init?(_ alarm: JournalAlarm, most: Int) {
        let body = alarm.content.body
        guard case .object(var members)? = try? JSONReader.value(of: Array(body.utf8)),
            case .string(let text)? = members["key"], let key = AlarmKey(text: text)
        else { return nil }
        var json = body
        // A field of their own, because they may be longer than an alarm.
        let remoteTo = members.removeValue(forKey: "remote_to")?.arrayValue?.compactMap(\.stringValue) ?? []
        if !remoteTo.isEmpty { json = JSONValue.object(members).description }
        if json.utf8.count > most {
            members["params"] = nil
            json = JSONValue.object(members).description
        }
        guard json.utf8.count <= most else { return nil }
        self.init(number: alarm.number, key: key.bytes, type: alarm.content.type, json: json, remoteTo: remoteTo)
    }
}

extension AlarmUpload {
    init(_ message: UInt64, _ items: [AlarmReporting.Item]) {
        self.init()
        id = message
        alarms = items.map {
            UploadedAlarm(key: $0.key, type: $0.type, json: $0.json, remoteTo: $0.remoteTo)
        }
    }
}
