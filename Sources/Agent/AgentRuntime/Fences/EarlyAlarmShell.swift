internal import AgentLogic
internal import AlarmLog
internal import Exposition
internal import FoundationEssentials
internal import Geofencing
internal import JSON
internal import LocalFences
internal import Logging
internal import NIOCore
internal import TrackCache
internal import TrackModel
internal import TrackWire

/// What becomes of alarms that the agent has found: the server confirms early ones, and is told of those that it cannot find
/// itself.
///
/// Owns the `EarlyAlarmBook` and `AlarmReporting`. May touch: the journal of alarms and the disk ring on the disk thread, one
/// timer, and the system's journal. Everything else leaves as an ``Effect``.
final class EarlyAlarmShell {
    enum Effect {
        case send(AlarmUpload)
    }

    private enum Timer { case overdue }

    private let context: ShellContext
    private let journal: (any AlarmExecutor)?
    private let ring: any CacheExecutor
    private let tell: (Effect) -> Void
    private let timers: ShellTimers<Timer>
    private var book = EarlyAlarmBook()
    private var reporting = AlarmReporting()
    /// Of the last login: the server takes the alarms of a report for those of this entity in this service.
    private var entity = ""
    private var service: Int64?
    /// Alarms that the server is to be told of, after the last operation.
    private(set) var reportsWaiting = 0
    /// Those of them that wait for a login as another entity or in another service.
    private(set) var reportsElsewhere = 0
    private(set) var confirmedCount: UInt64 = 0
    /// When the oldest report was sent after which the server has answered none; nil when it has answered them.
    private(set) var unansweredSince: SystemTime?

    /// Bytes of the alarms in one message, and of one alarm.
    private static let messageBytes = 128 * 1024
    private static let mostBytes = 8192

    init(
        _ context: ShellContext, journal: (any AlarmExecutor)?, ring: any CacheExecutor,
        tell: @escaping (Effect) -> Void
    ) {
        self.context = context
        self.journal = journal
        self.ring = ring
        self.tell = tell
        timers = ShellTimers(context)
    }

    /// Looks at the alarms that the process before has left.
    func open() {
        let now = context.now
        onJournal {
            (try? $0.unconfirmed(now: now)) ?? []
        } then: { [self] found in
            for alarm in found { note(alarm.number, alarm.id, of: alarm.entity, alarm.mark) }
        }
    }

    // MARK: Alarms

    /// The journal has new alarms that the agent has found.
    func found(_ alarms: [Alarm]) {
        for alarm in alarms {
            guard let mark = alarm.content.early else { continue }
            note(alarm.number, alarm.content.id, of: alarm.content.entity, mark)
        }
    }

    private func note(_ number: UInt64, _ push: UInt64, of entity: String, _ mark: EarlyMark) {
        book.found(number, push: push, of: entity, cause: PointCause(stream: mark.stream, sequence: mark.sequence))
    }

    /// The server's push has confirmed an early alarm.
    func confirmed(_ number: UInt64) {
        confirmedCount += 1
        book.confirmed(number)
    }

    /// The disk did not take a push that the server has sent.
    func cameUnkept(_ push: UInt64) { book.heard(push: push) }

    /// The server's push has come for an alarm that the journal has dropped. Of an early one it is the confirmation.
    func cameAfterDrop(_ number: UInt64) {
        if book.confirmed(number) { confirmedCount += 1 }
    }

    /// The journal after an operation of another shell.
    func journalIs(_ snapshot: JournalSnapshot) {
        guard snapshot.reports > reportsWaiting else {
            reportsWaiting = snapshot.reports
            return
        }
        reportsWaiting = snapshot.reports
        perform(reporting.added())
    }

    // MARK: The link

