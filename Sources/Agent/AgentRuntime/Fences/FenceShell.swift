internal import AgentControl
internal import AgentLogic
internal import AlarmLog
internal import Geofencing
internal import LocalFences
internal import Logging
internal import MetricsText
internal import NIOCore
internal import Systemd
internal import TrackModel

/// The vehicle's own fences: every right fix is judged by them, and their alarms go into the journal of alarms on the disk
/// and to everybody.
///
/// Owns the `FenceMachine`, the fixes that wait for the points of the process before, and the callers of changes. May
/// touch: the journal of alarms and the disk ring (it reads once for an entity) on the disk thread, the keeper of the
/// fences, its timers, and the system's journal. Everything else leaves as an ``Effect``.
final class FenceShell {
    typealias Effect = FenceAlarmPublisher.Effect

    private enum Timer: Hashable {
        /// The file of fences is read again.
        case readAgain
    }

    private let context: ShellContext
    private let store: LocalFenceStore?
    private let timers: ShellTimers<Timer>
    private let callers: ChangeCallers
    private var machine: FenceMachine
    private let journal: (any AlarmExecutor)?
    private let areHooksOwed: Bool
    private let tell: (Effect) -> Void
    private lazy var publisher = FenceAlarmPublisher(
        context, .local, journal: journal, areHooksOwed: areHooksOwed, tell: tell,
        happened: { [weak self] event in
            guard let self else { return }
            perform(machine.alarms(event))
        })
    private lazy var file = DurableStateFile(
        context,
        .init(
            failing: "The fences could not be written to the disk", relieved: "The fences are on the disk again",
            write: { [weak self] in self?.write() }, happened: { [weak self] in self?.saving($0) },
            answer: { [callers] in callers.answer($0, $1) }))
    private let importer: FenceImporter
    /// Whose fixes are judged; nil while nothing is gathered.
    private var entity: String?
    /// Fixes wait for the points of the process before.
    private let replay: FenceReplayer<(fix: Fix, floor: String?)>
    private var since: SystemTime
    private var isShutDown = false

    private static let readAgainPause: Int64 = 60_000

    /// `journal` nil: alarms are told and not kept. `lastBefore`: the last sequence of the ring as it was opened.
    init(
        _ context: ShellContext, journal: (any AlarmExecutor)?, ring: any CacheExecutor, store: LocalFenceStore?,
        lastBefore: UInt64, areHooksOwed: Bool, longWork: any LongWorkExecutor = ImmediateExecutor(),
        tell: @escaping (Effect) -> Void
    ) {
        self.context = context
        importer = FenceImporter(context, executor: longWork)
        self.journal = journal
        self.store = store
        replay = FenceReplayer(context, ring: ring, through: lastBefore)
        self.areHooksOwed = areHooksOwed
        self.tell = tell
        timers = ShellTimers(context)
        callers = ChangeCallers(context)
        since = context.systemTime
        var fenceStates: [(String, EntityFenceState)] = []
        for state in store?.states ?? [] where state.service == nil {
            do throws(FenceStateCodingError) {
                fenceStates.append((state.entity, try EntityFenceState(encoded: state.fenceState)))
            } catch {
                context.log.error(
                    "Fence state cannot be read: places are found anew",
                    metadata: ["entity": "\(state.entity)", "reason": "\(error)"])
            }
        }
        machine = FenceMachine(
            table: store?.found.table ?? LocalFenceTable(), fenceStates: fenceStates,
            unreadable: store?.found.unreadable)
    }

    /// Tells what the process before has left.
    func open() {
        guard let found = store?.found else { return }
        tellDamage(of: found)
        if let reason = found.unreadable {
            context.log.error(
                "Fences cannot be read: none is judged, and none can be changed",
                metadata: .event(.stateNotRemembered, ["reason": "\(reason)"]))
            readLater()
        }
        if !found.fences.isEmpty {
            context.log.notice("The fences of this vehicle are read", metadata: ["fences": "\(found.fences.count)"])
        }
    }

    /// What is left of a damaged file stands nowhere until it is written again.
    private func tellDamage(of found: LoadedLocalFences) {
        guard let damage = found.damage else { return }
        context.log.error(
            "The file of the fences was damaged", metadata: .event(.stateNotRemembered, ["reason": "\(damage)"]))
        saving { $0.changed() }
    }

    private func readLater() {
        timers.set(.readAgain, milliseconds: Self.readAgainPause) { [self] in
            guard let reading = store?.writer.read(on: context.loop) else { return readLater() }
            reading.assumeIsolated().whenSuccess { [self] found in
                guard !isShutDown else { return }
                guard found.unreadable == nil else { return readLater() }
                perform(machine.opened(found.table))
                tellDamage(of: found)
            }
        }
    }

    // MARK: Fixes

    /// Fixes of this entity follow. `service`: its number.
    func started(entity new: String, service: Int64) {
        judgeWaiting()
        entity = new
        perform(machine.started(entity: new, service: service))
        guard let last = machine.fenceState(of: new)?.lastTime else { return }
        replay.start(of: new, after: last) { [self] points in
            for found in points { perform(machine.replayed(found.point)) }
            judgeWaiting()
        } late: { [self] in
            context.log.warning(
                "The disk does not show the last points of before: fences are judged without them",
                metadata: ["entity": "\(new)"])
            judgeWaiting()
        }
    }

    /// No fixes follow.
    func stopped() {
        judgeWaiting()
        entity = nil
        perform(machine.stopped())
    }

    /// The login is another service's.
    func serviceChanged(to service: Int64) {
        guard let entity else { return }
        perform(machine.started(entity: entity, service: service))
    }

    /// A fix passed the gates. `floor`: the track attribute of this name.
    func passed(_ fix: Fix, floor: String?) {
        guard !replay.keeps((fix, floor)) else { return }
        perform(machine.fix(fix, floor: floor))
    }

