import ConnectionLimits
package import Enrolment
import HTTPTypes
import Hummingbird
import HummingbirdCore
package import Logging
package import NIOCore
import SecureLink
package import ServerIdentity
import ServiceLifecycle
package import WebAPI

/// One port on which the Web API answers through HTTP, with or without TLS.
package struct WebListener: Service {
    package struct Limits: Sendable {
        /// Seconds for the headers of a request, for its body, for the next piece of an answer to be taken, and between
        /// requests.
        package var timeout: Int64
        /// Open connections. For one more the oldest without a valid key goes.
        package var maximumConnections: Int
        /// Of these from one address.
        package var connectionsPerAddress: Int
        /// Bytes of all headers of a request.
        package var maximumHeaderBytes: Int

        package init(
            timeout: Int64 = 30, maximumConnections: Int = 1000, connectionsPerAddress: Int = 100,
            maximumHeaderBytes: Int = 65_536
        ) {
            self.timeout = timeout
            self.maximumConnections = maximumConnections
            self.connectionsPerAddress = connectionsPerAddress
            self.maximumHeaderBytes = maximumHeaderBytes
        }
    }

    /// Bytes that one write of an answer carries: a slow client shows progress with each.
    static let pieceBytes = 65_536

    private let router: APIRouter
    private let files: @Sendable (String) -> String
    private let host: String
    private let port: Int
    private let identity: ServerIdentity?
    /// Who answers claims of vehicles; nil: nobody.
    let enrolments: (any EnrolmentResponder)?
    private let limits: Limits
    private let memory: RequestMemoryLimit
    private let counters: WebCounters
    private let durations: RequestDurations
    private let group: any EventLoopGroup
    private let logger: Logger
    private let onBound: @Sendable (Int) -> Void

    /// The application protocols that an identity must offer.
    package static let applicationProtocols = ["http/1.1"]

    /// With an identity it speaks HTTPS. Port 0 lets the kernel choose; `onBound` gets the port once it listens. `memory` and
    /// `counters` are those of all listeners. `files` tells where the file of an export is, by the export's token. `enrolments` answers
    /// claims of vehicles, which are taken over HTTPS alone.
    package init(
        router: APIRouter, files: @escaping @Sendable (String) -> String, host: String, port: Int,
        identity: ServerIdentity?, enrolments: (any EnrolmentResponder)? = nil,
        limits: Limits = Limits(), memory: RequestMemoryLimit = RequestMemoryLimit(),
        counters: WebCounters = WebCounters(),
        durations: RequestDurations = RequestDurations(),
        group: any EventLoopGroup, logger: Logger, onBound: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.router = router
        self.files = files
        self.host = host
        self.port = port
        self.identity = identity
        self.enrolments = enrolments
        self.limits = limits
        self.memory = memory
        self.counters = counters
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
                try await respond(to: request, context)
            },
            server: try server(),
            configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { [onBound] channel in onBound(channel.localAddress?.port ?? 0) },
            eventLoopGroupProvider: .shared(group), logger: quiet)
        do {
            try await application.run()
        } catch let error as IOError {
            throw WebListenerError(
                "\(host):\(port) cannot be listened on (\(error)): choose another port, or end what uses it")
        }
    }

    var isSecure: Bool { identity != nil }

    func path(of file: ServedFile) -> String { files(file.token) }

    private func server() throws -> HTTPServerBuilder {
        let (limits, memory, counters, identity) = (limits, memory, counters, identity)
        let gate = WebConnectionGate(
            .init(connections: limits.maximumConnections, perAddress: limits.connectionsPerAddress), counters: counters)
        return HTTPServerBuilder { responder in
            let plain = HTTP1Channel(
                responder: responder,
                configuration: HTTP1Channel.Configuration(
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: limits.maximumHeaderBytes, maxHeaderListSize: limits.maximumHeaderBytes,
                        maxHeaderFieldCount: 100)))
            func guarded(_ base: some ServerChildChannel) -> any ServerChildChannel {
                GuardedChannel(base: base, limits: limits.timeouts, gate: gate, memory: memory, counters: counters)
            }
            guard let identity else { return guarded(plain) }
            return guarded(SecureChannel(plain, identity))
        }
    }

    private func respond(to request: Request, _ context: ListenerContext) async throws -> Response {
        if let response = try await enrol(request, context) { return response }
        let (answer, channel): (APIResponse, any Channel)
        channel = context.channel
        if let body = try await body(of: request, on: channel) {
            let began = ContinuousClock.now
            answer = await router.respond(
                to: APIRequest(
                    request, body: body, isSecure: identity != nil, address: channel.remoteAddress?.ipAddress))
            durations.record(ContinuousClock.now - began)
        } else {
            // What is left of the body is read and dropped, until its time is over.
            answer = router.bodyTooLarge()
        }
        if answer.hasValidKey { channel.triggerUserOutboundEvent(ConnectionGuard.Event.keyShown, promise: nil) }
        channel.triggerUserOutboundEvent(ConnectionGuard.Event.answerMade(bytes: answer.body.count), promise: nil)
        var fields = HTTPFields()
        for (name, value) in answer.headers {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        if let file = answer.file { return try await respond(with: file, fields, to: request, context) }
        fields[.contentLength] = answer.httpStatus == 204 ? nil : String(answer.body.count)
        return Response(
            status: HTTPResponse.Status(code: answer.httpStatus), headers: fields,
            body: request.method == .head ? ResponseBody() : Self.body(answer.body))
    }

    /// Nil when it is too large, which is known before the first byte of it when the client says how much will come.
    private func body(of request: Request, on channel: any Channel) async throws -> [UInt8]? {
        let announced = request.headers[.contentLength].flatMap { Int($0) }
        guard (announced ?? 0) <= APIRouter.maximumBodyBytes else { return nil }
        if announced ?? .max > Self.pieceBytes, await router.knowsKey(of: request.head.path ?? "") {
            channel.triggerUserOutboundEvent(ConnectionGuard.Event.keyShown, promise: nil)
        }
        channel.triggerUserOutboundEvent(ConnectionGuard.Event.bodyWanted, promise: nil)
        var body: [UInt8] = []
        for try await piece in request.body {
            guard body.count + piece.readableBytes <= APIRouter.maximumBodyBytes else { return nil }
            body += piece.readableBytesView
        }
        return body
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

/// Secures a connection before its base sets it up.
private struct SecureChannel<Base: ServerChildChannel>: ServerChildChannel {
    private let base: Base
    private let identity: ServerIdentity

    /// The guard of the connection has a shorter time for the handshake. It writes no further piece of an answer before the client has taken
    /// most of the former one.
    private static var limits: SecureLink.Limits {
        SecureLink.Limits(handshake: .seconds(120), goodbye: .seconds(5), unsentBytes: 32 << 20)
    }

    init(_ base: Base, _ identity: ServerIdentity) {
        (self.base, self.identity) = (base, identity)
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        channel.eventLoop.makeCompletedFuture {
            try SecureLink.secure(channel, with: identity.context, limits: Self.limits)
        }.flatMap { base.setup(channel: channel, logger: logger) }
    }

    func handle(value: Base.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}

extension WebListener.Limits {
    /// An answer that takes four times as long as a client may take is not waited for.
    var timeouts: ConnectionTimeouts.Limits {
        ConnectionTimeouts.Limits(
            client: .seconds(timeout), answer: .seconds(4 * timeout), parting: .seconds(min(timeout, 5)),
            requestsAhead: 32)
    }
}

struct ListenerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}

extension APIRequest {
    fileprivate init(_ request: Request, body: [UInt8], isSecure: Bool, address: String?) {
        self.init(
            method: request.method.rawValue, target: request.head.path ?? "/",
            contentType: request.headers[.contentType],
            requestedHeaders: request.headers[.accessControlRequestHeaders], body: body,
            origin: request.head.authority.flatMap { Self.origin(of: $0, isSecure: isSecure) }, address: address,
            referer: request.headers[.referer])
    }

    /// Nil when the client names no host that can stand in a link.
    private static func origin(of authority: String, isSecure: Bool) -> String? {
        let isUsable = authority.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || ".-_:[]".utf8.contains(byte)
        }
        guard isUsable, !authority.isEmpty, authority.utf8.count <= 261 else { return nil }
        return "\(isSecure ? "https" : "http")://\(authority)"
    }
}

/// Why a port cannot be listened on: a sentence that says what to do.
package struct WebListenerError: Error, Equatable, CustomStringConvertible {
    package let detail: String

    package init(_ detail: String) {
        self.detail = detail
    }

    package var description: String { detail }
}

extension WebListener {
    /// Nil when the request is no call of enrolment, or when nobody answers these.
    func enrol(_ request: Request, _ context: ListenerContext) async throws -> Response? {
        guard let enrolments else { return nil }
        let path = String((request.head.path ?? "").prefix { $0 != "?" })
        guard path.hasPrefix(EnrolmentCall.prefix) else { return nil }
        let channel = context.channel
        let address = channel.remoteAddress?.ipAddress
        let reply: EnrolmentReply
        if !isSecure {
            // Its body is not looked at: what it carries has been sent readable.
            reply = enrolments.refusePlainHTTP(from: address)
        } else if let body = try await smallBody(of: request, on: channel) {
            reply = await enrolments.answer(
                EnrolmentCall(
                    method: request.method.rawValue, path: path, body: body, address: address,
                    origin: EnrolmentLimits.Origin(
                        ClientAddress.group(channel.remoteAddress), site: ClientAddress.site(channel.remoteAddress))))
        } else {
            reply = enrolments.refuseLarge(from: address)
        }
        channel.triggerUserOutboundEvent(ConnectionGuard.Event.answerMade(bytes: reply.body.count), promise: nil)
        var fields = HTTPFields()
        fields[.contentType] = "application/json; charset=utf-8"
        fields[.cacheControl] = "no-store"
        fields[.contentLength] = String(reply.body.count)
        if let seconds = reply.retryAfter { fields[.retryAfter] = String(seconds) }
        return Response(
            status: HTTPResponse.Status(code: reply.status), headers: fields,
            body: request.method == .head ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: reply.body)))
    }

    /// Nil when it is too large.
    private func smallBody(of request: Request, on channel: any Channel) async throws -> [UInt8]? {
        let most = EnrolmentCall.maximumBodyBytes
        guard (request.headers[.contentLength].flatMap { Int($0) } ?? 0) <= most else { return nil }
        channel.triggerUserOutboundEvent(ConnectionGuard.Event.bodyWanted, promise: nil)
        var body: [UInt8] = []
        for try await piece in request.body {
            guard body.count + piece.readableBytes <= most else { return nil }
            body += piece.readableBytesView
        }
        return body
    }

    /// A file, or the part of it that the client wants to go on with.
    func respond(
        with file: ServedFile, _ former: HTTPFields, to request: Request, _ context: ListenerContext
    ) async throws -> Response {
        var fields = former
        fields[.acceptRanges] = "bytes"
        let last = file.bytes - 1
        var (status, range): (HTTPResponse.Status, ClosedRange<Int64>) = (.ok, 0...max(last, 0))
        switch Self.range(request.headers[.range], last: last) {
        case .all: break
        case .part(let part):
            (status, range) = (.partialContent, part)
            fields[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound)/\(file.bytes)"
        case .beyond:
            fields[.contentRange] = "bytes */\(file.bytes)"
            fields[.contentLength] = "0"
            return Response(status: .rangeNotSatisfiable, headers: fields, body: ResponseBody())
        }
        fields[.contentLength] = String(range.count)
        guard request.method != .head else { return Response(status: status, headers: fields, body: ResponseBody()) }
        let body = try await FileIO().loadFile(
            path: path(of: file), range: Int(range.lowerBound)...Int(range.upperBound), context: context,
            chunkLength: Self.pieceBytes)
        return Response(status: status, headers: fields, body: body)
    }

    enum WantedRange: Hashable {
        case all
        case part(ClosedRange<Int64>)
        case beyond
    }

    /// One range of bytes (RFC 9110, 14.2). A header that is something else counts as none, which the RFC allows.
    static func range(_ header: String?, last: Int64) -> WantedRange {
        guard let header, header.hasPrefix("bytes="), last >= 0 else { return .all }
        let ends = header.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else { return .all }
        switch (Int64(ends[0]), Int64(ends[1])) {
        case (let first?, let end?) where first >= 0 && first <= end:
            return first > last ? .beyond : .part(first...min(end, last))
        case (let first?, nil) where first >= 0 && ends[1].isEmpty:
            return first > last ? .beyond : .part(first...last)
        case (nil, let count?) where ends[0].isEmpty && count > 0:
            return .part(max(0, last - count + 1)...last)
        default: return .all
        }
    }
}
