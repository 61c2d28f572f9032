internal import NIOCore

// From writes to TLS records, and from records to the channel.
extension OpenSSLClientHandler {
    /// About so many encrypted bytes go to the channel in one piece.
    private static let writeChunk = 65_536

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch phase {
        case .closing, .closed: promise?.fail(ChannelError.ioOnClosedChannel)
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

    func encryptFlushed(_ context: ChannelHandlerContext) {
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
