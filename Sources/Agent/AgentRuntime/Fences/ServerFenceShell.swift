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
internal import TrackWire

/// The server's fences on the vehicle: the gathered points are judged by them as the server will judge them, and the alarms
/// are told at once.
///
/// Owns the `ServerFenceMachine`, the messages of fences that are not whole yet, the deliveries that wait for the thread of long
/// work, and the points that wait for the points of the process before. May touch: the journal of alarms and the disk ring (it
/// reads once for an entity) on the disk thread, the writer of the fences, the thread of long work, its timers, and the system's
/// journal. Everything else leaves as an ``Effect``.
final class ServerFenceShell {
    enum Effect {
        case alarm(FenceAlarmPublisher.Effect)
        /// What the link tells the server from now on.
        case judged(JudgedVersions)
        /// The journal has these new early alarms.
        case found([JournalAlarm])
        /// Ask the server for the fences around a place.
        case request(FenceRequest)
    }

    private enum Timer: Hashable {
        /// A new set waits no longer for the disk.
        case timeout
    }

    private let context: ShellContext
    private let store: ServerFenceStore?
    private let journal: (any AlarmExecutor)?
    private let areHooksOwed: Bool
    private let tell: (Effect) -> Void
    private let timers: ShellTimers<Timer>
    private lazy var publisher = FenceAlarmPublisher(
        context, .server, journal: journal, areHooksOwed: areHooksOwed, tell: { [weak self] in self?.tell(.alarm($0)) },
        found: { [weak self] in self?.tell(.found($0)) },
        happened: { [weak self] event in
            guard let self else { return }
            perform(machine.alarms(event))
        })
    private lazy var file = DurableStateFile(
        context,
        .init(
            failing: "The server's fences could not be written to the disk",
            relieved: "The server's fences are on the disk again",
            write: { [weak self] in self?.write() },
            happened: { [weak self] event in
                // What the disk answers to the last write concerns nobody any more.
                guard let self, !isShutDown else { return }
                saving(event)
            }))
    private var machine: ServerFenceMachine
    private let deliveries: FenceDeliveryQueue
    /// Points wait for those of the process before.
    private let replay: FenceReplayer<(point: FencePoint, cause: PointCause)>
    /// Files of the ring that this process has begun.
    private var filesBegun: UInt64 = 0
    private var since: SystemTime
    private(set) var refusedUpdates: UInt64 = 0
    /// Why the newest update is not in use; nil when it is.
    private(set) var updateTrouble: String?
    /// Why the fences of the process before could not be read; nil when they could, or when they have come again.
    private(set) var fileTrouble: String?
    /// Whether the server of the last login sends fences; nil before the first one.
    private(set) var isSent: Bool?
    private var isShutDown = false

    /// `journal` nil: alarms are told and not kept. `lastBefore`: the last sequence of the ring as it was opened.
    init(
        _ context: ShellContext, journal: (any AlarmExecutor)?, ring: any CacheExecutor, store: ServerFenceStore?,
        lastBefore: UInt64, areHooksOwed: Bool, longWork: any LongWorkExecutor = ImmediateExecutor(),
        tell: @escaping (Effect) -> Void
    ) {
        self.context = context
        deliveries = FenceDeliveryQueue(context, executor: longWork)
        self.journal = journal
        self.store = store
        // The server has judged what it has acknowledged: the vehicle must go on from the same points.
        replay = FenceReplayer(context, ring: ring, through: lastBefore, includesAcknowledged: true)
        self.areHooksOwed = areHooksOwed
        self.tell = tell
        timers = ShellTimers(context)
        since = context.systemTime
        fileTrouble = store?.found.trouble
        let fenceStates = (store?.states ?? []).compactMap { state in
            state.service.flatMap { service in
                (try? EntityFenceState(encoded: state.fenceState)).map {
                    (service: service, entity: state.entity, fenceState: $0)
                }
            }
        }
        machine = ServerFenceMachine(found: store?.found.set, fenceStates: fenceStates)
    }

    /// Tells what the process before has left.
    func open() {
        guard let found = store?.found else { return }
        if let trouble = fileTrouble {
            context.log.warning(
                "Server fences cannot be used: the server sends them again", metadata: ["reason": "\(trouble)"])
        }
        guard let set = found.set else { return }
        context.log.notice(
            "The server's fences are read",
            metadata: ["entity": "\(set.entity)", "version": "\(set.version)", "fences": "\(set.fences.count)"])
    }

    // MARK: Points

    /// The agent runs as this entity, for this service.
    func runs(as entity: String, service: Int64) {
        guard !machine.runs(entity, service) else { return }
        takeWaiting()
        deliveries.forget()
        perform(machine.runs(as: entity, service: service))
        let last = machine.fenceState?.lastTime ?? Timestamp(milliseconds: .min)
        replay.start(of: entity, after: last) { [self] points in
            for found in points { perform(machine.gathered(found.point, cause: found.cause, isLive: false)) }
            if !points.isEmpty { perform(machine.ringLetsGo()) }
            takeWaiting()
        } late: { [self] in
            context.log.warning(
                "The disk does not show the last points of before: server fences are judged without them",
                metadata: ["entity": "\(entity)"])
            takeWaiting()
        }
    }

    /// A point stands in the ring.
    func appended(_ point: TrackPoint, entity: String, cause: PointCause) {
        guard machine.runs(entity, machine.newest.service) else { return }
        let point = FencePoint(point)
        guard !replay.keeps((point, cause)) else { return }
        perform(machine.gathered(point, cause: cause))
    }

