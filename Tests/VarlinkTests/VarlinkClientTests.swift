import Glibc
import JSON
import NIOCore
import NIOPosix
import ProgramTestKit
import Testing

@testable import Varlink

@Suite(.timeLimit(.minutes(5))) struct VarlinkClientTests {
    private func code(_ path: String) async -> VarlinkClientError.Code? {
        do {
            _ = try await VarlinkClient(path: path).call("org.varlink.service.GetInfo")
            return nil
        } catch {
            return (error as? VarlinkClientError)?.code
        }
    }

    @Test func aMissingSocketIsToldApartFromOneNobodyListensOn() async throws {
        let directory = try TemporaryDirectory()
        #expect(await code(directory.path + "/none") == .missing)
        #expect(await code(directory.path + "/none/deeper") == .missing)
        let dead = directory.path + "/dead"
        try UnixSocket.leaveStale(at: dead)
        #expect(await code(dead) == .refused)
        #expect(await code(directory.path + "/" + String(repeating: "x", count: 120)) == .system)
    }

    @Test(.needs(.root))
    func aSocketThatMayNotBeOpenedIsToldApart() async throws {
        let echo = try await EchoServer.start()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        // One thread of this process opens files as nobody; the headers that are imported do not name the call.
        try await group.next().submit {
            typealias SetUser = @convention(c) (UInt32) -> CInt
            _ = unsafeBitCast(dlsym(nil, "setfsuid"), to: SetUser.self)(65_534)
        }.get()
        let error = await #expect(throws: VarlinkClientError.self) {
            try await VarlinkClient(path: echo.path, on: group).call("org.varlink.service.GetInfo")
        }
        #expect(error?.code == .permissionDenied)
        try await group.shutdownGracefully()
        try await echo.stop()
    }

    @Test func aServiceThatTakesNoMoreClientsIsClosedHoweverQuickItIs() async throws {
        let echo = try await EchoServer.start { $0.limits.connections = 0 }
        for _ in 0..<50 { #expect(await code(echo.path) == .closed) }
        try await echo.stop()
    }

    @Test func noAnswerInTimeIsATimeoutAndClosesTheConnection() async throws {
        let echo = try await EchoServer.start()
        let error = await #expect(throws: VarlinkClientError.self) {
            try await VarlinkClient(path: echo.path).call("org.example.echo.Never", timeout: .milliseconds(50))
        }
        #expect(error?.code == .timeout)
        try await echo.waitForConnections(0)
        try await echo.stop()
    }

    @Test func aServiceThatEndsDuringACallIsClosed() async throws {
        let echo = try await EchoServer.start()
        let client = VarlinkClient(path: echo.path)
        let code = Task { () -> VarlinkClientError.Code? in
            do {
                _ = try await client.call("org.example.echo.Late")
                return nil
            } catch { return (error as? VarlinkClientError)?.code }
        }
        try await echo.wait { $0.waitingLate == 1 }
        try await echo.stop()
        #expect(await code.value == .closed)
    }

    @Test(arguments: ["rubbish", "[]", #"{"error":5}"#])
    func aReplyThatIsNoneIsMalformed(reply: String) async throws {
        final class Liar: ChannelInboundHandler, Sendable {
            typealias InboundIn = ByteBuffer
            typealias OutboundOut = ByteBuffer
            let reply: String
            init(_ reply: String) { self.reply = reply }
            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: reply + "\0")), promise: nil)
            }
        }
        let directory = try TemporaryDirectory()
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { $0.pipeline.addHandler(Liar(reply)) }
            .bind(unixDomainSocketPath: directory.path + "/liar").get()
        #expect(await code(directory.path + "/liar") == .malformed)
        try await listener.close().get()
    }
}

