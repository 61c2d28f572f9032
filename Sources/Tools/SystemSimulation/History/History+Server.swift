internal import Gateway
internal import Ingest
internal import Logging
internal import NIOCore
internal import SecureLink
internal import StoreRecords
internal import TrackModel
internal import TrackStore
internal import TrackTestKit
internal import TrackWire

/// One process of the server.
final class ServerMachine {
    let watch: StoreObserver
    /// Nil until the store is open.
    var core: GatewayCore?
    var ingest: IngestWriter?
    var store: ObservedStore?
    var sockets: [VirtualSocket] = []
    var isStopping = false
    /// It is on the terms of an older program.
    var isOlder = false
    var sessions = SessionModel()
    /// Looks for pushes.
    var watching: Task<Void, Never>?

    init(watch: StoreObserver) {
        self.watch = watch
    }
}

// The fleet's side: starting, dying, committing.
extension History {
    static let serviceID: Int64 = 1

    func startServer() {
        guard server == nil else { return }
        let watch = StoreObserver()
        let machine = ServerMachine(watch: watch)
        server = machine
        machine.isOlder = older?.isOlder(.server) ?? false
        watch.delay = { [unowned self] in Int64.random(in: 0...max(storeTrouble.slowness, 0), using: &dice) }
        watch.clock = { [unowned self] in now }
        watch.failure = { [unowned self] in
            guard storeTrouble.fails else { return nil }
            // Passing and lasting failures.
            return dice.one(in: 4) ? TrackStoreError(.failed, "told to fail") : TrackStoreError(.busy, "told to fail")
        }
        watch.lostAnswer = { [unowned self] in
            guard storeTrouble.losesAnswers, dice.one(in: 2) else { return nil }
            summary.answersLost += 1
            return dice.one(in: 2) ? TrackStoreError(.failed, "the answer is lost") : TrackStoreError(.busy, "the same")
        }
        watch.onOpening = { [unowned self] owner, claim in
            check { () throws(Violation) in try store.open(owner, claim) }
        }
        watchPushes(watch)
        watch.onCommit = { [unowned self] batches, outcomes in committed(batches, outcomes) }
        watchPower(watch)
        let (executor, medium) = (executor, NIOLoopBound(medium, eventLoop: loop))
        let bound = NIOLoopBound(watch, eventLoop: loop)
        let history = NIOLoopBound(self, eventLoop: loop)
        let served = NIOLoopBound(machine, eventLoop: loop)
        let sleep = sleeper
        let work: @Sendable () async -> Void = {
            await executor.beginOutside()
            let store = try? await medium.value.open()
            if let store, (try? await store.services())?.isEmpty == true {
                _ = try? await store.createService(named: "fleet", at: Timestamp(milliseconds: Self.beginning))
                if let service = ServiceID(rawValue: Self.serviceID) {
                    try? await store.addKey(
                        AccessKey(Self.accessKey).hash, secret: nil, to: service, replacing: false,
                        at: Timestamp(milliseconds: Self.beginning))
                    for (key, type) in AttributeModel.columns {
                        let column = ColumnRecord(
                            key: key, type: type, created: Timestamp(milliseconds: Self.beginning))
                        try? await store.addColumn(column, of: .track, in: service)
                    }
                }
            }
            if let store { await history.value.lookAtFences(of: store) }
            executor.endOutside()
            guard medium.value.hasPower else { return history.value.serverLosesPower() }
            guard let store else { return history.value.storeStaysClosed() }
            history.value.serve(
                served.value, ObservedStore(store, watch: bound, executor: executor, sleep: sleep),
                judging: ObservedStore(store, watch: bound, executor: executor, isJudges: true, sleep: sleep))
        }
        Task(executorPreference: executor, operation: work)
    }

    /// Waits in virtual time.
    private var sleeper: @Sendable (Duration) async -> Void {
        let loop = loop
        return { duration in
            let milliseconds =
                duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
            guard milliseconds > 0 else { return }
            await withCheckedContinuation { continuation in
                loop.after(milliseconds) { continuation.resume() }
            }
        }
    }

