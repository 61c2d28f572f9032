internal import AgentLogic
internal import AlarmLog
internal import DiskRing
internal import FoundationEssentials
internal import Geofencing
internal import JSON
internal import LocalFences
internal import Logging
internal import MetricsText
internal import NIOCore
internal import Systemd
internal import TrackModel
internal import TrackWire

/// What becomes of alarms that the agent has found: the server confirms early ones, and is told of those that it cannot find
/// itself.
///
/// Owns the `ConfirmationMachine` and `AlarmReporting`, and the notes that the journal has not taken. May touch: the journal of
/// alarms and the disk ring on the disk thread, its timers, and the system's journal. Everything else leaves as an ``Effect``.
final class EarlyAlarmShell {
    enum Effect {
        case send(AlarmUpload)
    }

    private enum Timer: Hashable {
        case overdue
        /// The early alarms of before are read again.
        case recall
        /// What is to be reported is read again.
        case reports
        /// Alarms that the server may have lost are noted again.
        case forgotten
    }

    /// A server has forgotten points of this entity and service.
    private struct Forgotten {
        let entity: String
        let service: Int64
        var points: ForgottenPoints
    }

    private let context: ShellContext
    private let journal: (any AlarmExecutor)?
    private let ring: any CacheExecutor
    private let tell: (Effect) -> Void
    private let timers: ShellTimers<Timer>
    private var confirmations = ConfirmationMachine()
    private var reporting = AlarmReporting()
    private(set) lazy var notes = AlarmNotes(context) { [unowned self] in write($0) }
    private var recallPause = RetryPause()
    /// What the journal has not been told of yet; few.
    private var forgotten: [Forgotten] = []
    private var forgottenPause = RetryPause()
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
    private static let mostForgotten = 16
    /// Why the journal took no operation.
    private static let busy = "the disk hangs, and too much waits for it"

    init(
        _ context: ShellContext, journal: (any AlarmExecutor)?, ring: any CacheExecutor,
        tell: @escaping (Effect) -> Void
    ) {
        (self.context, self.journal, self.ring, self.tell) = (context, journal, ring, tell)
        timers = ShellTimers(context)
    }

    /// Looks at the alarms that the process before has left, until the disk shows them.
    func open() {
        guard journal != nil else { return }
        let now = context.now
        let isAccepted = onJournal { journal in
            Result { () throws(CacheFileError) in try journal.unconfirmed(now: now) }
        } then: { [self] result in
            switch result {
            case .success(let found): recalled(found)
            case .failure(let error): recallFailed("\(error)")
            }
        }
        if !isAccepted { recallFailed(Self.busy) }
    }

    private func recalled(_ found: [UnconfirmedAlarm]) {
        if recallPause.isFailing {
            context.log.notice("Early alarms of before are read", metadata: ["alarms": "\(found.count)"])
            recallPause.succeeded()
        }
        // Of those that are reported the journal hears later.
        let noted = notes.numbers
        perform(
            confirmations.recalled(
                found.filter { !noted.contains($0.number) }.map {
                    .init(
                        number: $0.number, push: $0.id, entity: $0.entity,
                        cause: PointCause(stream: $0.mark.stream, sequence: $0.mark.sequence))
                }, now: context.now))
    }

    private func recallFailed(_ reason: String) {
        if !recallPause.isFailing {
            context.log.warning(
                "Early alarms of before cannot be read: they are neither confirmed nor reported until they can",
                metadata: .event(.alarmJournalFailed, ["reason": "\(reason)"]))
        }
        timers.set(.recall, milliseconds: recallPause.failed()) { [self] in open() }
    }

    // MARK: Alarms

    /// The journal has new alarms that the agent has found.
    func found(_ alarms: [JournalAlarm]) {
        for alarm in alarms {
            guard let mark = alarm.content.early else { continue }
            confirmations.found(
                .init(
                    number: alarm.number, push: alarm.content.id, entity: alarm.content.entity,
                    cause: PointCause(stream: mark.stream, sequence: mark.sequence)))
        }
    }

    /// The server's push has confirmed an early alarm.
    func confirmed(_ number: UInt64) {
        confirmedCount += 1
        confirmations.confirmed(number)
    }

    /// The server has sent a push, and the journal does not say that it confirms an alarm.
    func heard(_ push: UInt64) { confirmations.heard(push: push) }

