import Glibc
import JSON
import NIOCore
import Testing

@testable import Varlink

@Suite(.timeLimit(.minutes(5))) struct VarlinkServerTests {
    private func echo(_ value: String, more: String = "") -> String {
        #"{"method":"org.example.echo.Echo","parameters":{"value":"\#(value)"}\#(more)}"#
    }

    @Test func callsOnOneConnectionAreAnsweredInOrder() async throws {
        let echo = try await EchoServer.start()
        let client = try await RawConnection.open(echo.path)
        // The first answer comes last: the others must wait for it.
        client.send(#"{"method":"org.example.echo.Late"}"#)
        for number in 0..<500 { client.send(self.echo("\(number)")) }
        try await echo.wait { $0.waitingLate == 1 }
        #expect(try await echo.ask { $0.echoed.isEmpty })
        try await echo.loop.submit { echo.service.value.answerLate(["late": true]) }.get()
        #expect(try await client.next() == ["parameters": ["late": true]])
        for number in 0..<500 {
            #expect(try await client.next() == ["parameters": ["value": .string("\(number)")]])
        }
        try await echo.stop()
    }

    @Test func callsThatAreSentAheadDelayNoOtherConnection() async throws {
        let echo = try await EchoServer.start()
        var clients: [RawConnection] = []
        for name in ["a", "b", "c"] {
            let client = try await RawConnection.open(echo.path)
            let calls = [#"{"method":"org.example.echo.Late"}"#] + (0..<100).map { _ in self.echo(name) }
            client.send(calls.joined(separator: "\0"))
            clients.append(client)
        }
        try await echo.wait { $0.waitingLate == 3 }
        // From here on all three have calls to be answered.
        try await echo.loop.submit { (0..<3).forEach { _ in echo.service.value.answerLate([:]) } }.get()
        let inARow = VarlinkConnection.requestsInARow
        try await echo.wait { $0.echoed.count >= 3 * inARow }
        let first = try await echo.ask { $0.echoed.prefix(3 * inARow) }
        for name in ["a", "b", "c"] { #expect(first.count { $0 == name } == inARow, "\(first)") }
        for client in clients {
            for _ in 0...100 { #expect(try await client.next() != nil) }
        }
        try await echo.stop()
    }

    @Test func aCallInSinglePiecesIsUnderstood() async throws {
        let echo = try await EchoServer.start()
        let client = try await RawConnection.open(echo.path)
        for byte in Array(self.echo("é").utf8) + [0] {
            try await client.channel.writeAndFlush(ByteBuffer(bytes: [byte])).get()
        }
        #expect(try await client.next() == ["parameters": ["value": "é"]])
        try await echo.stop()
    }

    @Test func theServiceDescribesItself() async throws {
        let echo = try await EchoServer.start()
        let client = VarlinkClient(path: echo.path)
        let info = try await client.call("org.varlink.service.GetInfo")
        #expect(info["vendor"] == "Example")
        #expect(info["interfaces"] == ["org.example.echo", "org.varlink.service"])
        for name in ["org.example.echo", "org.varlink.service"] {
            let description = try await client.call(
                "org.varlink.service.GetInterfaceDescription", ["interface": .string(name)])
            #expect(description["description"]?.stringValue?.contains("interface \(name)\n") == true)
        }
        try await echo.stop()
    }

    @Test(arguments: [
        ("org.example.echo.Nothing", VarlinkError.methodNotFound("org.example.echo.Nothing")),
        ("org.example.none.Echo", .interfaceNotFound("org.example.none")),
        ("org.example.echo.Absent", .methodNotImplemented("org.example.echo.Absent")),
        ("nodot", .invalidParameter("method")), ("", .invalidParameter("method")),
        ("org.example.echo.Echo", .invalidParameter("value")), ("org.example.echo.Watch", .expectedMore),
        ("org.varlink.service.GetInterfaceDescription", .invalidParameter("interface")),
        (String(repeating: "a.", count: 1000), .invalidParameter("method")),
    ])
    func whatIsNotThereGetsItsStandardError(method: String, error: VarlinkError) async throws {
        let echo = try await EchoServer.start()
        await #expect(throws: error) { try await VarlinkClient(path: echo.path).call(method) }
        try await echo.stop()
    }

    @Test func unknownParametersOfTheServiceInterfaceAreRefused() async throws {
        let echo = try await EchoServer.start()
        let client = VarlinkClient(path: echo.path)
        await #expect(throws: VarlinkError.invalidParameter("x")) {
            try await client.call("org.varlink.service.GetInfo", ["x": 1])
        }
        await #expect(throws: VarlinkError.interfaceNotFound("a.b")) {
            try await client.call("org.varlink.service.GetInterfaceDescription", ["interface": "a.b"])
        }
        try await echo.stop()
    }

    @Test func anErrorLeavesTheConnectionUsable() async throws {
        let echo = try await EchoServer.start()
        let client = try await RawConnection.open(echo.path)
        let error = try await client.exchange(#"{"method":"org.example.echo.Echo","parameters":{"value":5}}"#)
        #expect(error?["error"] == "org.varlink.service.InvalidParameter")
        #expect(error?["parameters"] == ["parameter": "value"])
        #expect(try await client.exchange(self.echo("x"))?["parameters"] == ["value": "x"])
        try await echo.stop()
    }

    @Test(arguments: ["not json", "{\"method\":\"a.b\"", "[1,2", "\u{1}"])
    func rubbishIsToldAndTheConnectionClosed(text: String) async throws {
        let echo = try await EchoServer.start()
        let client = try await RawConnection.open(echo.path)
        #expect(try await client.exchange(text)?["error"] == "org.varlink.service.InvalidParameter")
        #expect(try await client.next() == nil)
        try await echo.waitForConnections(0)
        try await echo.stop()
    }

    @Test func aMessageOverTheLimitIsToldAndTheConnectionClosed() async throws {
        let echo = try await EchoServer.start()
        let client = try await RawConnection.open(echo.path)
        client.send([UInt8](repeating: 0x20, count: (1 << 20) + 1))
        #expect(try await client.next()?["error"] == "org.varlink.service.InvalidParameter")
        #expect(try await client.next() == nil)
        try await echo.stop()
    }

    @Test func aMessageOfTheLimitIsAnswered() async throws {
        let echo = try await EchoServer.start()
        let value = String(repeating: "x", count: (1 << 20) - self.echo("").utf8.count)
        let client = try await RawConnection.open(echo.path)
        #expect(try await client.exchange(self.echo(value))?["parameters"]?["value"]?.stringValue == value)
        try await echo.stop()
    }

    @Test func halfARequestAndSilenceIsClosed() async throws {
        let echo = try await EchoServer.start { $0.limits.requestTime = .milliseconds(50) }
        let client = try await RawConnection.open(echo.path)
        client.send("{\"method\":", end: [])
        #expect(try await client.next() == nil)
        try await echo.waitForConnections(0)
        try await echo.stop()
    }

    @Test func slowTricklingDoesNotExtendTheTimeForARequest() async throws {
        let echo = try await EchoServer.start { $0.limits.requestTime = .milliseconds(100) }
        let client = try await RawConnection.open(echo.path)
        let trickle = client.channel.eventLoop.scheduleRepeatedTask(
            initialDelay: .zero, delay: .milliseconds(10)
        ) { _ in client.send(" ", end: []) }
        #expect(try await client.next() == nil)
        trickle.cancel()
        try await echo.stop()
    }

    @Test func silenceIsClosedAfterTheIdleTime() async throws {
        let echo = try await EchoServer.start { $0.limits.idleTime = .milliseconds(50) }
        let client = try await RawConnection.open(echo.path)
        #expect(try await client.next() == nil)
        try await echo.waitForConnections(0)
        try await echo.stop()
    }

    @Test func aOnewayCallIsMadeAndNeverAnswered() async throws {
        let echo = try await EchoServer.start()
        let client = try await RawConnection.open(echo.path)
        client.send(self.echo("silent", more: #","oneway":true"#))
        client.send(#"{"method":"org.example.echo.Nothing","oneway":true}"#)
        client.send(#"{"method":"org.example.echo.Watch","oneway":true,"more":true}"#)
        #expect(try await client.exchange(self.echo("loud"))?["parameters"] == ["value": "loud"])
        #expect(try await echo.ask { $0.echoed } == ["silent", "loud"])
        try await echo.stop()
    }

    @Test func anErrorThatIsNotForClientsClosesTheConnection() async throws {
        let echo = try await EchoServer.start()
        let client = try await RawConnection.open(echo.path)
        #expect(try await client.exchange(#"{"method":"org.example.echo.Broken"}"#) == nil)
        try await echo.stop()
    }

    @Test func theHandlerLearnsWhoCalls() async throws {
        let echo = try await EchoServer.start()
        let peer = try await VarlinkClient(path: echo.path).call("org.example.echo.Peer")
        #expect(peer["user"] == .integer(Int64(getuid())))
        #expect(peer["group"] == .integer(Int64(getgid())))
        #expect(peer["process"] == .integer(Int64(getpid())))
        var groups = [gid_t](repeating: 0, count: 65_536)
        let count = getgroups(CInt(groups.count), &groups)
        let expected = Set(groups.prefix(Int(max(count, 0)))).subtracting([0])
        #expect(peer["groups"] == .array(expected.sorted().map { .integer(Int64($0)) }))
        try await echo.stop()
    }

    @Test func connectionsAreBoundedAndAPlaceIsFreeAgainAfterwards() async throws {
        let echo = try await EchoServer.start {
            $0.limits.connections = 8
            $0.limits.connectionsOfOneUser = 7
        }
        let limit = getuid() == 0 ? 8 : 7
        var clients: [RawConnection] = []
        for _ in 0..<limit {
            let client = try await RawConnection.open(echo.path)
            #expect(try await client.exchange(self.echo("x")) != nil)
            clients.append(client)
        }
        let refused = try await RawConnection.open(echo.path)
        #expect(try await refused.next() == nil)
        let leaving = clients.removeLast()
        try await leaving.channel.close().get()
        try await echo.waitForConnections(limit - 1)
        let admitted = try await RawConnection.open(echo.path)
        #expect(try await admitted.exchange(self.echo("x")) != nil)
        try await echo.stop()
    }

    @Test func aClientThatGoesAwayDuringACallLeavesNothingBehind() async throws {
        let echo = try await EchoServer.start()
        let client = try await RawConnection.open(echo.path)
        client.send(#"{"method":"org.example.echo.Late"}"#)
        try await echo.wait { $0.waitingLate == 1 }
        try await client.channel.close().get()
        try await echo.waitForConnections(0)
        try await echo.loop.submit { echo.service.value.answerLate([:]) }.get()
        #expect(try await VarlinkClient(path: echo.path).call("org.varlink.service.GetInfo")["version"] == "1")
        try await echo.stop()
    }

    @Test func aClientThatReadsNothingIsNotAnsweredForEver() async throws {
        let echo = try await EchoServer.start { $0.limits.answerTime = .milliseconds(200) }
        let client = try await RawConnection.open(echo.path)
        let value = String(repeating: "x", count: 500_000)
        for _ in 0..<8 { client.send(self.echo(value)) }
        try await echo.waitForConnections(0)
        // What its socket holds is one answer or two, not eight.
        #expect(try await echo.ask { $0.echoed.count } <= 3)
        try await echo.stop()
    }
}
