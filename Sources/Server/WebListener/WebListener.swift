import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
package import Logging
package import NIOCore
package import ServerIdentity
import ServiceLifecycle
package import WebAPI

/// One port on which the Web API answers through HTTP, with or without TLS.
package struct WebListener: Service {
    package struct Limits: Sendable {
        /// Seconds for a whole request, for the next piece of an answer to be taken, and between requests.
        package var timeout: Int64
        /// Open connections; more wait unaccepted.
        package var maximumConnections: Int
        /// Bytes of all headers of a request.
        package var maximumHeaderBytes: Int

        package init(timeout: Int64 = 30, maximumConnections: Int = 1000, maximumHeaderBytes: Int = 65_536) {
            self.timeout = timeout
            self.maximumConnections = maximumConnections
            self.maximumHeaderBytes = maximumHeaderBytes
        }
    }

    /// Bytes that one write of an answer carries: a slow client shows progress with each.
    private static let pieceBytes = 65_536

    private let router: APIRouter
    private let host: String
    private let port: Int
    private let identity: ServerIdentity?
    private let limits: Limits
    private let durations: RequestDurations
    private let group: any EventLoopGroup
    private let logger: Logger
    private let onBound: @Sendable (Int) -> Void

    /// The application protocols that an identity must offer.
    package static let applicationProtocols = ["http/1.1"]

    /// With an identity it speaks HTTPS. Port 0 lets the kernel choose; `onBound` gets the port once it listens.
    package init(
        router: APIRouter, host: String, port: Int, identity: ServerIdentity?,
        limits: Limits = Limits(), durations: RequestDurations = RequestDurations(),
        group: any EventLoopGroup, logger: Logger, onBound: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.router = router
        self.host = host
        self.port = port
        self.identity = identity
        self.limits = limits
        self.durations = durations
        self.group = group
        self.logger = logger
        self.onBound = onBound
    }

    /// Throws ``WebListenerError`` when the port cannot be listened on.
    /// Returns after a graceful shutdown: no new connections, requests under way are answered.
    package func run() async throws {
        var quiet = logger
        // One line a request and a connection is more than an operator wants.
        quiet.logLevel = max(logger.logLevel, .warning)
        let application = Application(
            responder: CallbackResponder<ListenerContext> { [self] request, context in
                try await respond(to: request, on: context.channel)
            },
            server: try server(),
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port),
                availableConnectionsDelegate: .maximum(limits.maximumConnections, logger: quiet)),
            onServerRunning: { [onBound] channel in onBound(channel.localAddress?.port ?? 0) },
            eventLoopGroupProvider: .shared(group), logger: quiet)
        do {
            try await application.run()
        } catch let error as IOError {
            throw WebListenerError(
                "\(host):\(port) cannot be listened on (\(error)): choose another port, or end what uses it")
        }
    }

    private func server() throws -> HTTPServerBuilder {
        let timeout = TimeAmount.seconds(limits.timeout)
        let plain = HTTPServerBuilder.http1(
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [ConnectionDeadline(timeout)],
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: limits.maximumHeaderBytes, maxHeaderListSize: limits.maximumHeaderBytes,
                    maxHeaderFieldCount: 100)))
        guard let identity else { return plain }
        return try .tls(
            plain,
            tlsConfiguration: identity.configuration)
    }

    private func respond(to request: Request, on channel: any Channel) async throws -> Response {
        let answer: APIResponse
        do {
            let buffer = try await request.body.collect(upTo: APIRouter.maximumBodyBytes)
            channel.triggerUserOutboundEvent(ConnectionDeadline.Event.requestComplete, promise: nil)
            let began = ContinuousClock.now
            answer = await router.respond(to: APIRequest(request, body: Array(buffer.readableBytesView)))
            durations.record(ContinuousClock.now - began)
        } catch is NIOTooManyBytesError {
            // What is left of the body is read and dropped, until the deadline.
            answer = router.bodyTooLarge()
        }
        var fields = HTTPFields()
        for (name, value) in answer.headers {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        fields[.contentLength] = answer.httpStatus == 204 ? nil : String(answer.body.count)
        return Response(
            status: HTTPResponse.Status(code: answer.httpStatus), headers: fields,
            body: request.method == .head ? ResponseBody() : Self.body(answer.body))
    }

    private static func body(_ bytes: [UInt8]) -> ResponseBody {
        guard bytes.count > pieceBytes else { return ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)) }
        return ResponseBody(contentLength: bytes.count) { writer in
            for start in stride(from: 0, to: bytes.count, by: pieceBytes) {
                try await writer.write(ByteBuffer(bytes: bytes[start..<min(start + pieceBytes, bytes.count)]))
            }
            try await writer.finish(nil)
        }
    }
}

private struct ListenerContext: InitializableFromSource {
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        channel = source.channel
    }
}

extension APIRequest {
    fileprivate init(_ request: Request, body: [UInt8]) {
        self.init(
            method: request.method.rawValue, target: request.head.path ?? "/",
            contentType: request.headers[.contentType],
            requestedHeaders: request.headers[.accessControlRequestHeaders], body: body)
    }
}
