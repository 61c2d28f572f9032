internal import AgentControl
internal import AgentLogic
internal import Logging
internal import NIOCore
internal import Systemd
internal import TrackModel
internal import TrackWire

/// The long connection to the server: connects, logs in, uploads, and hands on what the server says.
///
/// Owns the `UplinkMachine`, the present link, the batches that were read and not yet sent, and the trust in certificates.
/// May touch: the connector, the clocks, its timers, the journal. Everything else leaves as an ``Effect``.
final class LinkShell {
    let context: ShellContext
    let connector: any LinkConnector
    private let tell: (Effect) -> Void
    private(set) var health: HealthReportTracker
    private let timers: ShellTimers<UplinkTimer>
    private(set) var server: AgentConfiguration.Server
    private(set) var login: AgentLogin

    private(set) var machine: UplinkMachine
    private lazy var channel = LinkChannel(context, connector: connector) { [weak self] id, event in
        self?.said(event, id)
    }
    private(set) lazy var trust = LinkTrust(context) { [weak self] in self?.trustChanged() }
    private(set) var linkLog: LinkLog
    /// Batches that were read and not yet sent.
    private var prepared: [ReadID: PreparedUpload] = [:]
    /// The entity of the login.
    private(set) var entity = ""
    private var ring: RingEnds
    /// The stream that the last login named.
    private var helloStream: StreamID?
    /// What the ring had acknowledged then.
    private var helloAcknowledged: UInt64 = 0
    /// What the server of the last login said.
    private(set) var capabilities = ServerCapabilities()
    /// The point that the ring took last, when this process has gathered it.
    private var newest: LiveHint?
    private(set) var refused = RefusedPoints()
    private var ending: Ending?
    /// By which server fences the gathered points were judged.
    private var judged: JudgedVersions?

    init(
        _ context: ShellContext, connector: any LinkConnector, server: AgentConfiguration.Server, login: AgentLogin,
        machine: UplinkMachine, ring: RingEnds, health: HealthReportTracker = HealthReportTracker { nil },
        tell: @escaping (Effect) -> Void
    ) {
        self.context = context
        self.connector = connector
        self.server = server
        self.login = login
        self.machine = machine
        self.ring = ring
        self.health = health
        self.tell = tell
        timers = ShellTimers(context)
        linkLog = LinkLog(since: context.systemTime)
    }

    // MARK: Wanted or not

    /// Watches the files of certificates and keys.
    func watchCertificates() {
        connector.watch(on: context.loop, log: context.log) { [weak self] certificateReload in
            if case .replaced = certificateReload { self?.linkLog.forgetRefusal() }
            self?.trust.certificatesChanged(certificateReload)
            self?.healthMayHaveChanged()
        }
    }

    /// The service starts as an entity.
    func start(entity new: String) {
        entity = new
        ending = nil
        perform(machine.start(first: ring.first, next: ring.next, now: context.now))
    }

    /// The server says that this vehicle is another entity. `atOnce`: log in as it now; otherwise at the next try.
    func changed(entity new: String, atOnce: Bool) {
        entity = new
        if atOnce { perform(machine.configurationChanged(now: context.now)) }
    }

    /// The service stops. It may upload the remaining points for this time.
    func stop(within milliseconds: Int64) {
        ending = ending ?? .service
        // The points gathered last may still be on their way to the disk: the ring says where the end is.
        tell(.settleCache(before: context.now + milliseconds))
    }

    func cacheSettled(before deadline: MonotonicTime, isDone: Bool) {
        let now = context.now
        perform(
            machine.stop(drainThrough: isDone ? ring.next - 1 : 0, deadline: isDone ? deadline : now, now: now))
    }

    /// The process ends: nothing more is uploaded.
    func shutDown() {
        let now = context.now
        perform(machine.stop(drainThrough: 0, deadline: now, now: now))
        timers.cancelAll()
        trust.shutDown()
    }

    func stopTellingHealth() { ending = .process }
    func stopWatchingCertificates() { connector.stopWatching() }

