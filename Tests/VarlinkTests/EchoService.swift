import Glibc
import JSON
import LocalSocket
import NIOCore
import NIOPosix
import ProgramTestKit
import Testing

@testable import Varlink

/// An interface for tests: answers at once, later, never, many times, or wrongly.
final class EchoService: VarlinkInterface {
    let name = "org.example.echo"
    let interfaceDescription = "interface org.example.echo\n\nmethod Echo(value: string) -> (value: string)\n"
    let methods: Set<String> = ["Echo", "Late", "Never", "Count", "Flood", "Watch", "Broken", "Peer", "Absent"]

    private(set) var echoed: [String] = []
    private(set) var openStreams = 0
    private(set) var floods = 0
    private var watchers: [VarlinkReplyStream] = []
    private var late: [EventLoopPromise<JSONValue>] = []

    func answer(_ call: VarlinkCall, on loop: any EventLoop) -> VarlinkAnswer {
        switch call.method {
        case "Echo":
            guard let value = call.parameters["value"]?.stringValue else {
                return .failure(.invalidParameter("value"), on: loop)
            }
            echoed.append(value)
            return .reply(loop.makeSucceededFuture(["value": .string(value)]))
        case "Late":
            let promise = loop.makePromise(of: JSONValue.self)
            late.append(promise)
            return .reply(promise.futureResult)
        case "Never": return .reply(loop.makePromise(of: JSONValue.self).futureResult)
        case "Broken": return .reply(loop.makeFailedFuture(CancellationError()))
        case "Peer":
            return .reply(
                loop.makeSucceededFuture([
                    "user": .integer(Int64(call.peer.user)), "group": .integer(Int64(call.peer.group)),
                    "process": .integer(Int64(call.peer.process)),
                    "groups": .array(call.peer.supplementaryGroups.sorted().map { .integer(Int64($0)) }),
                ]))
        case "Count":
            return .stream { stream in
                for number in 1...3 { _ = stream.send(["number": .integer(Int64(number))]) }
                stream.finish(["number": 4])
            }
        case "Watch":
            return .stream { stream in
                self.openStreams += 1
                stream.whenClosed { self.openStreams -= 1 }
                self.watchers.append(stream)
                _ = stream.send(["watching": true])
            }
        case "Flood":
            return .stream { stream in
                let text = JSONValue.string(String(repeating: "x", count: 10_000))
                while stream.send(["text": text]) { self.floods += 1 }
                stream.fail(VarlinkError(name: "org.example.echo.TooSlow"))
            }
        default: return .failure(.methodNotImplemented("\(name).\(call.method)"), on: loop)
        }
    }

    func answerLate(_ value: JSONValue) {
        guard !late.isEmpty else { return }
        late.removeFirst().succeed(value)
    }

    var waitingLate: Int { late.count }

    func notify(_ value: JSONValue) {
        watchers = watchers.filter { $0.send(value) }
    }
}

/// A server with an ``EchoService`` on a loop of its own.
struct EchoServer: Sendable {
    let path: String
    let server: VarlinkServer
    let loop: any EventLoop
    let service: NIOLoopBound<EchoService>
    private let directory: TemporaryDirectory

    static func start(
        _ change: (inout VarlinkServer.Options) -> Void = { _ in }, in directory: TemporaryDirectory? = nil
    ) async throws -> EchoServer {
        let directory = try directory ?? TemporaryDirectory()
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        var options = VarlinkServer.Options(
            path: directory.path + "/echo",
            service: VarlinkServiceInfo(vendor: "Example", product: "Echo", version: "1", url: "https://example.org"))
        // A busy machine may take long. What ends in its time is for the tests that set one.
        (options.limits.requestTime, options.limits.answerTime) = (.minutes(2), .minutes(2))
        change(&options)
        let final = options
        let service = try await loop.submit { NIOLoopBound(EchoService(), eventLoop: loop) }.get()
        let server = try await loop.flatSubmit {
            VarlinkServer.start(final, interfaces: [service.value], on: loop)
        }.get()
        return EchoServer(path: final.path, server: server, loop: loop, service: service, directory: directory)
    }

    /// Reads something of the service on its loop.
    func ask<Value: Sendable>(_ read: @escaping @Sendable (EchoService) -> Value) async throws -> Value {
        try await loop.submit { [service] in read(service.value) }.get()
    }

    /// Waits until something of the service is so; an event of the loop decides, a deadline ends it.
    func wait(until condition: @escaping @Sendable (EchoService) -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while try await !ask(condition) {
            try #require(ContinuousClock.now < deadline, "waited two minutes in vain")
            await Task.yield()
        }
    }

    func waitForConnections(_ count: Int) async throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while try await server.connectionCount.get() != count {
            try #require(ContinuousClock.now < deadline, "waited two minutes in vain")
            await Task.yield()
        }
    }

    func stop() async throws {
        try await server.close().get()
    }
}

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
