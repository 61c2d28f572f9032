import Ingest
import NIOCore
import SecureLink
import TrackModel
import TrackStore
import TrackWire

/// Sent down every pipeline when the gateway stops.
struct GatewayStops: Sendable {}

/// One device connection above TLS. Turns the events of the channel into events of its ``SessionMachine``, and performs
/// the machine's actions. Decides nothing. Lives on its channel's event loop.
final class GatewayConnection: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let core: GatewayCore
    private let work: SessionWork
    private var journal: SessionJournal
    private var machine: SessionMachine
    private var decoder: FrameDecoder
    private var context: ChannelHandlerContext?
    /// Of the session, from the Hello on.
    private var link: SessionLink?
    /// Of an open session.
    private var entity: EntityKey?
    /// Who an open session is, for the notes of its health.
    private var vehicle: HealthNote?
    /// From where a newer login has taken the stream of the session, until this connection has ended.
    private var successor: String?
    private var timers: [SessionTimer: Scheduled<Void>] = [:]
    /// Actions that are not performed yet: an action may cause events, such as another writability.
    private var queue: [SessionMachine.Action] = []
    private var isPerforming = false
    /// The channel asked for bytes while there was no room for a frame.
    private var isReadWanted = false

    init(core: GatewayCore, address: String, clockProblem: String?) {
        self.core = core
        work = SessionWork(core)
        journal = SessionJournal(core, address: address)
        machine = SessionMachine(
            limits: core.limits, deadlines: core.deadlines, offersCalls: core.callHandler != nil,
            clockProblem: clockProblem)
        decoder = FrameDecoder(maximumFrameBytes: core.limits.loginFrameBytes)
    }

    // MARK: Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        let isWritable = context.channel.isWritable
        tell { machine, now, _ in machine.opened(isWritable: isWritable, now: now) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        tell { machine, _, _ in machine.gone() }
        self.context = nil
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted(let negotiated)? = event as? TLSServerEvent {
            let isOurs = negotiated == WireLimits.applicationProtocol
            let peer = SecureLink.clientCertificate(on: context.channel).flatMap { DevicePeer($0) }
            tell { machine, now, _ in machine.handshakeCompleted(isOurs: isOurs, peer: peer, now: now) }
        }
        if case .goodbye? = event as? TLSServerEvent { endAfterTakeover(isAnswered: true) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !machine.dropsBytes else { return }
        decoder.append(unwrapInboundIn(data).readableBytesView)
        tell { _, _, _ in [] }
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is GatewayStops else { return context.triggerUserOutboundEvent(event, promise: promise) }
        tell { machine, now, _ in machine.stopped(now: now) }
        promise?.succeed()
    }

    func read(context: ChannelHandlerContext) {
        if machine.takesFrames || machine.dropsBytes { context.read() } else { isReadWanted = true }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        let isWritable = context.channel.isWritable
        tell { machine, _, _ in machine.writabilityChanged(isWritable) }
        if isWritable { sendFences() }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        tell { machine, _, _ in machine.gone() }
        endAfterTakeover(isAnswered: false)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        journal.failed(error)
        tell { machine, now, _ in machine.failed(now: now) }
    }

    // MARK: Events from elsewhere

    func settled(_ jobs: [SettledJob]) { tell { $0.settled(jobs, now: $1, clock: $2) } }
    func spaceIsFree() { tell { machine, now, _ in machine.spaceIsFree(now: now) } }
    func drain() { tell { machine, now, _ in machine.drain(now: now) } }
    /// A newer login has the session's stream. `successor`: where it came from, when it is of the same device.
    func replaced(by successor: String?) {
        if !machine.dropsBytes { self.successor = successor }
        tell { machine, now, _ in machine.replaced(now: now) }
    }
    /// The session's access key does not open its service any more.
    func keyEnded() { tell { machine, now, _ in machine.keyEnded(now: now) } }
    /// The session's device may not go on, for this reason.
    func deviceEnded(_ reason: String) { tell { machine, now, _ in machine.deviceEnded(reason, now: now) } }
    /// The session's service was deleted.
    func serviceEnded() { tell { machine, now, _ in machine.serviceEnded(now: now) } }
    /// Whether the session is its vehicle's newest. The others go when a vehicle without a session finds no place.
    func keepsPlace(_ isNewest: Bool) {
        guard let channel = context?.channel, entity != nil else { return }
        core.census.keepsPlace(channel, isSpare: !isNewest)
    }
    /// Another computer has the certificate of the session's device too.
    func deviceCloned(_ reason: String) { tell { machine, now, _ in machine.deviceCloned(reason, now: now) } }
    /// Something was queued for the session's entity.
    func pushesMayWait() { tell { $0.pushesMayWait(now: $1, clock: $2) } }
    /// Fences that concern the session's entity may have changed.
    func fencesMayHaveChanged() { tell { machine, now, _ in machine.fencesMayHaveChanged(now: now) } }
    /// They are acknowledged, by whichever session of the entity.
    func pushesSettled(_ ids: [UInt64]) { tell { $0.pushesSettled(ids, now: $1, clock: $2) } }

    // MARK: The machine

    private typealias Event = (inout SessionMachine, MonotonicTime, Timestamp) -> [SessionMachine.Action]

    private func told(_ event: Event) -> [SessionMachine.Action] {
        let now = context?.eventLoop.now ?? .now()
        return event(&machine, MonotonicTime(milliseconds: Int64(now.uptimeNanoseconds / 1_000_000)), core.now())
    }

    /// Tells the machine an event and performs its actions. Then goes on with the frames that have arrived, as far as
    /// there is room.
    private func tell(_ event: Event) {
        queue += told(event)
        guard !isPerforming else { return }
        isPerforming = true
        repeat {
            while !queue.isEmpty {
                let actions = queue
                queue = []
                for action in actions { perform(action) }
            }
        } while takeFrame()
        isPerforming = false
        guard isReadWanted, machine.takesFrames || machine.dropsBytes else { return }
        isReadWanted = false
        context?.read()
    }

    /// Tells the machine an event that answers an action. The actions of this event come before those that follow the
    /// answered action.
    private func answer(_ event: Event) {
        for action in told(event) { perform(action) }
    }

    /// False when no whole frame has arrived, or none may be taken.
    private func takeFrame() -> Bool {
        guard machine.takesFrames else { return false }
        do throws(WireError) {
            guard let bytes = try decoder.next() else { return false }
            let frame = try WireCodec.decodeClient(bytes)
            queue += told { $0.received(frame, now: $1, clock: $2) }
        } catch {
            queue += told { machine, now, _ in machine.malformed(error.detail, now: now) }
        }
        return true
    }

    // MARK: Actions

    private func perform(_ action: SessionMachine.Action) {
        switch action {
        case .admit(let request): admit(request)
        case .register(let request, let began): register(request, began)
        case .unregister:
            guard let link else { return }
            core.registry.remove(link.number)?.perform { $0.keepsPlace(true) }
        case .openStream(let stream, let entity):
            work.open(stream, of: entity, on: context) { [self] result in
                tell { machine, now, _ in machine.streamOpened(result, now: now) }
            }
        case .findPlaces(let entity, let ranges):
            work.findPlaces(of: entity, in: ranges, on: context) { [self] places in
                tell { machine, now, _ in machine.placesFound(places, now: now) }
            }
        case .reserve(let reservation, let cost):
            guard let link else { return }
            answer { machine, now, clock in
                machine.reserved(reservation, cost: cost, reserve(cost, for: link, clock), now: now, clock: clock)
            }
        case .release(let cost): if let link { core.ingest.cancel(cost, of: link.sender) }
        case .submit(let ticket, let batch, let cost):
            guard let link else { return }
            core.ingest.submit(IngestJob(owner: link, ticket: ticket, batch: batch, cost: cost))
        case .forget: if let link { core.ingest.forget(link.source) }
        case .startCall(let number, let call): start(number, call)
        case .cancelCall(let number): work.cancel(.call(number))
        case .loadPushes(let cursor, let limit):
            guard let entity else { return }
            work.loadPushes(of: entity, after: cursor, limit: limit, on: context) { [self] found in
                tell { $0.pushesLoaded(found, now: $1, clock: $2) }
            }
        case .loadFences(let version, let place):
            guard let entity else { return }
            work.loadFences(of: entity, since: version, around: place, on: context) { [self] answer in
                tell { machine, now, _ in machine.fencesLoaded(answer, now: now) }
            }
        case .sendFences: sendFences()
        case .settlePushes(let outcomes): core.pushOutcomes.settle(outcomes)
        case .send(let frame): send(frame)
        case .sendPush(let push):
            guard context?.channel.isWritable == true else { return }
            core.counters.add(to: \.sentPushes)
            send(ServerFrame(.push(push)))
        case .acceptFrames(let bytes): decoder.maximumFrameBytes = bytes
        case .heard(let report):
            guard let vehicle else { return }
            core.health.heard(report, from: vehicle, at: core.now())
            lookForTwins()
        case .left: if let vehicle { core.health.left(vehicle, at: core.now()) }
        case .show(let point): if let link { core.registry.note(point, of: link.number) }
        case .setTimer(let timer, let milliseconds): set(timer, milliseconds)
        case .cancelTimer(let timer): timers.removeValue(forKey: timer)?.cancel()
        case .abandon:
            for timer in timers.values { timer.cancel() }
            timers = [:]
            work.cancelAll()
        case .note(let note): journal.note(note)
        case .close: context?.close(promise: nil)
        case .cutOff:
            if let context { SecureLink.cutOff(context.channel) }
        }
    }

    private func admit(_ request: LoginRequest) {
        guard let context else { return }
        let number = core.registry.makeNumber()
        link = SessionLink(
            number: number, of: EntityKey(service: request.service, name: request.entity), connection: self,
            eventLoop: context.eventLoop)
        journal.session = number
        work.admit(request, from: journal.address, on: context) { [self] result in
            tell { machine, now, clock in
                let clockProblem = core.ingest.clock.problem(at: clock).map { SessionMachine.Barrier.clockWrong($0) }
                let barrier = core.census.isClosed ? .stopping : clockProblem ?? crowd(of: request.service, result)
                return machine.admitted(result, session: number, barrier: barrier, now: now, clock: clock)
            }
        }
    }

    /// Who may not log in anyway takes no place.
    private func crowd(of service: ServiceID, _ result: Result<AcceptedLogin, LoginRefusal>) -> SessionMachine.Barrier?
    {
        guard case .success = result, let channel = context?.channel else { return nil }
        return core.takePlace(channel, of: service) ? nil : .crowded
    }

    private func reserve(
        _ cost: Int, for link: SessionLink, _ clock: Timestamp
    ) -> SessionMachine.ReservationAnswer {
        if let problem = core.ingest.clock.problem(at: clock) { return .clockWrong(problem) }
        return core.ingest.reserve(cost, for: link) ? .granted : .later
    }

    private func register(_ request: LoginRequest, _ began: Timestamp) {
        guard let link else { return }
        let info = SessionInfo(
            number: link.number, service: request.service, entity: request.entity, address: journal.address,
            agentVersion: request.agentVersion, began: began, liveHint: nil)
        let access: SessionAccess =
            switch request.credential {
            case .key(let hash): .key(AccessKeyUse(service: request.service, hash: hash))
            case .device(let peer): .device(peer.id)
            }
        let entrance = core.registry.add(
            info, stream: request.stream, access: access, start: request.arrival?.boot, link: link)
        let address = entrance.replacedAddress == nil ? nil : info.address
        entrance.replaced?.perform { $0.replaced(by: address) }
        for surplus in entrance.surplus {
            core.counters.add(to: \.surplusSessions)
            surplus.perform { connection in connection.tell { machine, now, _ in machine.outnumbered(now: now) } }
        }
        for other in entrance.others { other.perform { $0.keepsPlace(false) } }
        let entity = EntityKey(service: request.service, name: request.entity)
        self.entity = entity
        journal.entity = entity
        let device: DeviceID? = if case .device(let id) = access { id } else { nil }
        if let device, core.clones.refuses(device, request.arrival) {
            link.perform { $0.deviceCloned(CloneEnforcement.reason(device)) }
        }
        let vehicle = HealthNote(entity: entity, heard: began, agentVersion: request.agentVersion, device: device)
        self.vehicle = vehicle
        core.health.heard(nil, from: vehicle, at: began)
        if let device, let former = entrance.replacedAddress {
            tell(of: core.clones.taken(device, entity, by: info.address, from: former, at: core.now()))
        }
        lookForTwins()
    }

    private func lookForTwins() {
        if let link, let device = vehicle?.device {
            tell(of: core.clones.heard(link.number, of: device, at: core.now()))
        }
    }

    /// The connection whose stream a newer login has taken ends.
    private func endAfterTakeover(isAnswered: Bool) {
        guard let successor, let entity, let device = vehicle?.device else { return }
        self.successor = nil
        tell(of: core.clones.ended(device, entity, (journal.address, isAnswered), takenBy: successor, at: core.now()))
    }

    private func tell(of copy: (@Sendable () async -> Void)?) {
        if let copy { Task(executorPreference: core.tasks.executor) { await copy() } }
    }

    private func start(_ number: UInt64, _ call: Call) {
        guard let entity else { return }
        let isStarted = work.start(number, call, by: entity, on: context) { [self] status, json in
            tell { machine, now, _ in machine.callAnswered(number, status: status, json: json, now: now) }
        }
        answer { machine, now, _ in machine.callStarted(number, isStarted, now: now) }
    }

    private func send(_ frame: ServerFrame) {
        guard let context else { return }
        let bytes = WireCodec.encode(frame)
        var buffer = context.channel.allocator.buffer(capacity: bytes.count)
        buffer.writeBytes(bytes)
        context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
    }

    /// As many parts as the channel takes: fences that an agent does not read must not pile up here.
    private func sendFences() {
        while context?.channel.isWritable == true {
            var isSent = false
            answer { machine, now, _ in
                guard let actions = machine.nextFences(now: now) else { return [] }
                isSent = true
                return actions
            }
            guard isSent else { return }
        }
    }

    private func set(_ timer: SessionTimer, _ milliseconds: Int64) {
        timers.removeValue(forKey: timer)?.cancel()
        timers[timer] = context?.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(milliseconds)) { [self] in
            timers[timer] = nil
            tell { $0.timerFired(timer, now: $1, clock: $2) }
        }
    }
}