    /// False: the service is not started.
    func reconnect() -> Bool {
        guard machine.state != .closed else { return false }
        perform(machine.reconnectRequested(now: context.now))
        return true
    }

    /// A login does not wait for the time of its next try.
    func logInNow() { perform(machine.loginRequested(now: context.now)) }
    /// Addresses or routes of this machine changed.
    func networkChanged() { perform(machine.networkChanged(now: context.now)) }

    // MARK: Configuration

    /// Reads certificates and keys anew; completes with warnings for the operator.
    func reload(_ new: AgentConfiguration.Server) -> EventLoopFuture<[String]> {
        connector.reload(new, on: context.loop)
    }

    /// A new configuration is in force. The connection is made anew when the server or the login is another.
    func reconfigure(_ newServer: AgentConfiguration.Server, _ newLogin: AgentLogin) {
        let isAnother = newServer != server || newLogin != login
        (server, login) = (newServer, newLogin)
        if isAnother { linkLog.forgetRefusal() }
        perform(
            isAnother ? machine.configurationChanged(now: context.now) : machine.trustChanged(now: context.now))
        // The certificate may be another one, too.
        healthMayHaveChanged()
    }

    /// Seconds.
    func intervalsChanged(gather: Int, pack: Int) {
        perform(machine.intervalsChanged(gather: gather, pack: pack, now: context.now))
    }

    // MARK: The receiver's time

    func reportArrived() { trust.look() }
    func fixArrived(_ time: Timestamp) { trust.fixArrived(time) }

    /// A connection that failed for its certificates may succeed now.
    private func trustChanged() {
        linkLog.timeHasChanged()
        perform(machine.trustChanged(now: context.now))
        healthMayHaveChanged()
    }

    // MARK: What the cache says

    /// After any operation the ring may have another stream to upload, above all after a return to the disk. Another
    /// stream needs another login.
    func ringIs(_ new: RingEnds) {
        ring = new
        guard let stream = helloStream, ring.stream != stream else { return }
        helloStream = nil
        perform(machine.streamChanged(first: ring.first, next: ring.next, now: context.now))
    }

    func cacheConfirmed(_ id: LinkID, _ confirmation: CacheConfirmation) {
        switch confirmation {
        case .done(let stream):
            perform(
                machine.cacheConfirmed(
                    id, first: ring.first, next: ring.next, isNewStream: ring.stream != stream, now: context.now))
        case .diskHangs:
            perform(
                machine.closing(
                    id, LinkTrouble(.server, "the disk hangs: the cache cannot be read"), retryAfterSeconds: 0,
                    now: context.now))
        }
    }

    func batchRead(_ id: ReadID, _ reading: BatchReading) {
        let outcome: UplinkMachine.ReadOutcome
        switch reading {
        case .postponed: outcome = .unreadable
        case .nothing: outcome = .nothing
        case .batch(let found):
            if found.stream == helloStream {
                prepared[id] = found
                outcome = .batch(
                    first: found.firstSequence, count: found.batch.count, bytes: found.batch.bytes.count)
            } else {
                outcome = .nothing
            }
        }
        perform(machine.batchRead(id, outcome, now: context.now))
    }

    /// A point stands in the ring under this number.
    func appended(_ point: TrackPoint, entity: String, sequence: UInt64) {
        newest = LiveHint(point: point, entity: entity)
        perform(machine.pointsAppended(next: sequence + 1, now: context.now))
    }

    // MARK: What others send

    /// Writes the frame of a request.
    func send(request frame: [UInt8]) {
        guard let id = channel.id else { return }
        channel.send(frame)
        machine.frameSent(id, now: context.now)
    }

    /// The answer to a request is overdue.
    func answerOverdue() { perform(machine.answerOverdue(now: context.now)) }

    /// By which server fences the gathered points are judged.
    func judged(by versions: JudgedVersions) { judged = versions }

    /// Of the entity that is logged in.
    private var ownFences: JudgedVersions? { judged.flatMap { $0.isOf(entity, login.service) ? $0 : nil } }