    private func judgeWaiting() {
        for (fix, floor) in replay.end() ?? [] { perform(machine.fix(fix, floor: floor)) }
    }

    // MARK: The machine

    private func perform(_ actions: [FenceMachine.Action]) {
        for action in actions {
            switch action {
            case .judging(let action): publisher.perform(action)
            case .saving(let action): file.perform(action)
            }
        }
    }

    // MARK: The file of fences

    private func saving(_ event: (inout DurableStateMachine) -> [DurableStateMachine.Action]) {
        let before = machine.saving.standing
        let actions = machine.saving(event)
        if machine.saving.standing != before { since = context.systemTime }
        perform(actions)
    }

    private func write() -> EventLoopFuture<String?>? {
        guard let store else { return context.loop.makeSucceededFuture(nil) }
        return store.writer.write(machine.table.fences, nextFence: machine.table.nextFence, on: context.loop)
    }

    /// Completes within 40 ms: with true when the changes so far are on the disk, with false when the disk has not
    /// answered. Fails with `NotRemembered` when they cannot be written.
    func whenDurable(in method: AgentMethod) -> EventLoopFuture<Bool> {
        let (id, answered) = callers.add(method)
        let now = context.now
        saving { $0.asked(id, now: now) }
        return answered
    }

    /// The agent stops: what is not on the disk is written once more, and nobody waits for it.
    func shutDown() {
        judgeWaiting()
        entity = nil
        perform(machine.closing())
        isShutDown = true
        timers.cancelAll()
        importer.shutDown()
        file.cancelTimers()
        publisher.shutDown()
        if machine.saving.standing != .durable, machine.unreadable == nil, let store {
            _ = store.writer.write(machine.table.fences, nextFence: machine.table.nextFence, on: context.loop)
        }
        callers.answerAll()
    }

    // MARK: Calls of the control socket

    /// Does something with the machine that a caller asked for. The caller gets a refusal in the words of the interface.
    func change<Value>(
        in method: AgentMethod, _ body: (inout FenceMachine) throws(FenceRefusal) -> (Value, [FenceMachine.Action])
    ) throws(AgentControlError) -> Value {
        guard !importer.isExclusive else { throw FenceImporter.exclusive(in: method) }
        let before = machine.saving.standing
        do throws(FenceRefusal) {
            let (value, actions) = try body(&machine)
            if machine.saving.standing != before { since = context.systemTime }
            perform(actions)
            return value
        } catch {
            throw AgentControlError(error, in: method)
        }
    }

    /// Nil when the machine knows the time zones of the definitions, or cannot get to know them; otherwise completes when it does.
    func learnZones(of definitions: [FenceDefinition]) -> EventLoopFuture<Void>? {
        let names = Set(definitions.compactMap(\.zoneName)).filter { machine.table.zones[$0] == nil }
        guard !names.isEmpty, let reading = store?.writer.zones(Array(names), on: context.loop) else { return nil }
        let learned = context.loop.makePromise(of: Void.self)
        reading.assumeIsolated().whenComplete { [self] result in
            if case .success(let zones) = result, !zones.isEmpty { perform(machine.zonesRead(zones)) }
            learned.succeed()
        }
        return learned.futureResult
    }

    /// Takes a part of an import, beside the loop. Fails with an `AgentControlError`.
    func take(_ part: FenceImports.Part) -> EventLoopFuture<FenceImports.Taken> { importer.take(part) }

    /// Puts a whole import in force, all of it or nothing. The long part of the work is done beside the loop.
    func importing(_ whole: FenceImports.Whole) -> EventLoopFuture<LocalFenceTable.Imported> {
        importer.putInForce(
            whole,
            .init { [self] (whole) throws(FenceRefusal) in
                try machine.beginImport(whole, now: context.systemTime)
            } isCurrent: { [self] in
                machine.isCurrent($0)
            } adopt: { [self] done in
                let before = machine.saving.standing
                guard let (outcome, actions) = machine.adopt(done) else { return nil }
                if machine.saving.standing != before { since = context.systemTime }
                perform(actions)
                return outcome
            })
    }

    /// To ask questions that change nothing.
    var current: FenceMachine { machine }

    // MARK: Status

    /// `entity`: the one that the service runs as.
    func status(of entity: String) -> FencesStatus {
        let counts = machine.counts(of: entity)
        return FencesStatus(
            kept: Int64(machine.table.fences.count), watching: Int64(counts.watching), inside: Int64(counts.inside),
            alarms: Int64(clamping: publisher.told.values.reduce(0, +)), late: Int64(clamping: machine.counters.late),
            leftOut: Int64(clamping: machine.counters.leftOut),
            dropped: Int64(clamping: machine.outbox.counters.dropped),
            waiting: Int64(machine.outbox.waitingCount), lastAlarmTime: publisher.lastAlarm,
            lastError: machine.outbox.trouble,
            remembered: DurableStateStatus(machine.saving.standing, since: since))
    }

    func addMetrics(of status: FencesStatus?, to page: inout MetricsPage) {
        guard let status else { return }
        page.add(AgentMetrics.fences, status.kept)
        page.add(AgentMetrics.fencesInside, status.inside)
        page.add(AgentMetrics.fencesRemembered, status.remembered.state == .durable)
        page.add(AgentMetrics.fixesJudged, machine.counters.judged)
        for action in FenceAction.allCases {
            page.add(AgentMetrics.fenceAlarms, publisher.told[action] ?? 0, action.rawValue)
        }
        page.add(AgentMetrics.fenceAlarmsWaiting, status.waiting)
        page.add(AgentMetrics.fenceAlarmsDropped, status.dropped)
    }
}
