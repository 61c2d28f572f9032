package import AgentControl
internal import AgentLogic
internal import AlarmLog
internal import JSON
internal import Logging
package import NIOCore
internal import Systemd
internal import TrackCache
internal import TrackModel
internal import TrackWire

/// Pushes on their way to the disk, and how the journal was after its last operation.
struct AlarmDesk {
    var inbox = AlarmInbox()
    /// Content of the pushes that wait for the disk.
    var waiting: [UInt64: NewAlarm] = [:]
    /// Alarms that were just journaled, until they are told.
    var fresh: [UInt64: Alarm] = [:]
    var journal = JournalSnapshot()
}

/// What status may know of the journal without waiting for the disk.
struct JournalSnapshot: Sendable {
    var kept = 0
    var lastNumber: UInt64 = 0
    var counters = AlarmJournal.Counters()
    var trouble: CacheFileError?
    var owed = 0

    init() {}

    init(_ journal: AlarmJournal) {
        kept = journal.count
        lastNumber = journal.lastNumber
        counters = journal.counters
        trouble = journal.trouble
        owed = journal.owedCount
    }
}

// Alarms and messages: from the server into the journal, and from there to everybody.
extension Agent {
    // MARK: Journal

    /// Runs an operation on the journal's thread; false when there is no journal, or too much waits for the disk.
    @discardableResult
    func onJournal<Result: Sendable>(
        _ operation: @escaping @Sendable (AlarmJournal) -> Result, then: @escaping (Result) -> Void = { _ in }
    ) -> Bool {
        let work = surroundings.alarms?.perform(on: loop) { journal in (operation(journal), JournalSnapshot(journal)) }
        work?.assumeIsolated().whenSuccess { [self] result, snapshot in
            alarms.journal = snapshot
            then(result)
        }
        return work != nil
    }

    /// Looks at what the process before has left; hooks that are owed run.
    func openAlarms() {
        onJournal { _ in
        } then: { [self] in
            let journal = alarms.journal
            if let trouble = journal.trouble {
                perform(alarms.inbox.failedToOpen(reason: "\(trouble)"))
            }
            let counters = journal.counters
            guard journal.kept > 0 || counters != AlarmJournal.Counters() else { return }
            log.notice(
                "Alarm journal opened",
                metadata: [
                    "alarms": "\(journal.kept)", "owed_hooks": "\(journal.owed)", "damaged": "\(counters.damaged)",
                    "torn_tails": "\(counters.tornTails)", "put_aside": "\(counters.putAside)",
                ])
        }
        if hooks.hear("alarm") {
            perform(hooks.machine.begin())
        } else {
            // Hooks that are turned on some day begin with what happens then.
            onJournal { $0.finishAll() }
        }
    }

    /// The server's clock says what it will not send again.
    func forgetOldAlarms(serverTime: Int64) {
        guard serverTime > 0 else { return }
        onJournal { $0.forget(serverTime: serverTime) }
    }

    // MARK: Pushes

    func take(_ push: Push) {
        let alarm = NewAlarm(
            id: push.id, type: push.type, entity: uplinkEntity, time: push.time,
            received: systemTime.milliseconds, body: push.json)
        let actions = alarms.inbox.received(push.id, bytes: push.json.utf8.count)
        if actions.contains(.journal(push.id)) { alarms.waiting[push.id] = alarm }
        perform(actions)
    }

    func perform(_ actions: [AlarmInbox.Action]) {
        for action in actions {
            switch action {
            case .journal(let id): journal(id)
            case .acknowledge(let id):
                var acknowledgement = PushAck()
                acknowledgement.ids = [id]
                send(.pushAck(acknowledgement))
            case .tell(let id):
                guard let alarm = alarms.fresh.removeValue(forKey: id) else { continue }
                tell(alarm)
            case .refuse(let id, let reason):
                let why =
                    switch reason {
                    case .noNumber: "it has no number"
                    case .tooLong: "it is longer than \(NewAlarm.maximumBodyBytes) bytes"
                    }
                log.warning("Push refused", metadata: ["push": "\(id)", "reason": "\(why)"])
            case .complain(let reason):
                log.error(
                    "Alarms cannot be kept: none is acknowledged, the server sends them again",
                    metadata: .event(.alarmJournalFailed, ["reason": "\(reason)"]))
            case .relieved:
                log.notice("Alarms are kept again", metadata: .event(.alarmJournalReturned))
            }
        }
    }

