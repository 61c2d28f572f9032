import NIOCore
import NIOPosix
import ProgramTestKit
import SecureLink
import Synchronization
import Testing

@testable import HTTPExchange

/// Exchanges over real connections.
@Suite(.timeLimit(.minutes(5))) struct HTTPExchangeTests {
    private static let patient = HTTPLimits(connect: .seconds(120), total: .seconds(120), bodyBytes: 1 << 20)

    private func ask(
        _ server: RawServer, limits: HTTPLimits = Self.patient, body: [UInt8] = []
    ) async -> Result<HTTPAnswer, HTTPExchangeError> {
        await ask(port: server.port, limits: limits, body: body)
    }

    private func ask(
        port: Int, limits: HTTPLimits = Self.patient, body: [UInt8] = []
    ) async -> Result<HTTPAnswer, HTTPExchangeError> {
        do throws(HTTPExchangeError) {
            let address = HTTPAddress(isEncrypted: false, host: "127.0.0.1", port: port)
            let request = try HTTPRequest(.post, address, "/a", contentType: "text/plain", body: body)
            return .success(
                try await HTTPExchange.run(
                    request, security: nil, limits: limits, on: MultiThreadedEventLoopGroup.singleton.next()))
        } catch {
            return .failure(error)
        }
    }

    @Test func aRequestHasItsAnswer() async throws {
        let server = try await RawServer.start("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", closes: false)
        let body = [UInt8](repeating: 0x61, count: 300_000)
        let answer = try await ask(server, body: body).get()
        #expect(answer.status == 200 && answer.body == Array("hi".utf8))
        #expect(server.heard.hasPrefix("POST /a HTTP/1.1\r\n"))
        try await server.stop()
    }

    @Test func aServerThatHangsIsLeftInTime() async throws {
        let limits = HTTPLimits(connect: .seconds(120), total: .seconds(1))
        for text in ["", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nh"] {
            let server = try await RawServer.start(text, closes: false)
            #expect(await ask(server, limits: limits) == .failure(.init(.timeout, "")))
            try await server.stop()
        }
    }

    @Test func anAnswerOfAGigabyteIsNotTaken() async throws {
        let announced = try await RawServer.start(
            "HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n", closes: false)
        #expect(await ask(announced) == .failure(.init(.tooLarge, "")))
        try await announced.stop()
        let endless = try await RawServer.start("HTTP/1.1 200 OK\r\n\r\n", closes: false, repeats: true)
        #expect(await ask(endless) == .failure(.init(.tooLarge, "")))
        try await endless.stop()
    }

    @Test func aCutAnAbsenceAndAStrangerAreTold() async throws {
        let cut = try await RawServer.start("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", closes: true)
        #expect(await ask(cut) == .failure(.init(.cut, "")))
        try await cut.stop()
        // Not the port of before: another test may have it by now.
        #expect(await ask(port: try freePort()) == .failure(.init(.unreachable, "")))
        let stranger = try await RawServer.start("220 mail.example ESMTP\r\n", closes: false)
        #expect(await ask(stranger) == .failure(.init(.notHTTP, "")))
        let address = HTTPAddress(host: "127.0.0.1", port: stranger.port)
        let request = try HTTPRequest(.get, address, "/")
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        await #expect(throws: HTTPExchangeError(.configuration, "")) {
            try await HTTPExchange.run(request, security: nil, on: loop)
        }
        try await stranger.stop()
    }

    // MARK: Kept connections

    private static let whole = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

    private func kept(_ port: Int, most: Int = 2) throws -> (HTTPConnections, HTTPRequest) {
        let address = HTTPAddress(isEncrypted: false, host: "127.0.0.1", port: port)
        return (
            HTTPConnections(
                to: address, security: nil, limits: Self.patient, keeping: most,
                on: MultiThreadedEventLoopGroup.singleton.next()),
            try HTTPRequest(.get, address, "/a")
        )
    }

    @Test func requestsFollowEachOtherOnOneConnection() async throws {
        let server = try await RawServer.start(Self.whole, closes: false, answersEach: true)
        let (connections, request) = try kept(server.port)
        for _ in 0..<20 {
            #expect(try await connections.run(request, within: .seconds(120)).body == Array("hi".utf8))
        }
        #expect(server.connections == 1)
        await connections.close()
        try await server.stop()
    }

    /// The server closes each connection behind its answer, and does not say so.
    @Test func aKeptConnectionThatHasEndedCostsNoRequest() async throws {
        let server = try await RawServer.start(Self.whole, closes: true)
        let (connections, request) = try kept(server.port)
        for _ in 0..<20 { #expect(try await connections.run(request, within: .seconds(120)).status == 200) }
        #expect(server.connections >= 20)
        await connections.close()
        try await server.stop()
    }

    @Test func nobodyGetsTheAnswerOfAnother() async throws {
        // An answer that nobody asked for stands behind the first one.
        let server = try await RawServer.start(Self.whole + Self.whole, closes: false, answersEach: true)
        let (connections, request) = try kept(server.port)
        for _ in 0..<5 { #expect(try await connections.run(request, within: .seconds(120)).status == 200) }
        #expect(server.connections == 5)
        await connections.close()
        try await server.stop()
    }

    @Test func whoeverIsCancelledClosesTheConnection() async throws {
        let server = try await RawServer.start("", closes: false)
        let (connections, request) = try kept(server.port)
        let task = Task { try await connections.run(request, within: .seconds(120)) }
        await server.nextRequest()
        task.cancel()
        await #expect(throws: HTTPExchangeError(.cancelled, "")) { try await task.value }
        await server.nextEnd()
        // Nothing of it is left for the next request.
        await #expect(throws: HTTPExchangeError(.timeout, "")) {
            try await connections.run(request, within: .milliseconds(200))
        }
        #expect(server.connections == 2)
        await connections.close()
        try await server.stop()
    }

    /// What nobody waits for any more is not sent once more.
    @Test func whoeverIsCancelledOnAKeptConnectionAsksNobodyElse() async throws {
        // It answers the first request of each connection.
        let server = try await RawServer.start(Self.whole, closes: false)
        let (connections, request) = try kept(server.port)
        for round in 1...10 {
            #expect(try await connections.run(request, within: .seconds(120)).status == 200)
            await server.nextRequest()
            let task = Task { try await connections.run(request, within: .seconds(120)) }
            await server.nextRequest()
            task.cancel()
            await #expect(throws: HTTPExchangeError(.cancelled, "")) { try await task.value }
            await server.nextEnd()
            #expect(server.connections == round)
        }
        #expect(server.heard.split(separator: "GET ").count == 20)
        await connections.close()
        try await server.stop()
    }

    @Test func aCheckedAddressIsConnectedToAndTheNameIsTold() async throws {
        let server = try await RawServer.start(Self.whole, closes: false)
        let request = try HTTPRequest(
            .get, HTTPAddress(isEncrypted: false, host: "no-such-name.invalid", port: server.port), "/a")
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let answer = try await HTTPExchange.run(
            request, at: "127.0.0.1", security: nil, limits: Self.patient, on: loop)
        #expect(answer.status == 200)
        #expect(server.heard.contains("Host: no-such-name.invalid:\(server.port)\r\n"))
        try await server.stop()
        do {
            _ = try await HTTPExchange.run(
                HTTPRequest(.get, HTTPAddress(isEncrypted: false, host: "a", port: try freePort()), "/"),
                at: "127.0.0.1", security: nil, limits: Self.patient, on: loop)
            Issue.record("somebody answered")
        } catch let error as HTTPExchangeError {
            #expect(error.code == .unreachable && error.unconnected == .refused)
        }
    }
}

