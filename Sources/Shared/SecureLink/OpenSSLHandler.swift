internal import NIOCore

/// TLS for a channel: plain bytes on the pipeline's side, TLS records on the socket's side.
///
/// The handlers behind a client's get `channelActive` after the server has been verified, then ``TLSPeer`` as a user event, and
/// nothing before. Only the promise tells a failed handshake.
///
/// The handlers behind a server's get `channelActive` when the connection is made, and ``TLSServerEvent/handshakeCompleted(applicationProtocol:)`` after
/// the handshake; `errorCaught` tells a failed one. ``TLSServerEvent/goodbye`` comes with the client's goodbye.
///
/// Writes before the end of the handshake wait. All writes between two flushes go into as few TLS records as possible, because each record
/// costs 22 bytes.
///
/// `OpenSSLHandler+Closing.swift` has the end of a connection.
final class OpenSSLHandler: ChannelDuplexHandler {
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
        /// A server has refused the handshake. It drops what the client still sends until the client ends the connection: a socket that is
        /// closed with bytes unread resets the connection, and the client never reads why it was refused. To `closed`.
        case refusing(deadline: Scheduled<Void>)
        case closed
    }

    /// The most decrypted bytes in one `channelRead`.
    private static let readChunk = 65_536

    let session: TLSSession
    let limits: SecureLink.Limits
    /// Of a client; nil: this is the server's side.
    let verified: EventLoopPromise<TLSPeer>?
    var phase = Phase.idle
    var pending = MarkedCircularBuffer<(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)>(
        initialCapacity: 4)
    /// Plain bytes that wait here, and encrypted bytes that the socket has not taken.
    var unsent = 0
    var outputClosed = false
    /// The peer has said goodbye, and this side may still write.
    var inputClosed = false
    /// `channelActive` was told.
    private var isActive = false
    private var deliveredSinceReadComplete = false
    var closePromises: [EventLoopPromise<Void>] = []

    init(session: TLSSession, limits: SecureLink.Limits, verified: EventLoopPromise<TLSPeer>?) {
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

    var isServer: Bool { verified == nil }

    /// What a server's client has shown; nil: nothing, or the handshake goes on.
    var clientCertificate: TLSClientCertificate? {
        if case .handshaking = phase { return nil }
        return session.clientCertificate
    }

    /// The certificate that the peer has shown, in DER; nil: none, or the handshake goes on.
    var peerCertificate: [UInt8]? {
        if case .handshaking = phase { return nil }
        return session.peerCertificate
    }

    func channelInactive(context: ChannelHandlerContext) {
        switch phase {
        case .idle, .handshaking: settle(.cutInHandshake(byServer: !isServer))
        case .open where !inputClosed:
            // Anyone on the way can cut a connection. Only close_notify shows that the peer itself ended it.
            let error = SecureLinkError(.closedByPeer, "the connection ended without TLS's goodbye")
            settle(error)
            context.fireErrorCaught(error)
        case .open, .closing, .refusing, .closed:
            settle(SecureLinkError(.closedByPeer, "the connection is closed"))
        }
        succeedClosePromises()
        if isActive { context.fireChannelInactive() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let told = (error as? SecureLinkError) ?? SecureLinkError(ofSocket: error)
        guard case .handshaking = phase, told.code == .reset, !isServer else { return fail(context, told) }
        fail(context, .resetInHandshake)
    }

    // MARK: - Handshake

    private func beginHandshake(_ context: ChannelHandlerContext) {
        guard case .idle = phase else { return }
        let (limit, isServer) = (limits.handshake, isServer)
        let deadline = context.eventLoop.assumeIsolated().scheduleTask(in: limit) {
            self.fail(context, .handshakeTimeout(limit, ofServer: !isServer))
        }
        phase = .handshaking(deadline: deadline)
        if isServer {
            isActive = true
            context.fireChannelActive()
        }
        advanceHandshake(context)
    }

    private func advanceHandshake(_ context: ChannelHandlerContext) {
        guard case .handshaking(let deadline) = phase else { return }
        do {
            let progress = try session.handshake()
            sendRecords(context, then: nil)
            switch progress {
            case .needsInput: return
            case .closed: fail(context, SecureLinkError(.closedByPeer, "the peer said goodbye in the handshake"))
            case .done:
                deadline.cancel()
                phase = .open
                if let verified {
                    isActive = true
                    let peer = session.peer
                    context.fireChannelActive()
                    context.fireUserInboundEventTriggered(peer)
                    verified.succeed(peer)
                } else {
                    context.fireUserInboundEventTriggered(
                        TLSServerEvent.handshakeCompleted(applicationProtocol: session.applicationProtocol))
                }
                encryptFlushed(context)
            }
        } catch {
            fail(context, error)
        }
    }

    // MARK: - Reading

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch phase {
        case .refusing, .closed: return
        case .idle, .handshaking, .open, .closing: break
        }
        session.receive(unwrapInboundIn(data))
        advanceHandshake(context)
        decrypt(context)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if isActive { context.fireChannelReadComplete() }
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
            case .idle, .handshaking, .refusing, .closed: return
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
        case .idle, .handshaking, .refusing, .closed: return
        case .closing:
            if isServer { context.fireUserInboundEventTriggered(TLSServerEvent.goodbye) }
            finishClosing(context)
        case .open:
            guard !inputClosed else { return }
            if isServer { context.fireUserInboundEventTriggered(TLSServerEvent.goodbye) }
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

// From writes to TLS records, and from records to the channel.
extension OpenSSLHandler {
    /// About so many encrypted bytes go to the channel in one piece.
    private static let writeChunk = 65_536

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch phase {
        case .closing, .refusing, .closed: promise?.fail(ChannelError.ioOnClosedChannel)
        case .idle, .handshaking, .open:
            guard !outputClosed else { promise?.fail(ChannelError.outputClosed); return }
            let bytes = unwrapOutboundIn(data)
            guard bytes.readableBytes <= limits.unsentBytes - unsent else {
                // A refused write leaves a hole in the stream, so the connection must end.
                let error = SecureLinkError(
                    .sendBufferFull, "more than \(limits.unsentBytes) bytes wait for a peer that reads nothing")
                promise?.fail(error)
                return fail(context, error)
            }
            unsent += bytes.readableBytes
            pending.append((bytes, promise))
        }
    }

    func flush(context: ChannelHandlerContext) {
        pending.mark()
        encryptFlushed(context)
    }

    private func encryptFlushed(_ context: ChannelHandlerContext) {
        guard case .open = phase, pending.hasMark else { return }
        var promises: [EventLoopPromise<Void>] = []
        var record = ByteBuffer()
        do {
            while pending.hasMark, var next = pending.popFirst() {
                if let promise = next.promise { promises.append(promise) }
                unsent -= next.bytes.readableBytes
                if record.readableBytes == 0 {
                    record = next.bytes
                } else if record.readableBytes + next.bytes.readableBytes <= TLSSession.maximumRecord {
                    record.writeBuffer(&next.bytes)
                } else {
                    try encrypt(record, context)
                    record = next.bytes
                }
            }
            try encrypt(record, context)
        } catch {
            for promise in promises { promise.fail(error) }
            return fail(context, error)
        }
        let sent = promises.isEmpty ? nil : context.eventLoop.makePromise(of: Void.self)
        sent?.futureResult.assumeIsolated().whenComplete { result in
            for promise in promises { promise.completeWith(result) }
        }
        sendRecords(context, then: sent)
    }

    private func encrypt(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) throws(SecureLinkError) {
        var bytes = bytes
        while bytes.readableBytes > 0 {
            let count = try session.write(firstOf: bytes)
            bytes.moveReaderIndex(forwardBy: count)
            if session.transport.outbound.readableBytes >= Self.writeChunk { sendRecords(context, then: nil) }
        }
    }

    /// Gives OpenSSL's outbound bytes to the channel. `promise` completes when the socket has taken them and everything
    /// before them.
    func sendRecords(_ context: ChannelHandlerContext, then promise: EventLoopPromise<Void>?) {
        guard let records = session.transport.takeOutbound() else {
            // There are no bytes. An empty write completes after all earlier writes.
            if let promise { context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: promise) }
            return
        }
        let count = records.readableBytes
        unsent += count
        let sent = promise ?? context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenComplete { _ in self.unsent -= count }
        context.writeAndFlush(wrapOutboundOut(records), promise: sent)
        // A peer that makes OpenSSL answer and never reads the answers would fill the memory too.
        if unsent > 2 * limits.unsentBytes {
            fail(context, SecureLinkError(.sendBufferFull, "the peer asks for answers and does not read them"))
        }
    }
}
