package import NIOCore
package import SecureLink

/// One request over a connection of its own, and its answer. Follows no redirect and uses no proxy.
package enum HTTPExchange {
    /// Connects, sends, reads the answer, and closes.
    ///
    /// - Parameters:
    ///   - request: its address says whether TLS is used.
    ///   - security: trust for `https`, made of `TLSClientOptions.web`. Keep it for all requests to
    ///     one server: further connections then resume the TLS session.
    ///   - limits: times and sizes.
    ///   - loop: one of a `MultiThreadedEventLoopGroup`'s.
    /// - Returns: the answer, whatever its status.
    /// - Throws: why there is none.
    package static func run(
        _ request: HTTPRequest, security: TLSContext?, limits: HTTPLimits = HTTPLimits(), on loop: any EventLoop
    ) async throws(HTTPExchangeError) -> HTTPAnswer {
        do {
            return try await begin(request, security, limits, loop).get()
        } catch let error as HTTPExchangeError {
            throw error
        } catch {
            throw HTTPExchangeError(error)
        }
    }

    private static func begin(
        _ request: HTTPRequest, _ security: TLSContext?, _ limits: HTTPLimits, _ loop: any EventLoop
    ) -> EventLoopFuture<HTTPAnswer> {
        let answered = loop.makePromise(of: HTTPAnswer.self)
        let deadline = loop.scheduleTask(in: .seconds(limits.totalSeconds)) {
            answered.fail(HTTPExchangeError(.timeout, "no whole answer within \(limits.totalSeconds) s"))
        }
        let bytes = request.encoded
        let half = TimeAmount.milliseconds(limits.connectSeconds * 500)
        let linkLimits = SecureLink.Limits(
            connect: half, handshake: half, goodbye: .milliseconds(200), unsentBytes: max(4 << 20, bytes.count * 2))
        let initializer: @Sendable (any Channel) -> EventLoopFuture<Void> = { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(HTTPExchangeHandler(limits, answered))
            }
        }
        let (host, port) = (request.address.host, request.address.port)
        let connected: EventLoopFuture<any Channel>
        if request.address.isEncrypted {
            guard let security else {
                deadline.cancel()
                answered.fail(HTTPExchangeError(.configuration, "nothing says whom to trust at \(request.address)"))
                return answered.futureResult
            }
            connected = SecureLink.connect(
                to: host, port: port, on: loop, context: security, limits: linkLimits, initializer: initializer)
        } else {
            connected = SecureLink.connectPlainly(
                to: host, port: port, on: loop, limits: linkLimits, initializer: initializer)
        }
        connected.whenComplete { result in
            switch result {
            case .success(let channel):
                // Whatever the outcome, the connection has done its work.
                answered.futureResult.whenComplete { _ in channel.close(promise: nil) }
                channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
            case .failure(let error): answered.fail(HTTPExchangeError(error))
            }
        }
        answered.futureResult.whenComplete { _ in deadline.cancel() }
        return answered.futureResult
    }
}

extension HTTPExchangeError {
    /// The error of a connection.
    init(_ error: any Error) {
        switch error {
        case let error as HTTPExchangeError: self = error
        case let error as SecureLinkError: self.init(Self.code(error.code), error.detail)
        default: self.init(.unreachable, "the connection failed: \(error)")
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

/// Gives the connection's bytes to the reader, and the reader's result to the promise.
final class HTTPExchangeHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var reader: HTTPAnswerReader
    private let answered: EventLoopPromise<HTTPAnswer>
    /// Why the connection ended, when it did not end well.
    private var trouble: (any Error)?

    init(_ limits: HTTPLimits, _ answered: EventLoopPromise<HTTPAnswer>) {
        reader = HTTPAnswerReader(limits: limits)
        self.answered = answered
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        take(reader.received(Array(unwrapInboundIn(data).readableBytesView)))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        trouble = trouble ?? error
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        take(reader.ended(isWhole: trouble == nil))
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        answered.fail(trouble.map { HTTPExchangeError($0) } ?? HTTPExchangeError(.cut, "the connection ended"))
    }

    private func take(_ action: HTTPAnswerReader.Action) {
        switch action {
        case .wait: break
        case .done(let answer): answered.succeed(answer)
        case .fail(let error):
            // A broken connection says more than an answer that ends too early. Without TLS's goodbye it is only cut.
            if error.code == .cut, let trouble = trouble as? SecureLinkError, trouble.code != .closedByPeer {
                answered.fail(HTTPExchangeError(trouble))
            } else {
                answered.fail(error)
            }
        }
    }
}
