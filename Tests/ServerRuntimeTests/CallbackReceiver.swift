import JSON
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// An operator's server on a port of the kernel's choice, which remembers what it was sent.
final class CallbackReceiver: Sendable {
    enum Reply: Sendable {
        case taken
        case status(Int)
        case redirect(String)
        /// Never answers.
        case hang
        /// Writes as long as anybody reads.
        case endless
    }

    struct Request: Sendable {
        var path: String
        var headers: [String: String]
        var body: [UInt8]

        var value: JSONValue? { try? JSONReader.value(of: body) }
        /// Of its alarms.
        var keys: [String] { (value?["content"]?.arrayValue ?? []).compactMap { $0["key"]?.stringValue } }
    }

    private let received = Mutex<[Request]>([])
    private let written = Atomic<Int>(0)
    private let channel: any Channel
    var port: Int { channel.localAddress?.port ?? 0 }
    var requests: [Request] { received.withLock { $0 } }
    /// Requests with alarms.
    var deliveries: [Request] { requests.filter { $0.value?["type"]?.integerValue == 2 } }
    /// Bytes of endless answers.
    var writtenBytes: Int { written.load(ordering: .relaxed) }

    /// `reply` gets the number of the request, from 0, and the request.
    init(_ reply: @escaping @Sendable (Int, Request) -> Reply = { _, _ in .taken }) async throws {
        let box = Box()
        channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(
                        Handler { request in
                            box.receiver.withLock { $0?.take(request, reply) ?? .hang }
                        } onWritten: { count in
                            box.receiver.withLock { _ = $0?.written.add(count, ordering: .relaxed) }
                        })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        box.receiver.withLock { $0 = self }
    }

    private func take(_ request: Request, _ reply: (Int, Request) -> Reply) -> Reply {
        let number = received.withLock { list in
            list.append(request)
            return list.count - 1
        }
        return reply(number, request)
    }

    func close() async { try? await channel.close() }

    private final class Box: Sendable {
        let receiver = Mutex<CallbackReceiver?>(nil)
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let reply: @Sendable (Request) -> Reply
        private let onWritten: @Sendable (Int) -> Void
        private var request = Request(path: "", headers: [:], body: [])

        init(_ reply: @escaping @Sendable (Request) -> Reply, onWritten: @escaping @Sendable (Int) -> Void) {
            (self.reply, self.onWritten) = (reply, onWritten)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                let headers = head.headers.map { ($0.name.lowercased(), $0.value) }
                request = Request(
                    path: head.uri, headers: Dictionary(headers, uniquingKeysWith: { $1 }), body: [])
            case .body(let bytes): request.body += Array(bytes.readableBytesView)
            case .end: answer(reply(request), context)
            }
        }

        private func answer(_ reply: Reply, _ context: ChannelHandlerContext) {
            switch reply {
            case .hang: return
            case .taken: write(200, #"{"status":0,"message":"成功"}"#, [("SignId", "baidu_yingyan")], context)
            case .status(let status): write(status, #"{"status":0}"#, [("SignId", "baidu_yingyan")], context)
            case .redirect(let url): write(302, "", [("Location", url)], context)
            case .endless:
                let head = HTTPResponseHead(
                    version: .http1_1, status: .ok,
                    headers: ["SignId": "baidu_yingyan", "Content-Length": "2147483648"])
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                pour(context)
            }
        }

        private func pour(_ context: ChannelHandlerContext) {
            let bytes = ByteBuffer(repeating: 0x20, count: 65_536)
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            let place = NIOLoopBound(context, eventLoop: context.eventLoop)
            context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(bytes)))).whenSuccess {
                bound.value.onWritten(65_536)
                bound.value.pour(place.value)
            }
        }

        private func write(
            _ status: Int, _ text: String, _ headers: [(String, String)], _ context: ChannelHandlerContext
        ) {
            var all = HTTPHeaders(headers)
            all.add(name: "Content-Length", value: String(text.utf8.count))
            let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: status), headers: all)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
