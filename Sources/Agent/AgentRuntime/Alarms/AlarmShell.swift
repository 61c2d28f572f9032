internal import AgentControl
internal import AgentLogic
internal import AlarmLog
internal import DiskRing
internal import JSON
internal import Logging
internal import NIOCore
internal import Systemd
internal import TrackModel
internal import TrackWire

/// Alarms and messages: from the server into the journal of alarms on the disk, and from there to everybody.
///
/// Owns the `AlarmInbox`, the pushes on their way to the disk, the notes that the journal has not taken, and what is known of it. May touch: the journal of
/// alarms, on the disk thread, one timer, and the system's journal. Everything else leaves as an ``Effect``.
final class AlarmShell {
    enum Effect {
        /// The server has sent this push, and it goes to the disk.
        case came(UInt64)
        /// The push is on the disk: acknowledge it to the server.
        case acknowledge(UInt64)
        /// The alarm is on the disk for the first time: tell everybody.
        case arrived(JournalAlarm)
        /// Alarms whose hooks the process before has not run. `isAll`: the journal owes no others.
        case recalled([JournalAlarm], isAll: Bool)
        /// The server has told an early alarm of this number too.
        case confirmed(UInt64)
        /// The server has sent the push of an alarm that the journal has dropped; whether it was an early one, nobody noted.
        case cameAfterDrop(UInt64)
        /// The server has told this push, and the journal does not say of which alarm it is: the disk did not take it, and the
        /// server sends it again, or the journal has forgotten the alarm.
        case heard(UInt64)
        /// The hooks of this alarm ran before it was on the disk.
        case hooksSettled(UInt64)
    }

    private let context: ShellContext
    private let executor: (any AlarmExecutor)?
    private let tell: (Effect) -> Void
    /// Whether hooks are run for alarms: then an alarm stays owed in the journal until its hooks have ended.
    private let areHooksOwed: Bool
    /// Whether everybody has heard of the push with this number: its alarm is an early one that waits for the disk, or for this
    /// push.
    private let isTold: (UInt64) -> Bool
    private var inbox = AlarmInbox()
    /// Content of the pushes that wait for the disk.
    private var waiting: [UInt64: NewAlarm] = [:]
    /// Alarms that the journal has just taken, until the shell tells them.
    private var fresh: [UInt64: JournalAlarm] = [:]
    /// The journal after its last operation.
    private var journal = JournalSnapshot()
    /// The server's clock, milliseconds since 1970, and when it was told.
    private var serverClock: (time: Int64, at: MonotonicTime)?
    private let timers: ShellTimers<Timer>
    private(set) lazy var notes = AlarmNotes(context) { [unowned self] in write($0) }
    private var isShutDown = false

    private enum Timer {
        /// Alarms that are owed to hooks are asked for once more.
        case recall
    }

    /// Milliseconds until a disk that refused alarms for hooks is asked again.
    private static let recallPause: Int64 = 15_000

    /// `executor` nil: there is no journal, so pushes are neither kept nor acknowledged.
    init(
        _ context: ShellContext, executor: (any AlarmExecutor)?, areHooksOwed: Bool,
        isTold: @escaping (UInt64) -> Bool = { _ in false }, tell: @escaping (Effect) -> Void
    ) {
        self.context = context
        self.executor = executor
        self.areHooksOwed = areHooksOwed
        self.isTold = isTold
        self.tell = tell
        timers = ShellTimers(context)
    }

    /// Looks at the alarms that the process before has left.
    func open() {
        onJournal { _ in
        } then: { [self] in
            if let trouble = journal.trouble { perform(inbox.failedToOpen(reason: "\(trouble)")) }
            let counters = journal.counters
            guard journal.kept > 0 || counters != AlarmJournal.Counters() else { return }
            context.log.notice(
                "The alarm journal is open",
                metadata: [
                    "alarms": "\(journal.kept)", "owed_hooks": "\(journal.owed)", "damaged": "\(counters.damaged)",
                    "torn_tails": "\(counters.tornTails)", "put_aside": "\(counters.putAside)",
                ])
        }
        // When hooks are turned on later, they begin with the alarms of that time.
        if !areHooksOwed { notes.add(.hooksOff) }
    }

    // MARK: Pushes

    /// The server has sent a push over the link of this entity.
    func take(_ push: Push, entity: String) {
        let alarm = NewAlarm(
            id: push.id, type: push.type, entity: entity, time: push.time,
            received: context.systemTime.milliseconds, body: push.json)
        let actions = inbox.received(push.id, bytes: push.json.utf8.count)
        if actions.contains(.journal(push.id)) {
            waiting[push.id] = alarm
            tell(.came(push.id))
        }
        perform(actions)
    }