    /// A push goes to the disk; and it is there, and acknowledged.
    func came(_ push: UInt64) { confirmations.came(push: push, now: context.now) }
    func acknowledged(push: UInt64) { perform(confirmations.acknowledged(push: push, now: context.now)) }

    /// Whether this process or the one before has told the alarm of a push, and the push has not come.
    func hasTold(_ push: UInt64) -> Bool { confirmations.awaits(push: push) }

    /// The server's push has come for an alarm that the journal has dropped. Of an early one it is the confirmation.
    func cameAfterDrop(_ number: UInt64) {
        if confirmations.confirmed(number) { confirmedCount += 1 }
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
        perform(confirmations.loggedIn(as: entity, now: context.now))
        if let stream {
            perform(confirmations.acknowledged(through: storedThrough, of: stream, isLogin: true, now: context.now))
        }
        if takesReports { perform(reporting.linkOpened()) }
    }

    /// A backup of the server was put back, or its disk has lost what it had: the server is told once more of the alarms that
    /// it may have lost. When a power cut took what the ring had noted of acknowledgements, only the journal can tell.
    private func serverForgot(_ points: ForgottenPoints, of entity: String, _ service: Int64) {
        forgotten.removeAll {
            $0.entity.utf8.elementsEqual(entity.utf8) && $0.service == service && $0.points.stream == points.stream
                && $0.points.sequences.lowerBound >= points.sequences.lowerBound
                && (points.isCertain || !$0.points.isCertain)
        }
        forgotten.append(Forgotten(entity: entity, service: service, points: points))
        if forgotten.count > Self.mostForgotten { forgotten.removeFirst() }
        if !forgottenPause.isFailing { noteForgotten() }
    }

    /// Until the journal has noted it: the next login may find the server ahead of these points again.
    private func noteForgotten() {
        guard let next = forgotten.first else { return }
        let (points, now) = (next.points, context.now)
        let isAccepted = onJournal { journal -> Int? in
            try? journal.reportAgain(of: next.entity, service: next.service, without: points, now: now)
        } then: { [self] count in
            guard let count else { return notingForgottenFailed(points) }
            forgottenPause.succeeded()
            forgotten.removeAll { $0.entity == next.entity && $0.service == next.service && $0.points == points }
            if count > 0 {
                tellReportedAgain(count, points)
                perform(reporting.added())
            }
            noteForgotten()
        }
        if !isAccepted { notingForgottenFailed(points) }
    }

    private func tellReportedAgain(_ count: Int, _ points: ForgottenPoints) {
        let fields: Logger.Metadata = [
            "alarms": "\(count)", "stored_through": "\(points.sequences.lowerBound - 1)",
        ]
        if points.isCertain {
            context.log.notice("The server has lost points: alarms are reported again", metadata: fields)
        } else {
            // The process before may have been killed before it noted what the server has.
            context.log.info("Alarms are reported once more, in case the server does not have them", metadata: fields)
        }
    }

    private func notingForgottenFailed(_ points: ForgottenPoints) {
        guard journal != nil else { return forgotten = [] }
        if !forgottenPause.isFailing, points.isCertain {
            context.log.warning(
                "The server has lost points, and the alarm journal cannot be read to report their alarms again",
                metadata: ["stored_through": "\(points.sequences.lowerBound - 1)"])
        }
        timers.set(.forgotten, milliseconds: forgottenPause.failed()) { [self] in noteForgotten() }
    }

    func linkClosed() {
        reporting.linkClosed()
        confirmations.linkClosed()
    }

    /// The server has every point through this one.
    func acknowledged(through sequence: UInt64, of stream: StreamID) {
        perform(confirmations.acknowledged(through: sequence, of: stream, now: context.now))
    }

    /// The server will never store these points.
    func refused(_ sequences: Set<UInt64>, of stream: StreamID) {
        perform(confirmations.refused(sequences, of: stream))
    }

    /// The ring has lost points, or a person has cleared some.
    func pointsWereLost() { perform(confirmations.pointsWereLost()) }

    /// The server has answered a report.
    func answered(_ answer: AlarmUploadAck) {
        unansweredSince = nil
        let refused = answer.refused.map { (Array($0.key), $0.reason) }
        perform(reporting.acknowledged(answer.id, refused: Dictionary(refused) { first, _ in first }))
    }

    // MARK: The machines