/// Sends a text as soon as it hears anything.
private final class RawServer: Sendable {
    private let channel: Mutex<(any Channel)?> = Mutex(nil)
    private let text: String
    private let closes: Bool
    private let repeats: Bool
    private let answersEach: Bool
    private let bytes = Mutex<[UInt8]>([])
    private let opened = Mutex(0)
    private let requests = AsyncStream<Void>.makeStream()
    private let ends = AsyncStream<Void>.makeStream()

    private init(_ text: String, _ closes: Bool, _ repeats: Bool, _ answersEach: Bool) {
        (self.text, self.closes, self.repeats, self.answersEach) = (text, closes, repeats, answersEach)
    }

    static func start(
        _ text: String, closes: Bool, repeats: Bool = false, answersEach: Bool = false
    ) async throws -> RawServer {
        let server = RawServer(text, closes, repeats, answersEach)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Speaker(server))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        server.channel.withLock { $0 = channel }
        return server
    }

    var port: Int { channel.withLock { $0?.localAddress?.port } ?? 0 }
    var heard: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }
    var connections: Int { opened.withLock { $0 } }
    func stop() async throws { try await channel.withLock { $0 }?.close().get() }
    func nextRequest() async { for await _ in requests.stream { return } }
    /// A connection has ended.
    func nextEnd() async { for await _ in ends.stream { return } }

    private final class Speaker: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private let server: RawServer
        private var hasSpoken = false

        init(_ server: RawServer) { self.server = server }

        func channelActive(context: ChannelHandlerContext) { server.opened.withLock { $0 += 1 } }

        func channelInactive(context: ChannelHandlerContext) { server.ends.continuation.yield() }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            server.bytes.withLock { $0 += unwrapInboundIn(data).readableBytesView }
            server.requests.continuation.yield()
            guard !hasSpoken || server.answersEach else { return }
            hasSpoken = true
            let channel = context.channel
            let closes = server.closes
            channel.writeAndFlush(ByteBuffer(string: server.text)).whenComplete { _ in
                if closes { channel.close(promise: nil) }
            }
            if server.repeats { Self.flood(channel) }
        }

        private static func flood(_ channel: any Channel) {
            channel.writeAndFlush(ByteBuffer(repeating: 0x61, count: 65_536)).whenSuccess { flood(channel) }
        }
    }
}