    /// Writes a message about fences, when the server takes such messages.
    func send(fences message: ClientFrame.OneOf_Message) {
        guard capabilities.fenceFormat > 0, let id = channel.id else { return }
        channel.send(message)
        machine.frameSent(id, now: context.now)
    }

    func acknowledge(push id: UInt64) {
        var acknowledgement = PushAck()
        acknowledgement.ids = [id]
        channel.send(.pushAck(acknowledgement))
    }

    // MARK: The machine

    private func perform(_ actions: [UplinkMachine.Action]) {
        for action in actions {
            switch action {
            case .connect(let id): connect(id)
            case .sendHello:
                (helloStream, helloAcknowledged) = (ring.stream, ring.acknowledged)
                channel.send(.hello(login.hello(as: entity, with: ring, fences: ownFences?.version ?? 0)))
            case .confirmCache(let id, let storedThrough):
                tell(.confirm(id, storedThrough: storedThrough, stream: helloStream))
            case .read(let id, let after, let points, let bytes):
                let limits = BatchLimits(
                    after: after, maximumPoints: points, maximumBytes: bytes, format: capabilities.payloadFormat)
                tell(.read(id, limits))
            case .sendUpload(let id, let first, let count): sendUpload(id, first: first, count: count)
            case .discard(let id): prepared[id] = nil
            case .acknowledgeCache(let sequence):
                if let helloStream { tell(.acknowledge(through: sequence, stream: helloStream)) }
            case .sendHeartbeat:
                let isLast = ending == .process
                channel.send(.heartbeat(isLast ? .init() : health.heartbeat(to: capabilities, at: context.systemTime)))
            case .sendLiveHint:
                if let hint = newest?.heartbeat(as: entity, format: capabilities.payloadFormat) {
                    channel.send(.heartbeat(hint))
                }
            case .sendGoodbye:
                // The last that the server hears of a vehicle that somebody has stopped: that it does not gather any more.
                if ending == .service, capabilities.healthInterval > 0 {
                    channel.send(.heartbeat(health.heartbeat(to: capabilities, at: context.systemTime)))
                }
                channel.send(.goodbye(Goodbye()))
            case .closeLink(let id): if channel.close(id) { prepared = [:] }
            case .serverAhead(let sequence):
                context.log.warning(
                    "The server claims points that were never sent", metadata: ["through": "\(sequence)"])
            case .setTimer(let timer, let milliseconds):
                timers.set(timer, milliseconds: milliseconds) { [self] in
                    perform(machine.timerFired(timer, now: context.now))
                }
            case .cancelTimer(let timer): timers.cancel(timer)
            case .report(let state): changed(to: state)
            case .finished(let isDrained): tell(.finished(isDrained: isDrained))
            }
        }
    }

    /// Something that an operator should know of may have changed.
    func healthMayHaveChanged() {
        if ending != .process, health.hasUrgentChange { perform(machine.healthChanged(now: context.now)) }
    }

    private func connect(_ id: LinkID) {
        guard let trouble = login.trouble else {
            return channel.connect(id, to: server, judgedAt: trust.judgedTime())
        }
        // Not within the machine's own turn.
        context.loop.assumeIsolated().execute { [self] in
            let unusable = LinkTrouble(.configuration, trouble, cause: .credentialsUnusable)
            perform(machine.connectFailed(id, unusable, now: context.now))
        }
    }

    private func changed(to state: LinkState) {
        let hadSession = linkLog.session != nil
        let isNew = linkLog.change(state, now: context.now, at: context.systemTime)
        context.log.tell(
            state, isNew: isNew, hadSession: hadSession, session: linkLog.session, entity: entity,
            server: "\(server.host):\(server.port)")
        trust.follow(state)
        tell(.stateChanged(state))
    }

    // MARK: The connection

