import NIOCore
import NIOPosix
import NIOSSL
import TrackModel
import TrackWire

/// A client of the protocol over real TLS, which does what a test tells it, also what no client should.
final class TestAgent {
    private let channel: any Channel
    private var frames: AsyncStream<ServerFrame>.AsyncIterator

    private init(channel: any Channel, frames: AsyncStream<ServerFrame>) {
        self.channel = channel
        self.frames = frames.makeAsyncIterator()
    }

    /// Connects; `tls` nil leaves the connection unencrypted.
    static func connect(port: Int, tls: TLSConfiguration?) async throws -> TestAgent {
        let context = try tls.map { try NIOSSLContext(configuration: $0) }
        let (frames, continuation) = AsyncStream<ServerFrame>.makeStream()
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let context {
                        try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: "localhost"))
                    }
                    try pipeline.addHandler(Receiver(continuation))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        return TestAgent(channel: channel, frames: frames)
    }

    /// The next frame from the server; nil when the connection has ended.
    func next() async -> ServerFrame? {
        var iterator = frames
        defer { frames = iterator }
        return await iterator.next(isolation: #isolation)
    }

    func send(_ message: ClientFrame.OneOf_Message) {
        send(bytes: WireCodec.encode(ClientFrame(message)))
    }

    func send(bytes: [UInt8]) {
        channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
    }

    /// Returns when the bytes have left for the kernel.
    func sendAndWait(bytes: [UInt8]) async throws {
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes))
    }

    /// Does nothing when the connection has ended.
    func stopReading() async {
        try? await channel.setOption(.autoRead, value: false).get()
    }

    /// Ends the TCP connection under TLS, without a word.
    func kill() {
        channel.pipeline.context(handlerType: NIOSSLClientHandler.self).whenSuccess { context in
            context.close(promise: nil)
        }
    }

    func close() async {
        try? await channel.close()
    }

    // MARK: Conversations

    func hello(_ hello: Hello) async -> ServerFrame.OneOf_Message? {
        send(.hello(hello))
        return await next()?.message
    }

    private final class Receiver: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private var decoder = FrameDecoder()
        private let frames: AsyncStream<ServerFrame>.Continuation

        init(_ frames: AsyncStream<ServerFrame>.Continuation) {
            self.frames = frames
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            decoder.append(unwrapInboundIn(data).readableBytesView)
            do {
                while let bytes = try decoder.next() { frames.yield(try WireCodec.decodeServer(bytes)) }
            } catch {
                frames.finish()
            }
        }

        func channelInactive(context: ChannelHandlerContext) { frames.finish() }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

extension ServerFrame.OneOf_Message {
    var welcome: Welcome? { if case .welcome(let message) = self { message } else { nil } }
    var refused: Refused? { if case .refused(let message) = self { message } else { nil } }
    var uploadAck: UploadAck? { if case .uploadAck(let message) = self { message } else { nil } }
    var pointsReply: PointsReply? { if case .pointsReply(let message) = self { message } else { nil } }
    var callReply: CallReply? { if case .callReply(let message) = self { message } else { nil } }
    var closing: Closing? { if case .closing(let message) = self { message } else { nil } }
    var isHeartbeat: Bool { if case .heartbeat = self { true } else { false } }
}
