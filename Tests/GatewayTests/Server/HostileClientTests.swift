import NIOCore
import Testing
import TrackModel
import TrackTestKit
import TrackWire

@testable import Gateway

/// What clients that mean harm, or are broken, can not do.
@Suite(.timeLimit(.minutes(5))) struct HostileClientTests {
    @Test func silenceInTheHandshakeEndsAtItsDeadline() async throws {
        try await Fixture.run(configure: { $0.deadlines.handshake = .milliseconds(50) }) { fixture in
            let agent = try await TestAgent.connect(port: fixture.port, tls: nil)
            #expect(await agent.next() == nil)
            #expect(fixture.server.counts.failedHandshakes == 1)
        }
    }

    @Test func bytesThatAreNoTLSEndTheConnection() async throws {
        try await Fixture.run { fixture in
            let agent = try await TestAgent.connect(port: fixture.port, tls: nil)
            agent.send(bytes: Array("GET / HTTP/1.1\r\n\r\n".utf8))
            #expect(await agent.next() == nil)
        }
    }

    @Test func silenceInsteadOfAHelloEndsAtItsDeadline() async throws {
        try await Fixture.run(configure: { $0.deadlines.login = .milliseconds(50) }) { fixture in
            let agent = try await fixture.connect()
            #expect(await agent.next()?.message?.refused?.code == .protocol)
            #expect(await agent.next() == nil)
        }
    }

    @Test func halfAHelloDrippingInEndsAtTheLoginDeadline() async throws {
        try await Fixture.run(configure: { $0.deadlines.login = .milliseconds(100) }) { fixture in
            let agent = try await fixture.connect()
            let bytes = WireCodec.encode(ClientFrame(.hello(fixture.hello())))
            for byte in bytes.dropLast() { agent.send(bytes: [byte]) }
            #expect(await agent.next()?.message?.refused?.code == .protocol)
            #expect(await agent.next() == nil)
        }
    }

    @Test func aLongFrameBeforeTheLoginIsRefusedByItsLength() async throws {
        try await Fixture.run { fixture in
            let agent = try await fixture.connect()
            agent.send(bytes: [0x81, 0x20])
            #expect(await agent.next()?.message?.refused?.code == .protocol)
            #expect(await agent.next() == nil)
        }
    }

    @Test(
        arguments: [
            [0x80, 0x80, 0x80, 0x80, 0x08], [0x80, 0x80, 0x80, 0x80, 0x80, 0x80], [0x80, 0x00],
            [0x03, 0xFF, 0xFF, 0xFF], [0x00],
        ] as [[UInt8]])
    func framesThatAreNoneEndTheSession(bytes: [UInt8]) async throws {
        try await Fixture.run { fixture in
            let agent = try await fixture.login()
            agent.send(bytes: bytes)
            #expect(await agent.next()?.message?.closing?.code == .protocol)
            #expect(await agent.next() == nil)
        }
    }

    @Test func randomBytesEndTheSession() async throws {
        // Noise may begin with a length that is allowed: more bytes than any frame has end that one too.
        let rest = [UInt8](repeating: 0xFF, count: WireLimits.frameBytes)
        try await Fixture.run { fixture in
            for _ in 0..<20 {
                let seed = UInt64.random(in: 0 ... .max)
                var random = SplitMix(state: seed)
                let agent = try await fixture.login()
                agent.send(bytes: (0..<5000).map { _ in UInt8.random(in: 0...255, using: &random) } + rest)
                var answers = 0
                while await agent.next() != nil { answers += 1 }
                #expect(answers < 10, "seed \(seed)")
            }
            let healthy = try await fixture.login()
            healthy.send(.upload(upload(1...3)))
            #expect(await healthy.next()?.message?.uploadAck?.storedThrough == 3)
        }
    }

    @Test func aFrameThatNeverEndsIsIdleness() async throws {
        try await Fixture.run(configure: { $0.deadlines.idle = .milliseconds(200) }) { fixture in
            let agent = try await fixture.login()
            // A megabyte is promised; a little of it comes.
            agent.send(bytes: [0x80, 0x80, 0x40] + Array(repeating: 0, count: 1000))
            #expect(await agent.next()?.message?.closing?.code == .idle)
            #expect(await agent.next() == nil)
        }
    }

    @Test func aClientThatNeverReadsIsNotHeldForever() async throws {
        try await Fixture.run(configure: {
            $0.deadlines.idle = .seconds(3)
            $0.deadlines.close = .seconds(1)
        }) { fixture in
            let agent = try await fixture.login()
            await agent.stopReading()
            let heartbeat = WireCodec.encode(ClientFrame(.heartbeat(Heartbeat())))
            let many = Array(repeatElement(heartbeat, count: 50_000).joined())
            agent.send(bytes: many)
            // The server stops reading when its answers pile up, and ends the session at its deadline.
            await fixture.server.core.census.untilEmpty(atMost: .seconds(60))
            #expect(fixture.server.connectionCount == 0)
        }
    }

    /// Whoever holds all places without a login keeps no vehicle out, and a session keeps its place.
    @Test func theOldestStrangerGoesForTheNewestAndASessionForNobody() async throws {
        try await Fixture.run(configure: { $0.limits.connectionsPerAddress = 2 }) { fixture in
            let first = try await fixture.login()
            let stranger = try await fixture.connect()
            // The server takes connections on several threads, so the next one may overtake this one.
            try await until { fixture.server.connectionCount >= 2 }
            let second = try await fixture.login(stream: StreamID(high: 1, low: 2), entity: "van")
            #expect(await stranger.hello(fixture.hello()) == nil)
            #expect(fixture.server.counts.turnedAway == 1)
            #expect(fixture.server.core.registry.sessions.count == 2)
            let third = try await fixture.connect()
            #expect(await third.hello(fixture.hello()) == nil)
            #expect(fixture.server.counts.turnedAway == 2)
            await second.close()
            await first.close()
            await fixture.server.core.census.untilEmpty(atMost: .seconds(60))
            let fourth = try await fixture.login(stream: StreamID(high: 1, low: 3))
            await fourth.close()
        }
    }
}
