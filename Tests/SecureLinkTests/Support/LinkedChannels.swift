import NIOCore
import NIOEmbedded
import NIOSSL

@testable import SecureLink

/// A client's handler and a BoringSSL server in two channels without sockets; the test is the network between them.
final class LinkedChannels {
    let client: EmbeddedChannel
    let server: EmbeddedChannel
    let peer: EventLoopFuture<TLSPeer>
    /// Events that the client's user saw, in order.
    let seen = Recorder()
    /// Sizes of the encrypted writes that the client made since it was last emptied.
    var sent: [Int] = []
    /// Encrypted bytes carried, both ways.
    private(set) var carried = 0
    let session: TLSSession

    init(
        _ workshop: Workshop, context: TLSContext? = nil, limits: SecureLink.Limits = SecureLink.Limits(),
        halfClosure: Bool = false, serverContext: NIOSSLContext? = nil
    ) throws {
        let context =
            try context ?? TLSContext(TLSClientOptions(trust: .authorities(file: workshop.authority.certificate)))
        let session = try TLSSession(context: context, host: "localhost", verificationTime: nil)
        self.session = session
        client = EmbeddedChannel()
        if halfClosure { try client.setOption(.allowRemoteHalfClosure, value: true).wait() }
        let promise = client.eventLoop.makePromise(of: TLSPeer.self)
        peer = promise.futureResult
        try client.pipeline.syncOperations.addHandlers([
            OpenSSLHandler(session: session, limits: limits, verified: promise), seen,
        ])
        server = EmbeddedChannel()
        let serverContext = try serverContext ?? Self.serverContext(workshop.issue("good"))
        try server.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: serverContext))
        server.pipeline.fireChannelActive()
        try client.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    static func serverContext(_ identity: Workshop.Issued) throws -> NIOSSLContext {
        try NIOSSLContext(configuration: TestServer.configuration(identity))
    }

    /// Carries bytes both ways until nobody has more, in pieces of at most `piece` bytes.
    func pump(piece: Int = .max) throws {
        var moved = true
        while moved {
            moved = false
            while var bytes = try client.readOutbound(as: ByteBuffer.self) {
                moved = true
                sent.append(bytes.readableBytes)
                carried += bytes.readableBytes
                while let part = bytes.readSlice(length: min(piece, bytes.readableBytes)), part.readableBytes > 0 {
                    try server.writeInbound(part)
                }
            }
            while let bytes = try server.readOutbound(as: IOData.self) {
                guard case .byteBuffer(var bytes) = bytes else { continue }
                moved = true
                carried += bytes.readableBytes
                while let part = bytes.readSlice(length: min(piece, bytes.readableBytes)), part.readableBytes > 0 {
                    try client.writeInbound(part)
                    client.pipeline.fireChannelReadComplete()
                }
            }
            client.embeddedEventLoop.run()
            server.embeddedEventLoop.run()
        }
    }

    /// What the server's user has read.
    func serverReceived() throws -> [UInt8] {
        var all: [UInt8] = []
        while let bytes = try server.readInbound(as: ByteBuffer.self) { all += bytes.readableBytesView }
        return all
    }

    /// Ends both sides; what waits for a peer's goodbye stops waiting.
    func finish() {
        client.close(promise: nil)
        server.close(promise: nil)
        client.embeddedEventLoop.advanceTime(by: .hours(1))
        server.embeddedEventLoop.advanceTime(by: .hours(1))
        _ = try? client.finish(acceptAlreadyClosed: true)
        _ = try? server.finish(acceptAlreadyClosed: true)
    }
}

/// Notes what a connection's user sees.
final class Recorder: ChannelInboundHandler {
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
        if event is TLSPeer { events.append("peer") }
        if event as? ChannelEvent == .inputClosed { events.append("inputClosed") }
    }
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        events.append("error")
        if let error = error as? SecureLinkError { errors.append(error) }
    }
}