    private func perform(_ actions: [ConfirmationMachine.Action]) {
        for action in actions {
            switch action {
            case .look(let causes): look(for: causes)
            case .report(let numbers): notes.add(.report(.wanted, of: Set(numbers)))
            case .overdue(let numbers):
                let fields: Logger.Metadata = ["alarms": "\(numbers.count)"]
                context.log.warning("The server does not confirm early alarms, so they are reported", metadata: fields)
            case .setTimer(let milliseconds):
                timers.set(.overdue, milliseconds: milliseconds) { [self] in
                    perform(confirmations.timerFired(now: context.now))
                }
            }
        }
    }

    private func look(for causes: [UInt64: PointCause]) {
        let now = context.now
        let found = ring.perform(on: context.loop) { cache in MissingPoints.of(causes, in: cache, now: now) }
        guard let found else { return perform(confirmations.looked(missing: [], unread: causes.keys.sorted())) }
        found.assumeIsolated().whenSuccess { [self] missing, unread in
            perform(confirmations.looked(missing: missing, unread: unread))
        }
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
                for number in numbers { confirmations.confirmed(number) }
                notes.add(.report(.done, of: numbers))
            case .refuse(let number, let reason):
                context.log.warning(
                    "The server takes no report of an alarm", metadata: ["number": "\(number)", "reason": "\(reason)"])
                notes.add(.report(.refused, of: [number]))
            case .setTimer(let milliseconds):
                timers.set(.reports, milliseconds: milliseconds) { [self] in perform(reporting.timerFired()) }
            case .complain(let reason):
                context.log.warning(
                    "Alarms cannot be read from the alarm journal: the server is told of them later",
                    metadata: .event(.alarmJournalFailed, ["reason": "\(reason)"]))
            case .relieved:
                context.log.notice(
                    "Alarms are read from the alarm journal again", metadata: .event(.alarmJournalReturned))
            }
        }
    }

    private func write(_ notes: [AlarmNote]) -> Bool {
        onJournal { journal in
            for note in notes { note.apply(to: journal) }
        } then: { [self] in
            perform(reporting.added())
        } || journal == nil
    }

    private func read() {
        guard let service else { return perform(reporting.readFailed("the login named no service")) }
        let (now, entity) = (context.now, entity)
        let isAccepted = onJournal { journal -> Result<[JournalAlarm], CacheFileError> in
            do throws(CacheFileError) {
                return .success(
                    try journal.reports(
                        of: entity, service: service, limit: AlarmReporting.most, bytes: Self.messageBytes, now: now))
            } catch {
                return .failure(error)
            }
        } then: { [self] result in
            guard ExactName(entity) == ExactName(self.entity), service == self.service else {
                // Another entity has logged in meanwhile, or in another service.
                return perform(reporting.readOutdated())
            }
            let found: [JournalAlarm]
            switch result {
            case .success(let alarms): found = alarms
            case .failure(let error): return perform(reporting.readFailed("\(error)"))
            }
            let noted = notes.numbers
            var (items, unusable): ([AlarmReporting.Item], [UInt64: String]) = ([], [:])
            for alarm in found where !noted.contains(alarm.number) {
                if let item = AlarmReporting.Item(alarm, most: Self.mostBytes) {
                    items.append(item)
                } else {
                    unusable[alarm.number] = "it has no key, or more than \(Self.mostBytes) bytes"
                }
            }
            perform(reporting.read(items, unusable: unusable))
        }
        if !isAccepted { perform(reporting.readFailed(Self.busy)) }
    }

    /// Runs an operation on the journal's thread; false when there is no journal, or too much waits for the disk.
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
    func shutDown() {
        timers.cancelAll()
        notes.shutDown()
    }

    // MARK: Status

    var overdueCount: UInt64 { confirmations.overdueCount }
    /// Early alarms that the server may still confirm.
    var waitingCount: Int { confirmations.count }

    func addMetrics(to page: inout MetricsPage) {
        page.add(AgentMetrics.earlyAlarmsConfirmed, confirmedCount)
        page.add(AgentMetrics.earlyAlarmsUnconfirmed, overdueCount)
        page.add(AgentMetrics.earlyAlarmsWaiting, waitingCount)
        page.add(AgentMetrics.alarmReportsWaiting, reportsWaiting)
        page.add(AgentMetrics.alarmsReported, reporting.counters.reported)
        page.add(AgentMetrics.alarmReportsRefused, reporting.counters.refused)
    }
}
