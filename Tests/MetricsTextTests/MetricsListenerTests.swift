import Foundation
import Glibc
import NIOCore
import NIOPosix
import ProgramTestKit
import Synchronization
import Testing

@testable import MetricsText

/// The listener on real sockets.
@Suite(.timeLimit(.minutes(5))) struct MetricsListenerTests {
    private static let page = Array("saker_x 1\n".utf8)

    /// For tests in which nothing ends by its time, on a busy machine either.
    private static var patient: MetricsListener.Limits {
        var limits = MetricsListener.Limits()
        limits.time = .minutes(10)
        return limits
    }

    private func start(
        _ address: MetricsAddress = .internet(host: "127.0.0.1", port: 0),
        _ limits: MetricsListener.Limits = patient,
        page: @escaping MetricsListener.Page = { loop in
            loop.makeSucceededFuture(Self.page)
        }
    ) async throws -> MetricsListener {
        try await MetricsListener.start(
            on: address, group: MultiThreadedEventLoopGroup.singleton, limits: limits, page: page
        ).get()
    }

    /// What the peer says until it ends the connection.
    private func exchange(_ listener: MetricsListener, _ request: String) async throws -> String {
        let client = try await Peer.connect(port: try #require(listener.port))
        try await client.send(request)
        return try await client.untilEnd()
    }

    @Test func aScrapeGetsThePage() async throws {
        let listener = try await start()
        let answer = try await exchange(listener, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"))
        #expect(answer.hasSuffix("\r\n\r\nsaker_x 1\n"))
        #expect(try await exchange(listener, "GET /other HTTP/1.1\r\n\r\n").hasPrefix("HTTP/1.1 404 "))
        try await listener.close().get()
    }

    @Test func aClientThatEndsItsHalfIsAnsweredAllTheSame() async throws {
        let listener = try await start()
        let client = try await Peer.connect(port: try #require(listener.port))
        try await client.sendAndEndHalf("GET /metrics HTTP/1.1\r\n\r\n")
        #expect(try await client.untilEnd().hasSuffix("saker_x 1\n"))
        let silent = try await Peer.connect(port: try #require(listener.port))
        try await silent.endHalf()
        #expect(try await silent.untilEnd() == "")
        try await listener.close().get()
    }

    @Test func oneTooManyIsClosedAndThePlaceIsFreeAgain() async throws {
        var limits = Self.patient
        limits.connections = 2
        let listener = try await start(.internet(host: "127.0.0.1", port: 0), limits)
        let port = try #require(listener.port)
        let peers = [
            try await Peer.connect(port: port), try await Peer.connect(port: port), try await Peer.connect(port: port),
        ]
        // Which of the three is one too many is a matter of the loops that take them.
        try await withThrowingTaskGroup(of: (place: Int, said: String).self) { group in
            for (place, peer) in peers.enumerated() {
                group.addTask { (place, try await peer.untilEnd()) }
            }
            let first = try #require(try await group.next())
            #expect(first.said == "")
            for (place, peer) in peers.enumerated() where place != first.place {
                try await peer.send("GET /metrics HTTP/1.1\r\n\r\n")
            }
            for try await answer in group { #expect(answer.said.hasSuffix("saker_x 1\n")) }
        }
        for peer in peers { try await peer.close() }
        // The server sees their end a moment after they do.
        var answer = ""
        let deadline = ContinuousClock.now + .seconds(120)
        while answer.isEmpty, ContinuousClock.now < deadline {
            answer = (try? await exchange(listener, "GET /metrics HTTP/1.1\r\n\r\n")) ?? ""
        }
        #expect(answer.hasSuffix("saker_x 1\n"))
        try await listener.close().get()
    }

    @Test func idleConnectionsKeepNobodyOut() async throws {
        for limits in [(connections: 3, perAddress: 9), (connections: 9, perAddress: 3)] {
            var bounds = Self.patient
            (bounds.connections, bounds.connectionsPerAddress) = limits
            let listener = try await start(.internet(host: "127.0.0.1", port: 0), bounds)
            let port = try #require(listener.port)
            var idle: [Peer] = []
            let ended = Mutex(0)
            for _ in 0..<12 {
                let peer = try await Peer.connect(port: port)
                peer.whenEnded { ended.withLock { $0 += 1 } }
                idle.append(peer)
            }
            // All are known then: none of them comes after the one that asks.
            while ended.withLock({ $0 }) < 12 - 3 { await Task.yield() }
            #expect(try await exchange(listener, "GET /metrics HTTP/1.1\r\n\r\n").hasSuffix("saker_x 1\n"))
            for peer in idle { try await peer.close() }
            try await listener.close().get()
        }
    }

    @Test func whoWaitsForAPageIsNobodysPlace() async throws {
        var limits = Self.patient
        limits.connections = 2
        let promises = Mutex<[EventLoopPromise<[UInt8]>]>([])
        let listener = try await start(.internet(host: "127.0.0.1", port: 0), limits) { loop in
            let promise = loop.makePromise(of: [UInt8].self)
            promises.withLock { $0.append(promise) }
            return promise.futureResult
        }
        let port = try #require(listener.port)
        let waiting = [try await Peer.connect(port: port), try await Peer.connect(port: port)]
        for peer in waiting { try await peer.send("GET /metrics HTTP/1.1\r\n\r\n") }
        while promises.withLock({ $0.count }) < 2 { await Task.yield() }
        #expect(try await exchange(listener, "GET /metrics HTTP/1.1\r\n\r\n") == "")
        promises.withLock { $0.forEach { $0.succeed(Self.page) } }
        for peer in waiting { #expect(try await peer.untilEnd().hasSuffix("saker_x 1\n")) }
        try await listener.close().get()
    }

    @Test func whoSaysNothingIsClosed() async throws {
        var limits = MetricsListener.Limits()
        limits.time = .milliseconds(50)
        let listener = try await start(.internet(host: "127.0.0.1", port: 0), limits)
        let client = try await Peer.connect(port: try #require(listener.port))
        try await client.send("GET /metr")
        #expect(try await client.untilEnd() == "")
        try await listener.close().get()
    }

    @Test func aPageThatNeverComesEndsInItsTime() async throws {
        var limits = MetricsListener.Limits()
        limits.time = .milliseconds(50)
        let promises = Mutex<[EventLoopPromise<[UInt8]>]>([])
        let listener = try await start(.internet(host: "127.0.0.1", port: 0), limits) { loop in
            let promise = loop.makePromise(of: [UInt8].self)
            promises.withLock { $0.append(promise) }
            return promise.futureResult
        }
        #expect(try await exchange(listener, "GET /metrics HTTP/1.1\r\n\r\n") == "")
        // Too late, and harmless.
        promises.withLock { $0.forEach { $0.succeed(Self.page) } }
        try await listener.close().get()
    }

    @Test func aUnixSocketIsReadableAndRemoved() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("metrics.sock")
        let listener = try await start(.unix(path: path))
        let client = try await Peer.connect(to: SocketAddress(unixDomainSocketPath: path))
        try await client.send("GET /metrics HTTP/1.0\r\n\r\n")
        #expect(try await client.untilEnd().hasSuffix("saker_x 1\n"))
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o666)
        try await listener.close().get()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func aPlaceThatIsTakenIsNamed() async throws {
        let listener = try await start()
        let port = try #require(listener.port)
        let error = await #expect(throws: MetricsListenerError.self) {
            try await start(.internet(host: "127.0.0.1", port: port))
        }
        #expect(error?.description.contains("127.0.0.1:\(port)") == true)
        let directory = try TemporaryDirectory()
        try Data().write(to: URL(fileURLWithPath: directory.file("file")))
        await #expect(throws: MetricsListenerError.self) { try await start(.unix(path: directory.file("file"))) }
        #expect(FileManager.default.fileExists(atPath: directory.file("file")))
        try await listener.close().get()
    }
}

/// A client on a real socket that takes what comes.
private struct Peer {
    private let channel: any Channel
    private let collected: EventLoopFuture<String>

    static func connect(port: Int) async throws -> Peer {
        try await connect(to: SocketAddress(ipAddress: "127.0.0.1", port: port))
    }

    static func connect(to address: SocketAddress) async throws -> Peer {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let promise = loop.makePromise(of: String.self)
        let channel = try await ClientBootstrap(group: loop)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Collector(promise))
                }
            }
            .connect(to: address).get()
        return Peer(channel: channel, collected: promise.futureResult)
    }

    func send(_ text: String) async throws {
        // A peer that has closed already is seen when its end is read.
        try? await channel.writeAndFlush(ByteBuffer(string: text)).get()
    }

    /// In one turn of the loop: an answer that ends the connection cannot come between the two.
    func sendAndEndHalf(_ text: String) async throws {
        try await channel.eventLoop.flatSubmit { [channel] in
            channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
            return channel.close(mode: .output)
        }.get()
    }

    func endHalf() async throws { try await channel.close(mode: .output).get() }

    func untilEnd() async throws -> String { try await collected.get() }

    func whenEnded(_ body: @escaping @Sendable () -> Void) { collected.whenComplete { _ in body() } }

    func close() async throws { try? await channel.close().get() }

    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let promise: EventLoopPromise<String>
        private var text = ""

        init(_ promise: EventLoopPromise<String>) { self.promise = promise }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { text += String(buffer: unwrapInboundIn(data)) }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case ChannelEvent.inputClosed = event { context.close(promise: nil) }
        }

        func channelInactive(context: ChannelHandlerContext) { promise.succeed(text) }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

@Suite struct MetricsRequestTests {
    private func answer(_ text: String) -> MetricsRequest.Answer? {
        var request = MetricsRequest()
        return request.take(text.utf8)
    }

    @Test(arguments: [
        ("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", MetricsRequest.Answer.page(isBodyWanted: true)),
        ("GET /metrics HTTP/1.0\n\n", .page(isBodyWanted: true)),
        ("\r\n\r\nGET /metrics?name[]=up HTTP/1.1\r\n\r\n", .page(isBodyWanted: true)),
        ("HEAD /metrics HTTP/1.1\r\nAccept: */*\r\n\r\nrest", .page(isBodyWanted: false)),
        ("POST /metrics HTTP/1.1\r\n\r\n", .refused(.method)),
        ("GET / HTTP/1.1\r\n\r\n", .refused(.elsewhere)),
        ("GET /metricss HTTP/1.1\r\n\r\n", .refused(.elsewhere)),
        ("GET /../metrics HTTP/1.1\r\n\r\n", .refused(.elsewhere)),
        ("POST / HTTP/1.1\r\n\r\n", .refused(.elsewhere)),
        ("GET /metrics HTTP/2.0\r\n\r\n", .refused(.version)),
        ("GET /metrics\r\n\r\n", .refused(.malformed)),
        ("GET  /metrics HTTP/1.1\r\n\r\n", .refused(.malformed)),
        ("GET /metrics FTP/1.1\r\n\r\n", .refused(.malformed)),
        ("GET /m\u{E9} HTTP/1.1\r\n\r\n", .refused(.malformed)),
        ("\u{16}\u{3}\u{1}\n\n", .refused(.malformed)),
    ])
    func eachRequestHasItsAnswer(text: String, expected: MetricsRequest.Answer) {
        #expect(answer(text) == expected)
    }

    @Test func itMayComeInAnyPieces() {
        let text = Array("\r\nGET /metrics HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n".utf8)
        for size in 1..<text.count {
            var request = MetricsRequest()
            var found: [MetricsRequest.Answer?] = []
            for start in stride(from: 0, to: text.count, by: size) where found.last != .page(isBodyWanted: true) {
                found.append(request.take(text[start..<min(start + size, text.count)]))
            }
            #expect(found.dropLast().allSatisfy { $0 == nil })
            #expect(found.last == .page(isBodyWanted: true), "pieces of \(size)")
        }
    }

    @Test func aRequestWithoutEndIsRefusedAtTheBound() {
        var request = MetricsRequest()
        #expect(request.take(Array(repeating: UInt8(ascii: "a"), count: MetricsRequest.maximumBytes)) == nil)
        #expect(request.take([UInt8(ascii: "a")]) == .refused(.tooLarge))
        #expect(answer(String(repeating: "\n", count: 9000)) == .refused(.tooLarge))
    }

    @Test func everyRefusalSaysWhatToDo() {
        for refusal in MetricsRequest.Refusal.allCases {
            let text = String(decoding: MetricsRequest.response(refusal), as: UTF8.self)
            #expect(text.hasPrefix("HTTP/1.1 \(refusal.rawValue) "))
            #expect(text.contains("\r\n\r\n\(refusal.advice)\n"))
            #expect(text.contains("\r\nContent-Length: \(refusal.advice.utf8.count + 1)\r\n"))
            #expect(text.contains("Allow: GET, HEAD\r\n") == (refusal == .method))
        }
    }

    @Test func aHeadHasTheLengthAndNotThePage() {
        let page = Array("x 1\n".utf8)
        let whole = String(decoding: MetricsRequest.response(page: page, isBodyWanted: true), as: UTF8.self)
        let head = String(decoding: MetricsRequest.response(page: page, isBodyWanted: false), as: UTF8.self)
        #expect(whole == head + "x 1\n")
        #expect(head.contains("\r\nContent-Length: 4\r\n") && head.hasSuffix("\r\nConnection: close\r\n\r\n"))
    }

    // MARK: Addresses

    @Test(arguments: [
        ("127.0.0.1:9443", MetricsAddress.internet(host: "127.0.0.1", port: 9443), true),
        ("127.9.9.9:0", .internet(host: "127.9.9.9", port: 0), true),
        ("[::1]:80", .internet(host: "::1", port: 80), true),
        ("0.0.0.0:9443", .internet(host: "0.0.0.0", port: 9443), false),
        ("[fe80::1]:9443", .internet(host: "fe80::1", port: 9443), false),
        ("/run/saker/metrics.sock", .unix(path: "/run/saker/metrics.sock"), true),
    ])
    func addressesAreRead(text: String, address: MetricsAddress, isLocal: Bool) {
        #expect(MetricsAddress(text) == address)
        #expect(address.isLocal == isLocal)
        #expect(address.description == text)
    }

    @Test(arguments: [
        "", "9443", ":9443", "localhost:9443", "127.0.0.1", "127.0.0.1:", "127.0.0.1:70000", "127.0.0.1:-1",
        "127.0.0.1:+1", "127.0.0:1", "127.0.0.256:1", "::1:80", "[::1]", "[x::1]:80", "run/x.sock", "127.0.0.1:9443 ",
        "[127.0.0.1]:80", "1e1.0.0.1:80",
    ])
    func whatIsNoAddressIsNone(text: String) {
        #expect(MetricsAddress(text) == nil)
    }
}
