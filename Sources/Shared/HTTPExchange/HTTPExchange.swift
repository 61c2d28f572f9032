package import NIOCore
package import SecureLink

/// One request over a connection of its own, and its answer. Follows no redirect and uses no proxy.
package enum HTTPExchange {
    /// Connects, sends, reads the answer, and closes.
    ///
    /// - Parameters:
    ///   - request: its address says whether TLS is used, and the name in the server's certificate.
    ///   - host: where to connect to: a numeric address of the server; nil: the host of the request's address.
    ///   - security: trust for `https`, made of `TLSClientOptions.web`. Keep it for all requests to
    ///     one server: further connections then resume the TLS session.
    ///   - limits: times and sizes.
    ///   - loop: one of a `MultiThreadedEventLoopGroup`'s.
    /// - Returns: the answer, whatever its status.
    /// - Throws: why there is none. A task that is cancelled closes the connection.
    package static func run(
        _ request: HTTPRequest, at host: String? = nil, security: TLSContext?, limits: HTTPLimits = HTTPLimits(),
        on loop: any EventLoop
    ) async throws(HTTPExchangeError) -> HTTPAnswer {
        try await answer(within: limits.total, on: loop) { answered in
            connect(to: request.address, at: host, security, limits, loop).whenComplete { result in
                switch result {
                case .success(let channel):
                    // Whatever the outcome, the connection has done its work.
                    answered.futureResult.whenComplete { _ in channel.close(promise: nil) }
                    HTTPExchangeHandler.begin(request.encoded(), on: channel, limits, answered)
                case .failure(let error): answered.fail(error)
                }
            }
        }
    }

    /// `begin` has the promise kept; it fails when the time is over or the task is cancelled.
    static func answer(
        within limit: Duration, on loop: any EventLoop, begin: @Sendable (EventLoopPromise<HTTPAnswer>) -> Void
    ) async throws(HTTPExchangeError) -> HTTPAnswer {
        let answered = loop.makePromise(of: HTTPAnswer.self)
        let deadline = loop.scheduleTask(in: TimeAmount(limit)) {
            answered.fail(HTTPExchangeError(.timeout, "no whole answer within \(limit.components.seconds) s"))
        }
        answered.futureResult.whenComplete { _ in deadline.cancel() }
        do {
            return try await withTaskCancellationHandler {
                begin(answered)
                return try await answered.futureResult.get()
            } onCancel: {
                answered.fail(HTTPExchangeError(.cancelled, "the request was broken off"))
            }
        } catch {
            throw HTTPExchangeError(error)
        }
    }

    /// A connection with an ``HTTPExchangeHandler``.
    static func connect(
        to address: HTTPAddress, at host: String?, _ security: TLSContext?, _ limits: HTTPLimits, _ loop: any EventLoop
    ) -> EventLoopFuture<any Channel> {
        let half = TimeAmount(limits.connect / 2)
        let linkLimits = SecureLink.Limits(
            connect: half, handshake: half, goodbye: .milliseconds(200), unsentBytes: 64 << 20)
        let initializer: @Sendable (any Channel) -> EventLoopFuture<Void> = { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(HTTPExchangeHandler())
            }
        }
        let place = host ?? address.host
        guard address.isEncrypted else {
            return SecureLink.connectPlainly(
                to: place, port: address.port, on: loop, limits: linkLimits, initializer: initializer)
        }
        guard let security else {
            return loop.makeFailedFuture(
                HTTPExchangeError(.configuration, "nothing says whom to trust at \(address)"))
        }
        return SecureLink.connect(
            to: place, named: address.host, port: address.port, on: loop, context: security, limits: linkLimits,
            initializer: initializer)
    }
}

extension HTTPExchangeError {
    /// The error of a connection.
    init(_ error: any Error) {
        switch error {
        case let error as HTTPExchangeError: self = error
        case let error as SecureLinkError:
            self.init(Self.code(error.code), error.detail, unconnected: Self.unconnected(error.code))
        default: self.init(.unreachable, "the connection failed: \(error)")
        }
    }

