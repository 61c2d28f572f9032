internal import NIOCore

/// TLS for a client's channel: plain bytes on the pipeline's side, TLS records on the socket's side.
///
/// The handlers behind it get `channelActive` after the server has been verified, then ``TLSPeer`` as a user event, and
/// nothing before. Only the promise tells a failed handshake. Writes before that wait. All writes between two flushes
/// go into as few TLS records as possible, because each record costs 22 bytes.
final class OpenSSLClientHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The state of the connection. Each state may go to `closed`.
    enum Phase {
        /// Not yet connected; to `handshaking`.
        case idle
        /// To `open` or `closed`.
        case handshaking(deadline: Scheduled<Void>)
        /// To `closing` or `closed`.
        case open
        /// This side has sent its goodbye and waits for the peer's; to `closed`.
        case closing(deadline: Scheduled<Void>)
        case closed
    }

    /// The most decrypted bytes in one `channelRead`.
    private static let readChunk = 65_536

    let session: TLSSession
    let limits: SecureLink.Limits
    let verified: EventLoopPromise<TLSPeer>
    var phase = Phase.idle
    var pending = MarkedCircularBuffer<(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)>(
        initialCapacity: 4)
    /// Plain bytes that wait here, and encrypted bytes that the socket has not taken.
    var unsent = 0
    var outputClosed = false
    /// The peer has said goodbye, and this side may still write.
    var inputClosed = false
    /// `channelActive` was told.
    private var wasOpen = false
    private var deliveredSinceReadComplete = false
    var closePromises: [EventLoopPromise<Void>] = []

    init(session: TLSSession, limits: SecureLink.Limits, verified: EventLoopPromise<TLSPeer>) {
        self.session = session
        self.limits = limits
        self.verified = verified
    }

    // MARK: - Life

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { beginHandshake(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        settle(SecureLinkError(.cancelled, "the TLS handler was removed from its channel"))
        succeedClosePromises()
    }

    func channelActive(context: ChannelHandlerContext) {
        beginHandshake(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        switch phase {
        case .idle, .handshaking:
            settle(
                SecureLinkError(
                    .closedByPeer,
                    "the connection was closed when TLS began: by the server, or by a proxy or firewall on the way that lets "
                        + "no TLS through here"))
        case .open where !inputClosed:
            // Anyone on the way can cut a connection. Only close_notify shows that the peer itself ended it.
            let error = SecureLinkError(.closedByPeer, "the connection ended without TLS's goodbye")
            settle(error)
            context.fireErrorCaught(error)
        case .open, .closing, .closed:
            settle(SecureLinkError(.closedByPeer, "the connection is closed"))
        }
        succeedClosePromises()
        if wasOpen { context.fireChannelInactive() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let told = (error as? SecureLinkError) ?? SecureLinkError(ofSocket: error)
        guard case .handshaking = phase, told.code == .reset else { return fail(context, told) }
        fail(
            context,
            SecureLinkError(
                .reset,
                "the connection was reset when TLS began: by the server, or by a firewall on the way that lets no TLS through "
                    + "here"))
    }

    // MARK: - Handshake

    private func beginHandshake(_ context: ChannelHandlerContext) {
        guard case .idle = phase else { return }
        let limit = limits.handshake
        let deadline = context.eventLoop.assumeIsolated().scheduleTask(in: limit) {
            self.fail(
                context,
                SecureLinkError(
                    .handshakeTimeout,
                    "no TLS handshake within \(limit.seconds): the port took the connection and then said nothing; a firewall or "
                        + "proxy that holds it, or a server that hangs"))
        }
        phase = .handshaking(deadline: deadline)
        advanceHandshake(context)
    }

    private func advanceHandshake(_ context: ChannelHandlerContext) {
        guard case .handshaking(let deadline) = phase else { return }
        do {
            let progress = try session.handshake()
            sendRecords(context, then: nil)
            switch progress {
            case .needsInput: return
            case .closed: fail(context, SecureLinkError(.closedByPeer, "the server said goodbye in the handshake"))
            case .done:
                deadline.cancel()
                phase = .open
                wasOpen = true
                let peer = session.peer
                context.fireChannelActive()
                context.fireUserInboundEventTriggered(peer)
                verified.succeed(peer)
                encryptFlushed(context)
            }
        } catch {
            fail(context, error)
        }
    }

    // MARK: - Reading

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .closed = phase { return }
        session.receive(unwrapInboundIn(data))
        advanceHandshake(context)
        decrypt(context)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if wasOpen { context.fireChannelReadComplete() }
        // Only a part of a record has arrived. The reader asked for data, so ask for the rest on its behalf.
        if !deliveredSinceReadComplete, context.channel.isActive { context.read() }
        deliveredSinceReadComplete = false
    }

    /// Decrypts the received bytes and passes them on in pieces of limited size.
    private func decrypt(_ context: ChannelHandlerContext) {
        while true {
            let isOpen: Bool
            switch phase {
            case .open: isOpen = true
            case .closing: isOpen = false
            case .idle, .handshaking, .closed: return
            }
            let bound = session.readableBound
            guard bound > 0 else { break }
            var chunk = context.channel.allocator.buffer(capacity: min(bound, Self.readChunk))
            do {
                var progress = TLSSession.Progress.done
                while progress == .done, chunk.readableBytes < Self.readChunk {
                    let room = Self.readChunk - chunk.readableBytes
                    progress = try session.read(into: &chunk, limit: min(room, max(1, session.readableBound)))
                }
                // After close() nobody expects bytes. They are read only to find the peer's goodbye.
                if isOpen, chunk.readableBytes > 0 {
                    deliveredSinceReadComplete = true
                    context.fireChannelRead(wrapInboundOut(chunk))
                }
                sendRecords(context, then: nil)
                switch progress {
                case .done: continue
                case .needsInput: return
                case .closed: return peerSaidGoodbye(context)
                }
            } catch {
                return fail(context, error)
            }
        }
    }

    private func peerSaidGoodbye(_ context: ChannelHandlerContext) {
        switch phase {
        case .idle, .handshaking, .closed: return
        case .closing: finishClosing(context)
        case .open:
            guard !inputClosed else { return }
            let keepsWriting = try? context.channel.syncOptions?.getOption(.allowRemoteHalfClosure)
            if keepsWriting == true, !outputClosed {
                inputClosed = true
                context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
            } else {
                beginClosing(context)
                finishClosing(context)
            }
        }
    }
}