@Suite(.timeLimit(.minutes(5))) struct VarlinkStreamTests {
    @Test func aStreamGivesItsRepliesAndEnds() async throws {
        let echo = try await EchoServer.start()
        var numbers: [Int64?] = []
        for try await reply in VarlinkClient(path: echo.path).stream("org.example.echo.Count") {
            numbers.append(reply["number"]?.integerValue)
        }
        #expect(numbers == [1, 2, 3, 4])
        try await echo.stop()
    }

    @Test func onlyTheLastReplyOfAStreamDoesNotContinue() async throws {
        let echo = try await EchoServer.start()
        let client = try await RawConnection.open(echo.path)
        client.send(#"{"method":"org.example.echo.Count","more":true}"#)
        for _ in 1...3 { #expect(try await client.next()?["continues"] == true) }
        #expect(try await client.next() == ["parameters": ["number": 4]])
        // And the connection goes on.
        #expect(try await client.exchange(#"{"method":"org.varlink.service.GetInfo"}"#)?["parameters"] != nil)
        try await echo.stop()
    }

    @Test func aClientGoneWhileStreamingIsNoticedAtOnce() async throws {
        let echo = try await EchoServer.start()
        let client = try await RawConnection.open(echo.path)
        #expect(try await client.exchange(#"{"method":"org.example.echo.Watch","more":true}"#) != nil)
        #expect(try await echo.ask { $0.openStreams } == 1)
        try await client.channel.close().get()
        try await echo.wait { $0.openStreams == 0 }
        try await echo.waitForConnections(0)
        try await echo.loop.submit { echo.service.value.notify(["late": true]) }.get()
        try await echo.stop()
    }

    @Test func endingTheLoopOverAStreamClosesItsConnection() async throws {
        let echo = try await EchoServer.start()
        for try await reply in VarlinkClient(path: echo.path).stream("org.example.echo.Watch") {
            #expect(reply == ["watching": true])
            break
        }
        try await echo.wait { $0.openStreams == 0 }
        try await echo.waitForConnections(0)
        try await echo.stop()
    }

    @Test func cancellingTheTaskEndsTheStream() async throws {
        let echo = try await EchoServer.start()
        let (started, first) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            for try await _ in VarlinkClient(path: echo.path).stream("org.example.echo.Watch") { first.yield() }
        }
        for await _ in started { break }
        task.cancel()
        _ = await task.result
        try await echo.wait { $0.openStreams == 0 }
        try await echo.stop()
    }

    @Test func aStreamThatIsNotReadIsBoundedAndEndsWithItsError() async throws {
        let echo = try await EchoServer.start()
        let client = try await RawConnection.open(echo.path)
        client.send(#"{"method":"org.example.echo.Flood","more":true}"#)
        try await echo.wait { $0.floods > 0 }
        // 256 KiB of ours and what the kernel's socket takes, in pieces of 10,000 bytes.
        #expect(try await echo.ask { $0.floods } < 100)
        // The loop serves others meanwhile.
        #expect(try await VarlinkClient(path: echo.path).call("org.varlink.service.GetInfo")["version"] == "1")
        // And a reader that wakes up in time learns why it gets no more.
        var last: JSONValue?
        repeat { last = try await client.next() } while last?["continues"] == true
        #expect(last?["error"] == "org.example.echo.TooSlow")
        try await echo.stop()
    }

    @Test func aStreamingClientThatNeverReadsIsDropped() async throws {
        let echo = try await EchoServer.start { $0.limits.answerTime = .milliseconds(100) }
        let client = try await RawConnection.open(echo.path)
        client.send(#"{"method":"org.example.echo.Flood","more":true}"#)
        try await echo.wait { $0.floods > 0 }
        try await echo.waitForConnections(0)
        try await echo.stop()
        _ = client
    }

    @Test func aReaderThatTakesItsTimeHoldsTheServiceBackAndLosesNothing() async throws {
        let echo = try await EchoServer.start()
        let client = try await RawConnection.open(echo.path)
        #expect(try await client.exchange(#"{"method":"org.example.echo.Watch","more":true}"#) != nil)
        for number in 0..<200 {
            try await echo.loop.submit { echo.service.value.notify(["number": .integer(Int64(number))]) }.get()
            #expect(try await client.next()?["parameters"] == ["number": .integer(Int64(number))])
        }
        try await echo.stop()
    }
}
