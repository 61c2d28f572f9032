import NIOCore
import NIOPosix
import NIOSSL

@testable import SecureLink

/// A server on a port of the kernel's choosing, gone when `stop` has returned.
struct TestServer {
    let channel: any Channel

    static let group = MultiThreadedEventLoopGroup.singleton

    var port: Int { channel.localAddress?.port ?? 0 }

    /// Accepts TCP and gives each connection the handlers that `handlers` makes.
    static func raw(_ handlers: @escaping @Sendable () -> [any ChannelHandler & Sendable]) async throws -> TestServer {
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in channel.pipeline.addHandlers(handlers()) }
            .bind(host: "127.0.0.1", port: 0).get()
        return TestServer(channel: channel)
    }

    /// A TLS server of BoringSSL's, as the gateway is one; echoes what it gets.
    static func tls(
        _ identity: Workshop.Issued, change: (inout TLSConfiguration) -> Void = { _ in },
        below: @escaping @Sendable () -> [any ChannelHandler & Sendable] = { [] },
        above: @escaping @Sendable () -> [any ChannelHandler & Sendable] = { [Echo()] }
    ) async throws -> TestServer {
        let context = try NIOSSLContext(configuration: configuration(identity, change: change))
        let channel = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(below())
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    try channel.pipeline.syncOperations.addHandlers(above())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return TestServer(channel: channel)
    }

    static func configuration(
        _ identity: Workshop.Issued, change: (inout TLSConfiguration) -> Void = { _ in }
    ) throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(identity.certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: identity.key, format: .pem)))
        configuration.applicationProtocols = ["saker/1"]
        change(&configuration)
        return configuration
    }

    func stop() async throws { try await channel.close().get() }
}

/// Sends back what it gets, and stops reading while its peer does.
final class Echo: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.writeAndFlush(data, promise: nil)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        context.channel.setOption(.autoRead, value: context.channel.isWritable).whenFailure { _ in }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Says something as soon as it is connected, then optionally closes.
final class Greeter: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    let greeting: [UInt8]
    let closes: Bool

    init(_ greeting: [UInt8], closes: Bool = false) {
        self.greeting = greeting
        self.closes = closes
    }

    func channelActive(context: ChannelHandlerContext) {
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: greeting))).whenComplete { [closes] _ in
            if closes { channel.close(promise: nil) }
        }
    }
}

/// What a connection's user sees, as a stream.
final class Listener: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    enum Event: Equatable, Sendable {
        case active
        case peer(TLSPeer)
        case bytes(ByteBuffer)
        case error(SecureLinkError)
        case foreignError(String)
        case inputClosed
        case inactive
    }

    let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation

    init() { (events, continuation) = AsyncStream.makeStream() }

    func channelActive(context: ChannelHandlerContext) { continuation.yield(.active) }
    func channelInactive(context: ChannelHandlerContext) {
        continuation.yield(.inactive)
        continuation.finish()
    }
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        continuation.yield(.bytes(unwrapInboundIn(data)))
    }
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let peer = event as? TLSPeer { continuation.yield(.peer(peer)) }
        if event as? ChannelEvent == .inputClosed { continuation.yield(.inputClosed) }
    }
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? SecureLinkError {
            continuation.yield(.error(error))
        } else {
            continuation.yield(.foreignError("\(error)"))
        }
    }

    /// The errors told before the connection ended.
    func errorsUntilEnd() async -> [SecureLinkError] {
        var errors: [SecureLinkError] = []
        for await case .error(let error) in events { errors.append(error) }
        return errors
    }
}

/// A connection made for a test.
struct TestLink {
    let channel: any Channel
    let listener: Listener

    static func connect(
        to host: String = "localhost", _ server: TestServer, _ options: TLSClientOptions,
        verificationTime: Int64? = nil, limits: SecureLink.Limits = .patient
    ) async throws -> TestLink {
        try await connect(
            to: host, port: server.port, TLSContext(options), verificationTime: verificationTime, limits: limits)
    }

    static func connect(
        to host: String = "localhost", port: Int, _ context: TLSContext, verificationTime: Int64? = nil,
        limits: SecureLink.Limits = .patient
    ) async throws -> TestLink {
        let listener = Listener()
        let channel = try await SecureLink.connect(
            to: host, port: port, on: TestServer.group.next(), context: context, verificationTime: verificationTime,
            limits: limits
        ) { channel in channel.pipeline.addHandler(listener) }.get()
        return TestLink(channel: channel, listener: listener)
    }

    /// The code of the failure to connect; nil when it succeeded.
    static func failure(
        to host: String = "localhost", _ server: TestServer, _ options: TLSClientOptions,
        verificationTime: Int64? = nil, limits: SecureLink.Limits = .patient
    ) async throws -> SecureLinkError? {
        do throws(any Error) {
            try await connect(to: host, server, options, verificationTime: verificationTime, limits: limits).close()
            return nil
        } catch let error as SecureLinkError {
            return error
        }
    }

    /// Sends and waits for as many bytes back.
    func exchange(_ bytes: [UInt8]) async throws -> [UInt8] {
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
        var answer: [UInt8] = []
        for await event in listener.events {
            if case .bytes(let buffer) = event { answer += buffer.readableBytesView }
            if answer.count >= bytes.count { break }
        }
        return answer
    }

    func close() async throws {
        do {
            try await channel.close().get()
        } catch ChannelError.alreadyClosed {}
    }
}

extension SecureLink.Limits {
    /// For tests in which nothing ends by its time, on a busy machine either.
    static let patient = SecureLink.Limits(connect: .minutes(2), handshake: .minutes(2), goodbye: .minutes(2))
}