    private func takeWaiting() {
        guard let points = replay.end() else { return }
        for (point, cause) in points { perform(machine.gathered(point, cause: cause)) }
        takeDeliveries()
    }

    /// The ring after an operation. `oldest`: the time of the entity's oldest point; nil: there is none. `files`: how many it
    /// has begun: what the server has of the files before is deleted.
    func ringBegins(at oldest: Timestamp?, files: UInt64) {
        guard !replay.isReading else { return }
        perform(machine.ringBegins(at: oldest))
        guard files != filesBegun else { return }
        filesBegun = files
        perform(machine.ringLetsGo())
    }

    /// The entity whose points are judged.
    var entity: String { machine.newest.entity }

    /// Whether an alarm with this number was told before it is on the disk.
    func hasTold(_ id: UInt64) -> Bool { machine.outbox.hasTold(id) }

    /// Everybody has heard of the push with this number.
    func heard(push id: UInt64) { machine.heard(push: id) }

    // MARK: What the server sends

    /// A login succeeded. `isSent`: its server sends fences.
    func loggedIn(isSent: Bool) {
        self.isSent = isSent
        deliveries.forget()
        let actions = machine.loggedIn()
        if isSent { perform(actions) }
    }

    /// The next login tells which fences are in use here: what is not in use yet is sent again.
    func linkClosed() { deliveries.forget() }

    func take(_ update: FenceUpdate) {
        do throws(FenceDeliveryQueue.Failure) {
            guard try deliveries.take(update) else { return }
            takeDeliveries()
        } catch {
            refuse(error.reason, version: update.version)
        }
    }

    /// One delivery after the other: a later one may be the difference to the one before it.
    private func takeDeliveries() {
        guard !replay.isReading, !isShutDown else { return }
        deliveries.workOut { [weak self] in
            self?.machine.beginDelivery()
        } done: { [weak self] version, result in
            guard let self else { return true }
            switch result {
            case .success(let done):
                guard let actions = machine.adopt(done) else { return false }
                (updateTrouble, fileTrouble) = (nil, nil)
                perform(actions)
            case .failure(let failure): refuse(failure.reason, version: version)
            }
            return true
        }
    }

    private func refuse(_ reason: String, version: UInt64) {
        refusedUpdates += 1
        updateTrouble = reason
        context.log.error(
            "Server fences are not taken: the next login asks for all of them",
            metadata: ["version": "\(version)", "reason": "\(reason)"])
        perform(machine.deliveryFailed())
    }

    // MARK: The machine

    private func perform(_ actions: [ServerFenceMachine.Action]) {
        for action in actions {
            switch action {
            case .judging(let action): publisher.perform(action)
            case .saving(let action): file.perform(action)
            case .usesChanged: tell(.judged(judged))
            case .applied(let version, let fences, let isRemembered):
                timers.cancel(.timeout)
                context.log.notice(
                    "Server fences are in use",
                    metadata: ["version": "\(version)", "fences": "\(fences)", "remembered": "\(isRemembered)"])
            case .setTimeout(let milliseconds):
                timers.set(.timeout, milliseconds: milliseconds) { [self] in perform(machine.timedOut()) }
            case .request(let place):
                var request = FenceRequest()
                (request.latitudeE7, request.longitudeE7) = (place.latitudeE7, place.longitudeE7)
                tell(.request(request))
            }
        }
    }

    private var judged: JudgedVersions {
        let newest = machine.newest
        return JudgedVersions(
            service: newest.service, entity: newest.entity, version: machine.toldVersion, uses: newest.uses)
    }

    // MARK: The file

    private func saving(_ event: (inout DurableStateMachine) -> [DurableStateMachine.Action]) {
        let before = machine.saving.standing
        let actions = machine.saving(event)
        if machine.saving.standing != before { since = context.systemTime }
        perform(actions)
    }

    private func write() -> EventLoopFuture<String?>? {
        guard let store, let content = machine.content else { return context.loop.makeSucceededFuture(nil) }
        return store.writer.write(content, on: context.loop)
    }

    /// The agent stops.
    func shutDown() {
        takeWaiting()
        perform(machine.closing())
        isShutDown = true
        timers.cancelAll()
        deliveries.shutDown()
        file.cancelTimers()
        publisher.shutDown()
    }

    /// To ask questions that change nothing.
    var current: ServerFenceMachine { machine }
    var told: [FenceAction: UInt64] { publisher.told }
    var remembered: DurableStateStatus { DurableStateStatus(machine.saving.standing, since: since) }

    func addMetrics(to page: inout MetricsPage) {
        page.add(AgentMetrics.serverFences, machine.set.fences.count)
        page.add(AgentMetrics.serverFencesInside, machine.insideCount)
        page.add(AgentMetrics.serverFencesNotJudged, machine.notJudged.count)
        page.add(AgentMetrics.serverFencesOutdated, updateTrouble != nil)
        page.add(AgentMetrics.serverFencesRemembered, machine.saving.standing == .durable)
        page.add(AgentMetrics.serverFenceUpdatesRefused, refusedUpdates)
        page.add(AgentMetrics.pointsJudged, machine.counters.judged)
        for action in FenceAction.allCases {
            page.add(AgentMetrics.earlyAlarms, publisher.told[action] ?? 0, action.rawValue)
        }
    }
}
