import Ingest
import Logging
import NIOCore
import NIOSSL
import NIOTLS
import TrackModel
import TrackWire

/// Sent down every pipeline when the gateway stops.
struct GatewayStops: Sendable {}

/// One device connection above TLS: frames in, answers out, deadlines, and reading only while there is room.
///
/// Lives on its channel's event loop. What a frame means is decided by ``LoginRules`` and ``UploadRules``; here is
/// only who waits for whom.
final class GatewayConnection: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Moves down this list only; any phase may go to `closing`.
    enum Phase {
        case handshake
        /// The next frame must be the Hello.
        case hello
        /// The store is being asked; nothing is read.
        case login(LoginRequest)
        case open(OpenSession)
        case closing
    }

    struct OpenSession {
        let rules: UploadRules
        let link: SessionLink
    }

    /// A frame that is decoded and waits for memory to be free.
    enum HeldFrame {
        case upload(Upload)
        case points(Points)
    }

    let core: GatewayCore
    let address: String
    var context: ChannelHandlerContext?
    var phase = Phase.handshake
    /// Of the session, from the Hello on.
    var number: UInt64?
    var window: SessionWindow
    var held: HeldFrame?
    /// Of an open session.
    var claims: SessionClaims?
    var tasks: [UInt64: Task<Void, Never>] = [:]
    var nextTask: UInt64 = 0
    /// Calls that were not answered yet, by a number of the connection's own, with their deadlines.
    var calls: [UInt64: Scheduled<Void>] = [:]
    var pushes: PushMachine
    var pushTimer: Scheduled<Void>?
    /// Whether the log says that this session sends attributes that are no columns.
    var hasToldIgnored = false
    /// Newest points from heartbeats: one is with the writer at a time, and the newest of the others waits.
    var isStoringHint = false
    var waitingHint: TrackPoint?
    private var decoder: FrameDecoder
    private var isDraining = false
    /// The channel asked for bytes while there was no room for them.
    private var isReadWanted = false
    private var isProcessing = false
    private var lastFrame = NIODeadline.uptimeNanoseconds(0)
    private var deadline: Scheduled<Void>?

    init(core: GatewayCore, address: String) {
        self.core = core
        self.address = address
        window = SessionWindow(limits: core.limits)
        pushes = PushMachine(limits: core.limits.pushes)
        decoder = FrameDecoder(maximumFrameBytes: core.limits.loginFrameBytes)
    }

    // MARK: Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        schedule(core.deadlines.handshake)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        finish()
        self.context = nil
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted(let negotiated)? = event as? TLSUserEvent, case .handshake = phase {
            if negotiated == WireLimits.applicationProtocol {
                phase = .hello
                schedule(core.deadlines.login)
            } else {
                core.counters.add(to: \.failedHandshakes)
                close()
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .closing = phase { return }
        decoder.append(unwrapInboundIn(data).readableBytesView)
        resume()
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is GatewayStops else { return context.triggerUserOutboundEvent(event, promise: promise) }
        end(.shutdown, "the server stops or restarts", retryAfter: 5)
        promise?.succeed()
    }

    func read(context: ChannelHandlerContext) {
        // While closing, TLS waits for the peer's goodbye; what else comes is dropped.
        if case .closing = phase { return context.read() }
        if hasRoom { context.read() } else { isReadWanted = true }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        resume()
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case .handshake = phase { core.counters.add(to: \.failedHandshakes) }
        core.logger.debug("connection failed", metadata: metadata(["error": "\(error)"]))
        close()
    }

    // MARK: Reading

    /// Whether a frame may be taken now; otherwise it waits in the decoder, and more bytes wait in the kernel.
    private var hasRoom: Bool {
        switch phase {
        case .handshake, .hello: true
        case .login, .closing: false
        case .open: window.isOpen && held == nil && !isDraining && context?.channel.isWritable == true
        }
    }

    /// Goes on with what has arrived as far as there is room, and asks for more.
    func resume() {
        guard !isProcessing else { return }
        isProcessing = true
        defer { isProcessing = false }
        if let waiting = held, case .open(let session) = phase {
            held = nil
            attempt { () throws(ProtocolViolation) in try self.take(waiting, in: session) }
        }
        var isStarved = false
        while hasRoom, !isStarved {
            attempt { () throws(ProtocolViolation) in isStarved = try !self.takeFrame() }
        }
        if hasRoom, isReadWanted {
            isReadWanted = false
            context?.read()
        }
    }

    /// False when no whole frame has arrived.
    private func takeFrame() throws(ProtocolViolation) -> Bool {
        let frame: ClientFrame
        do {
            guard let bytes = try decoder.next() else { return false }
            frame = try WireCodec.decodeClient(bytes)
        } catch {
            throw ProtocolViolation(error.detail)
        }
        lastFrame = now
        switch phase {
        case .hello: try greet(frame)
        case .open(let session): try take(frame, in: session)
        // A client speaks after the handshake; TLS delivers nothing before it.
        case .handshake, .login, .closing: throw ProtocolViolation("a frame before its time")
        }
        return true
    }

    private func attempt(_ step: () throws(ProtocolViolation) -> Void) {
        do {
            try step()
        } catch {
            core.counters.add(to: \.violations)
            core.logger.info("protocol violation", metadata: metadata(["reason": "\(error.reason)"]))
            end(.protocol, error.reason, retryAfter: 60)
        }
    }

    /// The session begins: frames may be as long as the protocol allows, silence as long as the idle deadline.
    func open(_ session: OpenSession) {
        phase = .open(session)
        decoder.maximumFrameBytes = core.limits.frameBytes
        lastFrame = now
        schedule(core.deadlines.idle)
    }

    /// Takes no further frames; what was submitted is still answered.
    func drain() {
        isDraining = true
    }

    // MARK: Deadlines

    /// The loop's clock.
    private var now: NIODeadline { context?.eventLoop.now ?? lastFrame }

    func schedule(_ delay: TimeAmount) {
        deadline?.cancel()
        deadline = context?.eventLoop.assumeIsolated().scheduleTask(in: delay) { self.deadlinePassed() }
    }

    private func deadlinePassed() {
        switch phase {
        case .handshake:
            core.counters.add(to: \.failedHandshakes)
            close()
        case .hello: end(.protocol, "no hello came in time", retryAfter: 0)
        case .login: end(.busy, "the store did not answer in time", retryAfter: core.deadlines.busyRetryAfter)
        case .open:
            let silent = now - lastFrame
            if !window.isEmpty || held != nil || isDraining {
                // It is we who keep the agent waiting.
                schedule(core.deadlines.idle)
            } else if silent >= core.deadlines.idle {
                end(.idle, "nothing came for \(silent.nanoseconds / 1_000_000_000) s", retryAfter: 0)
            } else {
                schedule(core.deadlines.idle - silent)
            }
        // TLS had its time to say goodbye: the channel is closed under it.
        case .closing:
            let tls = try? context?.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
            tls?.close(promise: nil)
        }
    }

    // MARK: Writing and closing

    func send(_ frame: ServerFrame) {
        guard let context else { return }
        let bytes = WireCodec.encode(frame)
        var buffer = context.channel.allocator.buffer(capacity: bytes.count)
        buffer.writeBytes(bytes)
        context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
    }

    /// Says why, as far as the peer can hear it by now, and closes.
    func end(_ code: ClosingCode, _ reason: String, retryAfter: UInt32) {
        switch phase {
        case .handshake, .closing: break
        case .hello, .login:
            let refusedCode: RefusedCode =
                switch code {
                case .protocol: .protocol
                case .busy, .shutdown: .busy
                case .unspecified, .replaced, .idle, .internal, .UNRECOGNIZED: .internal
                }
            core.counters.refused(refusedCode)
            send(LoginRefusal(refusedCode, reason, retryAfter: retryAfter).frame)
        case .open:
            var closing = Closing()
            closing.code = code
            closing.reason = reason
            closing.retryAfter = retryAfter
            send(ServerFrame(.closing(closing)))
        }
        close()
    }

    func close() {
        if case .closing = phase { return }
        phase = .closing
        held = nil
        // Before the peer can know: who has seen the end finds no session any more.
        if let number { core.registry.remove(number) }
        schedule(core.deadlines.close)
        context?.close(promise: nil)
        if isReadWanted { context?.read() }
    }

    /// The connection is gone: nothing may point to it any more.
    private func finish() {
        phase = .closing
        held = nil
        deadline?.cancel()
        deadline = nil
        for task in tasks.values { task.cancel() }
        tasks = [:]
        for deadline in calls.values { deadline.cancel() }
        calls = [:]
        pushTimer?.cancel()
        pushTimer = nil
        guard let number else { return }
        core.registry.remove(number)
        core.ingest.forget(.session(number))
    }

    func metadata(_ more: Logger.Metadata = [:]) -> Logger.Metadata {
        var metadata = more
        metadata["address"] = "\(address)"
        if let number { metadata["session"] = "\(number)" }
        if case .open(let session) = phase {
            metadata["service"] = "\(session.rules.service.rawValue)"
            metadata["entity"] = "\(session.rules.entity)"
        }
        return metadata
    }
}

extension LoginRefusal {
    var frame: ServerFrame {
        var refused = Refused()
        refused.code = code
        refused.reason = reason
        refused.retryAfter = retryAfter
        return ServerFrame(.refused(refused))
    }
}
