import JSON
import NIOCore
import Testing

@testable import Varlink

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
