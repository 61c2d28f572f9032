import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// Answers every request with the next of its texts, and remembers the requests.
final class TinyWebServer: Sendable {
    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private let server: TinyWebServer
        private var text = ""

        init(_ server: TinyWebServer) { self.server = server }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            text += String(buffer: unwrapInboundIn(data))
            guard let end = text.range(of: "\r\n\r\n") else { return }
            let length = text.range(of: #"(?i)content-length: *\d+"#, options: .regularExpression).flatMap {
                Int(text[$0].filter(\.isNumber))
            }
            guard text[end.upperBound...].utf8.count >= length ?? 0 else { return }
            let answer = server.answer(to: text)
            text = ""
            let head =
                "HTTP/1.1 \(answer.status)\r\nContent-Length: \(answer.body.utf8.count)\r\nConnection: close\r\n\r\n"
            let channel = context.channel
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: head + answer.body))).whenComplete { _ in
                channel.close(promise: nil)
            }
        }
    }

    struct Answer: Sendable {
        var status = "200 OK"
        let body: String
    }

    private let state: Mutex<(answers: [Answer], requests: [String])>
    private let channel: Mutex<(any Channel)?> = Mutex(nil)

    init(_ answers: [Answer]) { state = Mutex((answers, [])) }

    static func start(_ answers: [Answer]) async throws -> (TinyWebServer, String) {
        let server = TinyWebServer(answers)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(server))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        server.channel.withLock { $0 = channel }
        return (server, "http://127.0.0.1:\(channel.localAddress?.port ?? 0)")
    }

    func answer(to request: String) -> Answer {
        state.withLock { state in
            state.requests.append(request)
            return state.answers.isEmpty ? Answer(status: "500 No", body: "") : state.answers.removeFirst()
        }
    }

    var requests: [String] { state.withLock { $0.requests } }

    func stop() async throws {
        try await channel.withLock { $0 }?.close().get()
    }
}
