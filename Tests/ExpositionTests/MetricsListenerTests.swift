import Foundation
import Glibc
import NIOCore
import NIOPosix
import ProgramTestKit
import Synchronization
import Testing

@testable import Exposition

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