    private static func unconnected(_ code: SecureLinkError.Code) -> Unconnected? {
        switch code {
        case .nameResolution: .noAddress
        case .networkUnreachable: .noRoute
        case .connectRefused: .refused
        case .connectTimeout: .timeout
        default: nil
        }
    }

    private static func code(_ code: SecureLinkError.Code) -> Code {
        switch code {
        case .certificateExpired, .certificateNotYetValid, .certificateUntrusted, .foreignServer, .certificateWrongName,
            .pinMismatch, .protocolVersion, .alpnMismatch, .clientCertificateRefused, .clientCertificateExpired:
            .untrusted
        case .configuration, .pinRefused: .configuration
        case .nameResolution, .connectTimeout, .connectRefused, .networkUnreachable, .notTLS, .plainHTTP, .signInPage,
            .handshakeTimeout, .closedByPeer, .reset, .peerSilent, .sendBufferFull, .cancelled, .other:
            .unreachable
        }
    }
}

/// Gives the connection's bytes to the reader of the present exchange, and the reader's result to its promise.
final class HTTPExchangeHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private struct Exchange {
        var reader: HTTPAnswerReader
        let answered: EventLoopPromise<HTTPAnswer>
    }

    private var exchange: Exchange?
    /// Why the connection ended, when it did not end well.
    private var trouble: (any Error)?
    /// Whether the connection can take another request.
    private(set) var isIdle = true
    /// The connection ended before anything of the last answer came.
    private(set) var endedUntouched = false

    /// Sends a request, and keeps the promise. Call it on the loop of the channel, when no other exchange is under way.
    static func begin(
        _ bytes: [UInt8], on channel: any Channel, _ limits: HTTPLimits, _ answered: EventLoopPromise<HTTPAnswer>
    ) {
        do {
            let handler = try channel.pipeline.syncOperations.handler(type: HTTPExchangeHandler.self)
            handler.exchange = Exchange(reader: HTTPAnswerReader(limits: limits), answered: answered)
            (handler.isIdle, handler.endedUntouched) = (false, false)
            channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
        } catch {
            answered.fail(HTTPExchangeError(.cut, "the connection ended without an answer"))
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Array(unwrapInboundIn(data).readableBytesView)
        // Nobody has asked.
        guard exchange != nil else { return context.close(promise: nil) }
        take(exchange?.reader.received(bytes) ?? .wait)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        trouble = trouble ?? error
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        isIdle = false
        endedUntouched = exchange?.reader.isUntouched ?? false
        take(exchange?.reader.ended(isWhole: trouble == nil) ?? .wait)
    }

    /// The present exchange has ended for whoever asked: its connection is of no use any more.
    func abandon() {
        let present = exchange
        (exchange, isIdle, endedUntouched) = (nil, false, false)
        present?.answered.fail(HTTPExchangeError(.cancelled, "the request was broken off"))
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        exchange?.answered.fail(
            trouble.map { HTTPExchangeError($0) } ?? HTTPExchangeError(.cut, "the connection ended"))
        (exchange, isIdle) = (nil, false)
    }

    private func take(_ action: HTTPAnswerReader.Action) {
        guard let present = exchange, action != .wait else { return }
        exchange = nil
        switch action {
        case .wait: break
        case .done(let answer):
            isIdle = present.reader.leavesConnection
            present.answered.succeed(answer)
        case .fail(let error):
            // A broken connection says more than an answer that ends too early. Without TLS's goodbye it is only cut.
            if error.code == .cut, let trouble = trouble as? SecureLinkError, trouble.code != .closedByPeer {
                present.answered.fail(HTTPExchangeError(trouble))
            } else {
                present.answered.fail(error)
            }
        }
    }
}