    private func said(_ event: LinkChannel.Event, _ id: LinkID) {
        let now = context.now
        switch event {
        case .transportStands: perform(machine.transportConnected(id, now: now))
        case .secured(let encryption): linkLog.encryption = encryption
        case .connected: perform(machine.connected(id, now: now))
        case .failed(let error, let judged):
            perform(machine.connectFailed(id, trust.trouble(error, judged, certificateEnd: certificateEnd), now: now))
        case .frame(let frame): received(frame, id)
        case .arriving: machine.frameArriving(id, now: now)
        case .violation(let error):
            let reason = "the server broke the protocol: \(error.detail)"
            perform(machine.protocolViolated(id, reason: reason, now: now))
        case .closed(let error):
            prepared = [:]
            perform(machine.linkClosed(id, trust.ending(error, certificateEnd: certificateEnd), now: now))
        }
    }

    // MARK: Frames

    private func received(_ frame: ServerFrame, _ id: LinkID) {
        let now = context.now
        switch frame.message {
        case .welcome(let welcome): received(welcome, id)
        case .refused(let refused):
            perform(machine.refused(id, LinkTrouble(refused), retryAfterSeconds: refused.retryAfter, now: now))
        case .uploadAck(let acknowledgement):
            noteRefused(acknowledgement)
            perform(machine.uploadAcknowledged(id, through: acknowledgement.storedThrough, now: now))
        case .closing(let closing):
            perform(
                machine.closing(id, LinkTrouble(closing), retryAfterSeconds: closing.retryAfter, now: now))
        case .pointsReply(let reply):
            perform(machine.frameReceived(id, now: now))
            tell(.replied(reply.id, .points, .pointsReply(reply)))
        case .callReply(let reply):
            perform(machine.frameReceived(id, now: now))
            tell(.replied(reply.id, .call, .callReply(reply)))
        case .push(let push):
            perform(machine.frameReceived(id, now: now))
            tell(.pushed(push, entity: entity))
        case .fenceUpdate(let update):
            perform(machine.frameReceived(id, now: now))
            tell(.fenceUpdate(update))
        case .alarmUploadAck(let answer):
            perform(machine.frameReceived(id, now: now))
            tell(.reportAnswered(answer))
        case .heartbeat, nil: perform(machine.frameReceived(id, now: now))
        }
    }

    private func received(_ welcome: Welcome, _ id: LinkID) {
        linkLog.session = String(welcome.session)
        capabilities = ServerCapabilities(welcome, at: context.systemTime)
        health.loggedIn()
        tell(.welcomed(welcome.trackColumns, serverTime: welcome.serverTime))
        tell(
            .opened(
                takesFences: capabilities.fenceFormat > 0, storedThrough: welcome.storedThrough,
                acknowledged: helloAcknowledged, stream: helloStream))
        perform(
            machine.welcome(
                id, storedThrough: welcome.storedThrough, heartbeatSeconds: welcome.heartbeatInterval,
                healthSeconds: capabilities.healthInterval, limits: UplinkLimits(welcome.limits), now: context.now))
    }

    private func noteRefused(_ acknowledgement: UploadAck) {
        linkLog.answered(refusing: (acknowledgement.refused.first?.reason).map { "\($0)" }, now: context.now)
        guard let first = acknowledgement.refused.first else { return }
        refused.count += UInt64(acknowledgement.refused.count)
        refused.forDate += UInt64(acknowledgement.refused.count { $0.wrongDate })
        refused.last = (context.systemTime, context.now)
        context.log.warning(
            "The server has refused points",
            metadata: ["count": "\(acknowledgement.refused.count)", "first_reason": "\(first.reason)"])
        if let helloStream { tell(.refusedPoints(Set(acknowledgement.refused.map(\.sequence)), stream: helloStream)) }
    }

    private func sendUpload(_ id: ReadID, first: UInt64, count: Int) {
        guard let upload = prepared.removeValue(forKey: id) else { return }
        let isOwn = ExactName(upload.entity) == ExactName(entity)
        var message = Upload(upload.batch, firstSequence: first, entity: isOwn ? "" : upload.entity)
        if capabilities.fenceFormat > 0, let judged, judged.isOf(upload.entity, login.service) {
            message.fenceUses = judged.uses(of: upload)
        }
        channel.send(.upload(message))
    }
}