    /// A login succeeded. `takesReports`: the server takes them. `acknowledged`: what the server had owned of the stream
    /// before.
    func loggedIn(
        as entity: String, of service: Int64, takesReports: Bool, storedThrough: UInt64, acknowledged: UInt64,
        stream: StreamID?
    ) {
        (self.entity, self.service) = (entity, service)
        if takesReports, let stream, storedThrough < .max {
            let first = storedThrough + 1
            let points = ForgottenPoints(
                stream: stream, sequences: first...max(first, acknowledged), isCertain: storedThrough < acknowledged)
            serverForgot(points, of: entity, service)
        }
        perform(book.loggedIn(as: entity, now: context.now))
        if let stream {
            perform(book.acknowledged(through: storedThrough, of: stream, isLogin: true, now: context.now))
        }
        if takesReports { perform(reporting.linkOpened()) }
    }

    /// A backup of the server was put back, or its disk has lost what it had: the server is told once more of the alarms that
    /// it may have lost. When a power cut took what the ring had noted of acknowledgements, only the journal can tell.
    private func serverForgot(_ points: ForgottenPoints, of entity: String, _ service: Int64) {
        let now = context.now
        onJournal { journal -> Int? in
            try? journal.reportAgain(of: entity, service: service, without: points, now: now)
        } then: { [self] count in
            guard let count else {
                guard points.isCertain else { return }
                return context.log.warning(
                    "The server has lost points, and the alarm journal cannot be read to report their alarms again",
                    metadata: ["stored_through": "\(points.sequences.lowerBound - 1)"])
            }
            guard count > 0 else { return }
            let fields: Logger.Metadata = [
                "alarms": "\(count)", "stored_through": "\(points.sequences.lowerBound - 1)",
            ]
            if points.isCertain {
                context.log.notice("The server has lost points: alarms are reported again", metadata: fields)
            } else {
                // The process before may have been killed before it noted what the server has.
                context.log.info(
                    "Alarms are reported once more, in case the server does not have them", metadata: fields)
            }
            perform(reporting.added())
        }
    }

    func linkClosed() {
        reporting.linkClosed()
        book.linkClosed()
    }

    /// The server has every point through this one.
    func acknowledged(through sequence: UInt64, of stream: StreamID) {
        perform(book.acknowledged(through: sequence, of: stream, now: context.now))
    }

    /// The server will never store these points.
    func refused(_ sequences: Set<UInt64>, of stream: StreamID) { perform(book.refused(sequences, of: stream)) }

    /// The ring has lost points, or a person has cleared some.
    func pointsWereLost() { perform(book.pointsWereLost()) }

    /// The server has answered a report.
    func answered(_ answer: AlarmUploadAck) {
        unansweredSince = nil
        let refused = answer.refused.map { (Array($0.key), $0.reason) }
        perform(reporting.acknowledged(answer.id, refused: Dictionary(refused) { first, _ in first }))
    }

    // MARK: The machines

    private func perform(_ actions: [EarlyAlarmBook.Action]) {
        for action in actions {
            switch action {
            case .look(let causes): look(for: causes)
            case .report(let numbers):
                let numbers = Set(numbers)
                onJournal {
                    $0.note(.wanted, of: numbers)
                } then: { [self] in
                    perform(reporting.added())
                }
            case .overdue(let numbers):
                context.log.warning(
                    "The server does not confirm early alarms", metadata: ["alarms": "\(numbers.count)"])
            case .setTimer(let milliseconds):
                timers.set(.overdue, milliseconds: milliseconds) { [self] in
                    perform(book.timerFired(now: context.now))
                }
            }
        }
    }

    private func look(for causes: [UInt64: PointCause]) {
        let now = context.now
        let found = ring.perform(on: context.loop) { cache in Self.missing(causes, in: cache, now: now) }
        guard let found else { return perform(book.looked(missing: [], unread: causes.keys.sorted())) }
        found.assumeIsolated().whenSuccess { [self] missing, unread in
            perform(book.looked(missing: missing, unread: unread))
        }
    }

    /// Runs on the disk thread.
    private static func missing(
        _ causes: [UInt64: PointCause], in cache: TrackCache, now: MonotonicTime
    ) -> (missing: [UInt64], unread: [UInt64]) {
        var (missing, unread): ([UInt64], [UInt64]) = ([], [])
        for (number, cause) in causes.sorted(by: { $0.key < $1.key }) {
            let found = cache.read(
                after: cause.sequence - 1, maximumCount: 1, maximumBytes: 1, isForServer: false, now: now)
            if let found {
                if found.stream == cause.stream, found.firstSequence != cause.sequence { missing.append(number) }
            } else if cache.isReadPostponed(now: now) {
                unread.append(number)
            } else {
                missing.append(number)
            }
        }
        return (missing, unread)
    }

