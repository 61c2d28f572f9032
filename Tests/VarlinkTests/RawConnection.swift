import Glibc
import JSON
import NIOCore
import NIOPosix

@testable import Varlink

/// A client that may send anything, and reads only when asked to.
final class RawConnection: Sendable {
    let channel: any Channel
    private let reader: NIOLoopBound<Reader>

    private final class Reader: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private var splitter = MessageSplitter(maximumMessageBytes: 64 << 20)
        private var isClosed = false
        private var waiting: EventLoopPromise<JSONValue?>?
        private var context: ChannelHandlerContext?

        func handlerAdded(context: ChannelHandlerContext) { self.context = context }
        func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

        func next(on loop: any EventLoop) -> EventLoopFuture<JSONValue?> {
            let promise = loop.makePromise(of: JSONValue?.self)
            waiting = promise
            advance()
            return promise.futureResult
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var bytes = unwrapInboundIn(data)
            splitter.append(&bytes)
        }
        func channelReadComplete(context: ChannelHandlerContext) { advance() }
        func channelInactive(context: ChannelHandlerContext) {
            isClosed = true
            advance()
        }
        func errorCaught(context: ChannelHandlerContext, error: any Error) {}

        private func advance() {
            guard let promise = waiting else { return }
            if case .message(let bytes) = splitter.next() {
                waiting = nil
                promise.completeWith(Result { try JSONReader.value(of: bytes) })
            } else if isClosed {
                waiting = nil
                promise.succeed(nil)
            } else {
                context?.read()
            }
        }
    }

    private init(channel: any Channel, reader: NIOLoopBound<Reader>) {
        self.channel = channel
        self.reader = reader
    }

    deinit {
        channel.close(promise: nil)
    }

    static func open(_ path: String) async throws -> RawConnection {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        return try await ClientBootstrap(group: loop).channelOption(.autoRead, value: false)
            .connect(unixDomainSocketPath: path) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let reader = Reader()
                    try channel.pipeline.syncOperations.addHandler(reader)
                    return RawConnection(
                        channel: channel, reader: NIOLoopBound(reader, eventLoop: channel.eventLoop))
                }
            }
    }

    func send(_ bytes: [UInt8]) {
        channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
    }

    func send(_ text: String, end: [UInt8] = [0]) {
        send(Array(text.utf8) + end)
    }

    /// The next message, or nil when the other side closed.
    func next() async throws -> JSONValue? {
        try await channel.eventLoop.flatSubmit { [reader, channel] in reader.value.next(on: channel.eventLoop) }.get()
    }

    /// Sends a call and returns the next message.
    func exchange(_ text: String) async throws -> JSONValue? {
        send(text)
        return try await next()
    }
}