    /// The server's clock says which alarms it will not send again.
    func forgetOld(serverTime: Int64) {
        guard serverTime > 0 else { return }
        serverClock = (serverTime, context.now)
        onJournal { $0.forget(serverTime: serverTime) }
    }

    /// The server's clock now; nil before the first login.
    private var serverTime: Int64? {
        guard let serverClock else { return nil }
        let (time, overflow) = serverClock.time.addingReportingOverflow(context.now - serverClock.at)
        return overflow ? nil : time
    }

    private func perform(_ actions: [AlarmInbox.Action]) {
        for action in actions {
            switch action {
            case .journal(let id): journal(id)
            case .acknowledge(let id): tell(.acknowledge(id))
            case .tell(let id):
                guard let alarm = fresh.removeValue(forKey: id) else { continue }
                announce(alarm)
            case .refuse(let id, let reason):
                let why =
                    switch reason {
                    case .noNumber: "it has no number"
                    case .tooLong: "it is longer than \(NewAlarm.maximumBodyBytes) bytes"
                    }
                context.log.warning("A push of the server is refused", metadata: ["push": "\(id)", "reason": "\(why)"])
            case .complain(let reason):
                context.log.error(
                    "Alarms cannot be kept: none is acknowledged, the server sends them again",
                    metadata: .event(.alarmJournalFailed, ["reason": "\(reason)"]))
            case .relieved:
                context.log.notice("Alarms are kept on the disk again", metadata: .event(.alarmJournalReturned))
            }
        }
    }

    private func journal(_ id: UInt64) {
        guard let content = waiting[id] else { return }
        let isOwed = areHooksOwed && !isTold(id)
        let (serverTime, now) = (serverTime, context.now)
        let isAccepted = onJournal { journal -> Result<AlarmJournal.Appended, CacheFileError> in
            // A session may last for weeks. Alarms that are too old go before the size limit drops others.
            if let serverTime { journal.forget(serverTime: serverTime) }
            do throws(CacheFileError) {
                return .success(try journal.append(content, isOwed: isOwed, now: now))
            } catch {
                return .failure(error)
            }
        } then: { [self] result in
            waiting[id] = nil
            switch result {
            case .success(.new(let alarm)) where isTold(id):
                perform(inbox.journaled(id, isNew: false))
                tell(.hooksSettled(alarm.number))
                finishHooks(of: alarm.number)
                tell(.heard(id))
            case .success(.new(let alarm)):
                fresh[id] = alarm
                perform(inbox.journaled(id, isNew: true))
            case .success(.known): perform(inbox.journaled(id, isNew: false))
            case .success(.confirmed(let number)):
                perform(inbox.journaled(id, isNew: false))
                tell(.confirmed(number))
            case .success(.dropped(let number)):
                perform(inbox.journaled(id, isNew: false))
                tell(.cameAfterDrop(number))
            case .success(.full):
                let reason = "alarms whose hooks have not ended fill the alarm journal: see hooks in saker status"
                failed(id, reason: reason)
            case .failure(let error): failed(id, reason: "\(error)")
            }
        }
        guard !isAccepted else { return }
        waiting[id] = nil
        failed(id, reason: "the disk hangs")
    }

    private func failed(_ id: UInt64, reason: String) {
        perform(inbox.failed(id, reason: reason))
        tell(.heard(id))
    }

    private func announce(_ alarm: JournalAlarm) {
        context.log.notice(
            alarm.content.type == 3 || alarm.content.type == 4
                ? "An alarm of a fence has come" : "A message of the operator has come",
            metadata: .event(
                .alarmReceived,
                ["entity": "\(alarm.content.entity)", "type": "\(alarm.content.type)", "number": "\(alarm.number)"]))
        tell(.arrived(alarm))
    }

    /// The journal after an operation, also of another shell.
    func journalIs(_ snapshot: JournalSnapshot) {
        let before = journal.counters.damaged
        journal = snapshot
        guard snapshot.counters.damaged > before else { return }
        context.log.warning(
            "Records of the alarm journal are damaged, and alarms in them are lost",
            metadata: ["damaged": "\(snapshot.counters.damaged)", "alarms_left": "\(snapshot.kept)"])
    }

    // MARK: Hooks

    /// All hooks of an alarm have ended.
    func finishHooks(of alarm: UInt64) { notes.add(.hooksEnded(alarm)) }

    private func write(_ notes: [AlarmNote]) -> Bool {
        onJournal { journal in
            for note in notes { note.apply(to: journal) }
        } || executor == nil
    }