    private func serve(_ machine: ServerMachine, _ store: ObservedStore, judging: ObservedStore) {
        guard machine.watch.isAlive else { return }
        let quiet = Logger(label: "server") { _ in SwiftLogNoOpLogHandler() }
        let clock = NIOLoopBound(self, eventLoop: loop)
        var limits = GatewayLimits()
        limits.batchPoints = profile.batchPoints
        limits.windowBatches = profile.windowBatches
        limits.windowBytes = profile.windowBytes
        var bounds = IngestLimits()
        if let bytes = profile.waitingBytes { bounds.waitingBytes = bytes }
        let tasks = ServerTasks(executor: executor, sleep: sleeper)
        let ingest = IngestWriter(store: judging, limits: bounds, logger: quiet, tasks: tasks)
        let core = GatewayCore(
            limits: limits, deadlines: GatewayDeadlines(), store: store, ingest: ingest, logger: quiet,
            now: { Timestamp(milliseconds: clock.value.trueTime + 2000) }, callHandler: nil, tasks: tasks)
        machine.core = core
        machine.ingest = ingest
        machine.store = store
        answers.serves(now)
        note("the server serves")
        troubledAt = now
        Task(executorPreference: executor) { await ingest.run() }
        if profile.hasPushes || fences != nil {
            machine.watching = Task(executorPreference: executor) { await core.watchStore() }
        }
    }

    /// The server's end of a new connection; nil when nobody listens.
    func acceptConnection(_ box: AgentBox) -> VirtualSocket? {
        guard let machine = server, let core = machine.core, !machine.isStopping else { return nil }
        guard let service = ServiceID(rawValue: Self.serviceID) else { return nil }
        let socket = VirtualSocket(side: .server, loop: loop)
        let frames = FrameChecker(
            service: service, windowBatches: profile.windowBatches, windowBytes: profile.windowBytes,
            time: { [unowned self] in Timestamp(milliseconds: trueTime) }, model: { [unowned self] in store })
        frameWatches.append(frames)
        watchPushes(frames)
        watchSessions(frames, socket, machine)
        watchPromises(frames)
        watchOlder(box, machine, frames, socket)
        box.connector.onWrite = { frames.agentWrote($0) }
        socket.onWrite = { [unowned self] bytes in
            trace.mix(UInt64(bytes.count))
            frames.serverWrote(bytes)
        }
        do {
            try core.admit(socket)
            try socket.pipeline.syncOperations.addHandler(core.makeConnection(from: "198.51.100.7"))
        } catch {
            socket.close(promise: nil)
            return nil
        }
        machine.sockets.removeAll { !$0.isActive }
        machine.sockets.append(socket)
        loop.execute {
            socket.pipeline.fireUserInboundEventTriggered(
                TLSServerEvent.handshakeCompleted(applicationProtocol: WireLimits.applicationProtocol))
        }
        return socket
    }

    private func committed(_ batches: [IngestBatch], _ outcomes: [IngestOutcome]) {
        check { () throws(Violation) in
            guard batches.count == outcomes.count else {
                throw Violation(guarantee: .exactlyOnce, detail: "the store answered to another number of batches")
            }
            for (batch, outcome) in zip(batches, outcomes) {
                let former = store.storedThrough(of: batch)
                let new = try store.commit(batch, outcome)
                if case .stored = outcome {
                    pushesQueued(with: batch, after: former)
                    try fencesStored(batch, new: new)
                }
                trace.mix(UInt64(new.count))
                let limit = trueTime + 600_000
                if let point = new.first(where: { $0.fix.time.milliseconds > limit }) {
                    throw Violation(
                        guarantee: .exactlyOnce,
                        detail: "a point of \(point.fix.time.milliseconds) was stored, ahead of \(trueTime)")
                }
                guard !isTwins(batch.position?.stream) else {
                    twinStored(new.count)
                    continue
                }
                for point in new { try ledger.stored(point, entity: batch.entity, at: now) }
                if restoring != nil, let stream = batch.position?.stream.bytes {
                    for (point, sequence) in zip(batch.points, batch.sequences) where sequence > former {
                        ledger.came(point, of: batch.entity, as: sequence, stream)
                    }
                }
                if case .stored = outcome, let position = batch.position {
                    ledger.committed(position.stream.bytes, through: position.last)
                }
            }
        }
    }

    /// What the server does from time to time, beside the batches that come.
    func mergeChunks() {
        guard let store = server?.store else { return }
        let now = Timestamp(milliseconds: trueTime)
        let history = NIOLoopBound(self, eventLoop: loop)
        Task(executorPreference: executor) {
            guard let merged = try? await store.mergeChunks(limit: 64, at: now) else { return }
            history.value.summary.chunksMerged += merged
            await history.value.removeOldPushes(store)
        }
    }

