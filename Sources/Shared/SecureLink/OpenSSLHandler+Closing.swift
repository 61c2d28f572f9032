internal import NIOCore

// The end of the connection: in order, or with an error.
extension OpenSSLHandler {
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch mode {
        case .input:
            promise?.fail(ChannelError.operationUnsupported)
        case .output:
            guard case .open = phase, !outputClosed else { promise?.fail(ChannelError.outputClosed); return }
            outputClosed = true
            session.sayGoodbye()
            let sent = context.eventLoop.makePromise(of: Void.self)
            sent.futureResult.assumeIsolated().whenComplete { _ in context.close(mode: .output, promise: promise) }
            sendRecords(context, then: sent)
        case .all:
            switch phase {
            case .idle, .handshaking:
                settle(SecureLinkError(.cancelled, "closed before the TLS handshake was done"))
                context.close(mode: .all, promise: promise)
            case .open:
                if let promise { closePromises.append(promise) }
                beginClosing(context)
            case .closing, .refusing:
                if let promise { closePromises.append(promise) }
            case .closed:
                context.close(mode: .all, promise: promise)
            }
        }
    }

    /// Sends the goodbye and gives the peer a moment for its own. Closing at once could destroy bytes that are still on
    /// their way.
    func beginClosing(_ context: ChannelHandlerContext) {
        guard case .open = phase else { return }
        failPending(ChannelError.ioOnClosedChannel)
        let deadline = context.eventLoop.assumeIsolated().scheduleTask(in: limits.goodbye) {
            self.finishClosing(context)
        }
        phase = .closing(deadline: deadline)
        if !outputClosed {
            outputClosed = true
            session.sayGoodbye()
            sendRecords(context, then: nil)
        }
        // The peer has said goodbye already and sends nothing more.
        if inputClosed { finishClosing(context) }
    }

    func finishClosing(_ context: ChannelHandlerContext) {
        switch phase {
        case .closing, .refusing: break
        case .idle, .handshaking, .open, .closed: return
        }
        settle(SecureLinkError(.closedByPeer, "the connection is closed"))
        context.close(mode: .all, promise: nil)
    }

    /// Ends the connection with an error, and tells it once: to the promise during the handshake, down the pipeline
    /// later.
    func fail(_ context: ChannelHandlerContext, _ error: SecureLinkError) {
        let phase = self.phase
        if isServer, case .handshaking = phase { return refuse(context, error) }
        settle(error)
        switch phase {
        case .closed: return
        case .idle, .handshaking, .closing, .refusing: break
        case .open: context.fireErrorCaught(error)
        }
        // OpenSSL's alert tells the peer the reason, if the peer still listens.
        if let alert = session.transport.takeOutbound() {
            context.writeAndFlush(wrapOutboundOut(alert), promise: nil)
        }
        context.close(mode: .all, promise: nil)
    }

    private func refuse(_ context: ChannelHandlerContext, _ error: SecureLinkError) {
        settle(error)
        outputClosed = true
        let deadline = context.eventLoop.assumeIsolated().scheduleTask(in: limits.goodbye) {
            self.finishClosing(context)
        }
        phase = .refusing(deadline: deadline)
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenComplete { _ in context.close(mode: .output, promise: nil) }
        sendRecords(context, then: sent)
        context.fireErrorCaught(error)
    }

    /// Goes to `closed` and completes everything that waits.
    func settle(_ error: SecureLinkError) {
        switch phase {
        case .handshaking(let deadline), .closing(let deadline), .refusing(let deadline): deadline.cancel()
        case .idle, .open, .closed: break
        }
        phase = .closed
        verified?.fail(error)
        failPending(error)
    }

    private func failPending(_ error: any Error) {
        while let write = pending.popFirst() {
            unsent -= write.bytes.readableBytes
            write.promise?.fail(error)
        }
    }

    func succeedClosePromises() {
        let promises = closePromises
        closePromises = []
        for promise in promises { promise.succeed() }
    }
}
