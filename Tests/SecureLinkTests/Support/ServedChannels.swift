import NIOCore
import NIOEmbedded
import NIOSSL

@testable import SecureLink

/// A client and a server's handler in two channels without sockets; the test is the network between them.
final class ServedChannels {
    let client = EmbeddedChannel()
    let server = EmbeddedChannel()
    let seen = ServerRecorder()
    let session: TLSSession

    /// With a client of BoringSSL's.
    convenience init(
        _ context: TLSServerContext, _ configuration: TLSConfiguration, limits: SecureLink.Limits = SecureLink.Limits()
    ) throws {
        let client = try NIOSSLClientHandler(
            context: NIOSSLContext(configuration: configuration), serverHostname: "localhost")
        try self.init(context, client, limits)
    }

    init(_ context: TLSServerContext, _ handler: any ChannelHandler, _ limits: SecureLink.Limits) throws {
        session = try TLSSession(context: context)
        try server.pipeline.syncOperations.addHandler(HalfOpen())
        try server.pipeline.syncOperations.addHandlers([
            OpenSSLHandler(session: session, limits: limits, verified: nil), seen,
        ])
        try client.pipeline.syncOperations.addHandler(handler)
        try server.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try client.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    private func clientSent() throws -> ByteBuffer? {
        if let bytes = try? client.readOutbound(as: ByteBuffer.self) { return bytes }
        guard case .byteBuffer(let bytes)? = try? client.readOutbound(as: IOData.self) else { return nil }
        return bytes
    }

    /// What the client sends first.
    func firstFlight() throws -> [UInt8] {
        var all: [UInt8] = []
        while let data = try client.readOutbound(as: IOData.self) {
            if case .byteBuffer(let bytes) = data { all += bytes.readableBytesView }
        }
        finish()
        return all
    }

    /// Carries bytes both ways until nobody has more, in pieces of at most `piece` bytes.
    func pump(piece: Int = .max) throws {
        var moved = true
        while moved {
            moved = false
            while var bytes = try clientSent() {
                moved = true
                while let part = bytes.readSlice(length: min(piece, bytes.readableBytes)), part.readableBytes > 0 {
                    try server.writeInbound(part)
                    server.pipeline.fireChannelReadComplete()
                }
            }
            while var bytes = try server.readOutbound(as: ByteBuffer.self) {
                moved = true
                while let part = bytes.readSlice(length: min(piece, bytes.readableBytes)), part.readableBytes > 0 {
                    try client.writeInbound(part)
                }
            }
            client.embeddedEventLoop.run()
            server.embeddedEventLoop.run()
        }
    }

    /// So long as a server waits for its client's end.
    func waitForGoodbye() { server.embeddedEventLoop.advanceTime(by: SecureLink.Limits().goodbye) }

    func clientReceived() throws -> [UInt8] {
        var all: [UInt8] = []
        while let bytes = try client.readInbound(as: ByteBuffer.self) { all += bytes.readableBytesView }
        return all
    }

    func finish() {
        client.close(promise: nil)
        server.close(promise: nil)
        client.embeddedEventLoop.advanceTime(by: .hours(1))
        server.embeddedEventLoop.advanceTime(by: .hours(1))
        _ = try? client.finish(acceptAlreadyClosed: true)
        _ = try? server.finish(acceptAlreadyClosed: true)
    }
}

/// The channel without a socket would end both directions.
private final class HalfOpen: ChannelOutboundHandler {
    typealias OutboundIn = Any

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode == .output { promise?.succeed() } else { context.close(mode: mode, promise: promise) }
    }
}

/// Notes what the owner of a server's connection sees.
final class ServerRecorder: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    var events: [String] = []
    var bytes: [UInt8] = []
    var errors: [SecureLinkError] = []
    var largestRead = 0

    func channelActive(context: ChannelHandlerContext) { events.append("active") }
    func channelInactive(context: ChannelHandlerContext) { events.append("inactive") }
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        largestRead = max(largestRead, buffer.readableBytes)
        bytes += buffer.readableBytesView
    }
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event as? TLSServerEvent {
        case .handshakeCompleted(let agreed): events.append("handshake \(agreed ?? "-")")
        case .goodbye: events.append("goodbye")
        case nil: break
        }
    }
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        events.append("error")
        if let error = error as? SecureLinkError { errors.append(error) }
    }
}