    // MARK: Ends

    /// All of it gone at once; `tellingPeers`: the machine lives and its kernel closes the connections.
    func stopServerNow(tellingPeers: Bool) {
        guard let machine = server else { return }
        machine.watch.isAlive = false
        for socket in machine.sockets {
            if tellingPeers { socket.connection?.abort(.server) } else { socket.connection?.drop(.server) }
            socket.sever()
        }
        machine.core?.takeNothingMore()
        machine.ingest?.finish()
        machine.watching?.cancel()
        server = nil
    }

    /// As on SIGTERM: what was received is stored and acknowledged, then every agent is told.
    func stopServerGently(then next: @escaping (History) -> Void) {
        guard let machine = server, let core = machine.core, !machine.isStopping else { return }
        machine.isStopping = true
        core.takeNothingMore()
        machine.ingest?.finish()
        after(2000) { history in
            guard history.server === machine else { return }
            core.dismissAll()
            history.after(1000) { history in
                guard history.server === machine else { return }
                history.stopServerNow(tellingPeers: true)
                next(history)
            }
        }
    }

    // MARK: The end

    /// The real store against the model of it, field by field.
    func compareWithStore() {
        let (executor, medium) = (executor, NIOLoopBound(medium, eventLoop: loop))
        let history = NIOLoopBound(self, eventLoop: loop)
        let work: @Sendable () async -> Void = {
            guard let store = medium.value.current, let service = ServiceID(rawValue: Self.serviceID) else { return }
            await executor.beginOutside()
            let counts = try? await store.counts()
            let problems = try? await store.checkIntegrity()
            await history.value.compareFences(with: store)
            var found: [String: [TrackPoint]] = [:]
            var latest: [String: TrackPoint] = [:]
            for entity in history.value.store.points.keys.sorted() {
                found[entity] = try? await store.points(
                    of: entity, in: service, from: Timestamp(milliseconds: .min),
                    through: Timestamp(milliseconds: .max), limit: 10_000_000
                ).map(\.point)
                latest[entity] = try? await store.entity(named: entity, in: service)?.latest?.point
            }
            executor.endOutside()
            history.value.compare(found, newest: latest, points: counts?.points, problems: problems)
        }
        Task(executorPreference: executor, operation: work)
        loop.run()
    }

    private static func words(_ point: TrackPoint?) -> String {
        guard let point else { return "none" }
        return "\(point.fix.time.milliseconds) at \(point.fix.coordinate)\(point.isParked ? ", parked" : "")"
    }

    private func compare(
        _ found: [String: [TrackPoint]], newest: [String: TrackPoint], points: Int?, problems: [String]?
    ) {
        check { () throws(Violation) in
            guard problems == [] else {
                throw Violation(guarantee: .exactlyOnce, detail: "the store says of itself: \(problems ?? ["nothing"])")
            }
            guard points == store.count else {
                throw Violation(
                    guarantee: .exactlyOnce,
                    detail: "the store counts \(points ?? -1) points, \(store.count) were committed once")
            }
            for (entity, expected) in store.points.sorted(by: { $0.key < $1.key }) {
                // Of two with the same time the later one is shown.
                var latest: [Timestamp: TrackPoint] = [:]
                for point in expected { latest[point.fix.time] = point }
                let wanted = latest.values.sorted { $0.fix.time < $1.fix.time }
                guard found[entity] == wanted else {
                    throw Violation(
                        guarantee: .exactlyOnce,
                        detail: "the store shows \(found[entity]?.count ?? -1) points of \(entity), not the "
                            + "\(wanted.count) that were committed, or others")
                }
                // The newest point may have been told ahead of a track that was then cleared or lost, perhaps all of it.
                let isNewest = { (shown: TrackPoint) in wanted.last.map { shown.fix.time > $0.fix.time } ?? true }
                // An entity that only logged in has neither.
                let shown = newest[entity]
                let isAhead =
                    shown.map { isNewest($0) && (twin != nil || ledger.wasGathered($0, entity: entity)) } ?? false
                guard shown == wanted.last || isAhead else {
                    throw Violation(
                        guarantee: .exactlyOnce,
                        detail: "the latest point of \(entity) is neither the newest of its track nor a later one "
                            + "that was gathered: \(Self.words(newest[entity])) and \(Self.words(wanted.last))")
                }
            }
        }
    }
}