    /// Reads alarms that are still owed to hooks; they come back as ``Effect/recalled(_:isAll:)``, as soon as the disk
    /// gives them.
    func recall(limit: Int, without known: Set<UInt64>) {
        guard executor != nil else { return tell(.recalled([], isAll: true)) }
        // The journal owes hooks to alarms whose end it has not noted.
        let (now, known) = (context.now, known.union(notes.numbers))
        let isAccepted = onJournal { journal -> Result<AlarmsAwaitingHooks, CacheFileError> in
            do throws(CacheFileError) {
                return .success(try journal.owed(limit: limit, without: known, now: now))
            } catch {
                return .failure(error)
            }
        } then: { [self] result in
            switch result {
            case .success(let found): tell(.recalled(found.alarms, isAll: found.isAll))
            case .failure: recallLater(limit: limit, without: known)
            }
        }
        if !isAccepted { recallLater(limit: limit, without: known) }
    }

    private func recallLater(limit: Int, without known: Set<UInt64>) {
        guard !isShutDown else { return }
        timers.set(.recall, milliseconds: Self.recallPause) { [self] in recall(limit: limit, without: known) }
    }

    /// The agent stops: nothing is asked for any more.
    func shutDown() {
        isShutDown = true
        timers.cancelAll()
        notes.shutDown()
    }

    // MARK: Calls of the control socket

    func list(_ selection: AlarmSelection) -> EventLoopFuture<AlarmsReply> {
        let promise = context.loop.makePromise(of: AlarmsReply.self)
        let query = AlarmQuery(
            after: selection.after.map { UInt64(clamping: $0) }, from: selection.from, through: selection.through,
            type: selection.type.map { UInt32(clamping: $0) }, entity: selection.entity,
            fences: selection.fences.map { Set($0.map { Int32(clamping: $0) }) },
            actions: selection.actions.map { Set($0.map(AlarmFence.Action.init)) },
            limit: Int(clamping: selection.limit))
        let now = context.now
        let isAccepted = onJournal { journal -> Result<AlarmPage, CacheFileError> in
            do throws(CacheFileError) {
                return .success(try journal.alarms(query, now: now))
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

    var status: AlarmsStatus? {
        guard executor != nil else { return nil }
        return AlarmsStatus(
            kept: Int64(journal.kept), lastNumber: Int64(clamping: journal.lastNumber), lastError: inbox.trouble,
            received: Int64(clamping: inbox.counters.taken), refused: Int64(clamping: inbox.counters.refused),
            dropped: Int64(journal.counters.dropped),
            damaged: Int64(journal.counters.damaged + journal.counters.tornTails))
    }

    // MARK: The disk

    /// Runs an operation on the journal's thread; false when there is no journal, or too much waits for the disk.
    @discardableResult
    private func onJournal<Result: Sendable>(
        _ operation: @escaping @Sendable (AlarmJournal) -> Result, then: @escaping (Result) -> Void = { _ in }
    ) -> Bool {
        let work = executor?.perform(on: context.loop) { journal in (operation(journal), JournalSnapshot(journal)) }
        work?.assumeIsolated().whenSuccess { [self] result, snapshot in
            journalIs(snapshot)
            then(result)
        }
        return work != nil
    }
}

/// The state of the alarm journal after its last operation. The status tells it without waiting for the disk.
struct JournalSnapshot: Sendable {
    var kept = 0
    var lastNumber: UInt64 = 0
    var counters = AlarmJournal.Counters()
    var trouble: CacheFileError?
    /// Alarms whose hooks have not all ended.
    var owed = 0
    /// Alarms that the server is to be told of.
    var reports = 0

    init() {}

    init(_ journal: AlarmJournal) {
        kept = journal.count
        lastNumber = journal.lastNumber
        counters = journal.counters
        trouble = journal.trouble
        owed = journal.owedCount
        reports = journal.reportCount
    }
}

extension AlarmReport {
    init(_ alarm: JournalAlarm) {
        let content = alarm.content
        self.init(
            number: Int64(clamping: alarm.number), id: content.id == 0 ? nil : Int64(bitPattern: content.id),
            type: Int64(content.type), entity: content.entity, time: content.happened,
            received: content.received,
            body: JSONValue(alarmBody: content.body),
            early: content.early == nil ? nil : true, confirmed: content.early == nil ? nil : alarm.isConfirmed)
    }
}

extension JSONValue {
    /// Arrays and objects inside each other that the body of an alarm may have. It stands inside of a message, and the readers of
    /// messages take ``JSONRules/depth``.
    private static let alarmBody = JSONRules(maximumDepth: JSONRules.depth - 16)

    /// The content of an alarm as programs get it: as a text when it is no JSON, or nested too deep for their readers.
    init(alarmBody text: String) {
        self = (try? JSONReader.value(of: Array(text.utf8), Self.alarmBody)) ?? .string(text)
    }
}