    private func perform(_ actions: [AlarmReporting.Action]) {
        for action in actions {
            switch action {
            case .read: read()
            case .send(let message, let items):
                unansweredSince = unansweredSince ?? context.systemTime
                tell(.send(AlarmUpload(message, items)))
            case .settle(let numbers):
                let numbers = Set(numbers)
                for number in numbers { book.confirmed(number) }
                onJournal { $0.note(.done, of: numbers) }
            case .refuse(let number, let reason):
                context.log.warning(
                    "The server takes no report of an alarm", metadata: ["number": "\(number)", "reason": "\(reason)"])
                onJournal { $0.note(.refused, of: [number]) }
            }
        }
    }

    private func read() {
        guard let service else { return reporting.readFailed() }
        let (now, entity) = (context.now, entity)
        let isAccepted = onJournal { journal -> [Alarm]? in
            try? journal.reports(
                of: entity, service: service, limit: AlarmReporting.most, bytes: Self.messageBytes, now: now)
        } then: { [self] found in
            guard ExactName(entity) == ExactName(self.entity), service == self.service else {
                // Another entity has logged in meanwhile, or in another service.
                reporting.readFailed()
                return perform(reporting.added())
            }
            guard let found else { return reporting.readFailed() }
            var (items, unusable): ([AlarmReporting.Item], [UInt64: String]) = ([], [:])
            for alarm in found {
                if let item = AlarmReporting.Item(alarm, most: Self.mostBytes) {
                    items.append(item)
                } else {
                    unusable[alarm.number] = "it has no key, or more than \(Self.mostBytes) bytes"
                }
            }
            perform(reporting.read(items, unusable: unusable))
        }
        if !isAccepted { reporting.readFailed() }
    }

    /// Runs an operation on the journal's thread; false when there is no journal, or too much waits for the disk.
    @discardableResult
    private func onJournal<Result: Sendable>(
        _ operation: @escaping @Sendable (AlarmJournal) -> Result, then: @escaping (Result) -> Void = { _ in }
    ) -> Bool {
        let (entity, service) = (entity, service)
        let work = journal?.perform(on: context.loop) { journal in
            let result = operation(journal)
            let foreign = service.map { journal.foreignReportCount(besides: entity, of: $0) }
            return (result, journal.reportCount, foreign ?? 0)
        }
        work?.assumeIsolated().whenSuccess { [self] result, reports, foreign in
            (reportsWaiting, reportsElsewhere) = (reports, foreign)
            then(result)
        }
        return work != nil
    }

    /// The agent stops.
    func shutDown() { timers.cancelAll() }

    // MARK: Status

    var overdueCount: UInt64 { book.overdueCount }
    /// Early alarms that the server may still confirm.
    var waitingCount: Int { book.count }

    func addMetrics(to page: inout MetricsPage) {
        page.add(AgentMetrics.earlyAlarmsConfirmed, confirmedCount)
        page.add(AgentMetrics.earlyAlarmsUnconfirmed, overdueCount)
        page.add(AgentMetrics.earlyAlarmsWaiting, waitingCount)
        page.add(AgentMetrics.alarmReportsWaiting, reportsWaiting)
        page.add(AgentMetrics.alarmsReported, reporting.counters.reported)
        page.add(AgentMetrics.alarmReportsRefused, reporting.counters.refused)
    }
}

extension AlarmReporting.Item {
    /// Nil when the alarm has no key, or is too long without its parameters.
    fileprivate init?(_ alarm: Alarm, most: Int) {
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
    fileprivate init(_ message: UInt64, _ items: [AlarmReporting.Item]) {
        self.init()
        id = message
        alarms = items.map {
            UploadedAlarm(key: $0.key, type: $0.type, json: $0.json, remoteTo: $0.remoteTo)
        }
    }
}