    private func journal(_ id: UInt64) {
        guard let content = alarms.waiting[id] else { return }
        let isOwed = hooks.hear("alarm")
        let isAccepted = onJournal { journal -> Result<AlarmJournal.Appended, CacheFileError> in
            do throws(CacheFileError) {
                return .success(try journal.append(content, isOwed: isOwed))
            } catch {
                return .failure(error)
            }
        } then: { [self] result in
            alarms.waiting[id] = nil
            switch result {
            case .success(.new(let alarm)):
                alarms.fresh[id] = alarm
                perform(alarms.inbox.journaled(id, isNew: true))
            case .success(.known): perform(alarms.inbox.journaled(id, isNew: false))
            case .failure(let error): perform(alarms.inbox.failed(id, reason: "\(error)"))
            }
        }
        guard !isAccepted else { return }
        alarms.waiting[id] = nil
        perform(alarms.inbox.failed(id, reason: "the disk hangs"))
    }

    private func tell(_ alarm: Alarm) {
        log.notice(
            alarm.content.type == 3 || alarm.content.type == 4 ? "Alarm" : "Message from the server",
            metadata: .event(
                .alarmReceived,
                ["entity": "\(alarm.content.entity)", "type": "\(alarm.content.type)", "number": "\(alarm.number)"]))
        let change = AgentEvent.Change.alarm(AlarmReport(alarm))
        onChange(change)
        if alarm.isOwed { runHooks(for: change, alarm: alarm.number) }
    }

    // MARK: Control

    package func alarms(_ selection: AlarmSelection) -> EventLoopFuture<AlarmsReply> {
        let promise = loop.makePromise(of: AlarmsReply.self)
        let query = AlarmQuery(
            after: selection.after.map { UInt64(clamping: $0) }, from: selection.from, through: selection.through,
            type: selection.type.map { UInt32(clamping: $0) }, limit: Int(clamping: selection.limit))
        let isAccepted = onJournal { journal -> Result<AlarmPage, CacheFileError> in
            do throws(CacheFileError) {
                return .success(try journal.alarms(query))
            } catch {
                return .failure(error)
            }
        } then: { result in
            switch result {
            case .success(let page):
                promise.succeed(AlarmsReply(alarms: page.alarms.map(AlarmReport.init), more: page.isCut))
            case .failure(let error):
                promise.fail(
                    AgentControlError(
                        .internalError, in: .listAlarms, reason: "the alarm journal cannot be read: \(error)"))
            }
        }
        if !isAccepted {
            promise.fail(
                AgentControlError(
                    .internalError, in: .listAlarms,
                    reason: "the disk hangs, and too much waits for it already: try again later"))
        }
        return promise.futureResult
    }

    var alarmsStatus: AlarmsStatus? {
        guard surroundings.alarms != nil else { return nil }
        let (journal, counters) = (alarms.journal, alarms.inbox.counters)
        return AlarmsStatus(
            kept: Int64(journal.kept), lastNumber: Int64(clamping: journal.lastNumber),
            lastError: alarms.inbox.trouble, received: Int64(clamping: counters.taken),
            refused: Int64(clamping: counters.refused), dropped: Int64(journal.counters.dropped),
            damaged: Int64(journal.counters.damaged + journal.counters.tornTails))
    }
}

extension AlarmReport {
    init(_ alarm: Alarm) {
        let content = alarm.content
        self.init(
            number: Int64(clamping: alarm.number), id: content.id == 0 ? nil : Int64(bitPattern: content.id),
            type: Int64(content.type), entity: content.entity, time: content.time > 0 ? content.time : nil,
            received: content.received,
            body: (try? JSONReader.value(of: Array(content.body.utf8))) ?? .string(content.body))
    }
}
