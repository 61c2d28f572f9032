import NIOSSL
import Synchronization
import Testing
import TrackModel
import TrackStore
import TrackTestKit
import TrackWire

@testable import Gateway

@Suite(.timeLimit(.minutes(5))) struct LoginTests {
    @Test func aRightHelloIsWelcomed() async throws {
        try await Fixture.run { fixture in
            let agent = try await fixture.connect()
            let welcome = try #require(await agent.hello(fixture.hello(entity: "京A·12345"))?.welcome)
            #expect(welcome.serverTime == Fixture.now.milliseconds)
            #expect(welcome.storedThrough == 0)
            #expect(welcome.heartbeatInterval == 60)
            #expect(welcome.limits.batchPoints == 1000)
            #expect(welcome.limits.windowBatches == 16)
            #expect(welcome.limits.windowBytes == 262_144)
            #expect(try await fixture.store.entity(named: "京A·12345", in: fixture.service) != nil)
            let session = try #require(fixture.server.core.registry.sessions.first)
            #expect(session.entity == "京A·12345")
            #expect(session.number == welcome.session)
            #expect(session.address == "127.0.0.1")
            #expect(fixture.server.sessionCount == 1)
            await agent.close()
        }
    }

    @Test func anEnrolmentTokenIsNoAccessKey() async throws {
        try await Fixture.run { fixture in
            _ = try await fixture.store.addToken(.sample(1, in: fixture.service), at: Fixture.now)
            for (key, isToken) in [("token 1", true), ("token 2", false)] {
                let agent = try await fixture.connect()
                var hello = fixture.hello()
                hello.ak = key
                let refused = try #require(await agent.hello(hello)?.refused)
                #expect(refused.code == .authentication)
                #expect(refused.reason.contains("enrolment token") == isToken, "\(refused.reason)")
            }
        }
    }

    struct BadHello: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: RefusedCode
        let change: @Sendable (inout Hello) -> Void

        init(_ name: String, _ code: RefusedCode, _ change: @escaping @Sendable (inout Hello) -> Void) {
            testDescription = name
            self.code = code
            self.change = change
        }
    }

    static let badHellos: [BadHello] = [
        BadHello("a wrong key", .authentication) { $0.ak = "another key" },
        BadHello("no key", .authentication) { $0.ak = "" },
        BadHello("an unknown service", .service) { $0.serviceID = 999 },
        BadHello("a service that can not be", .service) { $0.serviceID = -1 },
        BadHello("another protocol", .protocol) { $0.protocol = 2 },
        BadHello("no entity", .parameter) { $0.entity = "" },
        BadHello("a bad entity", .parameter) { $0.entity = "a:b" },
        BadHello("a short stream", .parameter) { $0.stream.removeLast() },
        BadHello("no first sequence", .parameter) { $0.firstSequence = 0 },
        BadHello("no next sequence", .parameter) { $0.nextSequence = 0 },
        BadHello("sequences upside down", .parameter) { $0.firstSequence = 5 },
        BadHello("a novel for a version", .parameter) { $0.agentVersion = String(repeating: "x", count: 129) },
    ]

    @Test func everyBadHelloIsRefusedWithItsCode() async throws {
        try await Fixture.run { fixture in
            for bad in Self.badHellos {
                let agent = try await fixture.connect()
                var hello = fixture.hello()
                bad.change(&hello)
                let refused = try #require(await agent.hello(hello)?.refused, "\(bad.testDescription)")
                #expect(refused.code == bad.code, "\(bad.testDescription)")
                #expect(!refused.reason.isEmpty)
                #expect(!refused.reason.contains(Fixture.key.revealed))
                #expect(await agent.next() == nil, "\(bad.testDescription): the server closes")
            }
            let counts = fixture.server.counts
            #expect(counts.refusedLogins == UInt64(Self.badHellos.count))
            for reason in LoginRefusalReason.allCases {
                let expected = Self.badHellos.count { LoginRefusalReason($0.code) == reason }
                #expect(counts.refusals[reason] ?? 0 == UInt64(expected), "\(reason)")
            }
            #expect(fixture.server.sessionCount == 0)
        }
    }

    @Test func aDisabledKeyIsRefused() async throws {
        try await Fixture.run { fixture in
            let other = AccessKey("the new key")
            try await fixture.store.addKey(
                other.hash, secret: nil, to: fixture.service, replacing: true, at: Fixture.now)
            let agent = try await fixture.connect()
            #expect(await agent.hello(fixture.hello())?.refused?.code == .authentication)
        }
    }

    @Test func aKeyForSignedRequestsOpensNoSession() async throws {
        try await Fixture.run { fixture in
            let signed = AccessKey("a key that signs")
            try await fixture.store.addKey(
                signed.hash, secret: "secret", to: fixture.service, replacing: false, at: Fixture.now)
            var hello = fixture.hello()
            hello.ak = signed.revealed
            let agent = try await fixture.connect()
            let refused = try #require(await agent.hello(hello)?.refused)
            #expect(refused.code == .authentication && refused.reason.contains("signed requests"))
            #expect(!refused.reason.contains(signed.revealed))
        }
    }

    @Test func aKeyOfTheWebAPIOpensNoSession() async throws {
        try await Fixture.run { fixture in
            for (scopes, isOpen): (KeyScopes, Bool) in [
                (.read, false), ([.read, .write, .admin], false), (.legacyDevice, true), (.former, true),
            ] {
                let key = AccessKey("key \(scopes.rawValue)")
                try await fixture.store.addKey(
                    KeyGrant(key.hash, rights: KeyRights(scopes)), to: fixture.service, replacing: false,
                    at: Fixture.now)
                var hello = fixture.hello()
                hello.ak = key.revealed
                let agent = try await fixture.connect()
                let answer = await agent.hello(hello)
                #expect((answer?.welcome != nil) == isOpen, "\(scopes.text)")
                guard !isOpen else { continue }
                let refused = try #require(answer?.refused)
                #expect(refused.code == .authentication && refused.reason.contains("--legacy-device"))
                #expect(!refused.reason.contains(key.revealed))
            }
        }
    }

    @Test func aKeyPastItsEndOpensNoSessionAndItsSessionsEnd() async throws {
        let clock = Mutex(Fixture.now)
        try await Fixture.run(clock: { clock.withLock { $0 } }) { fixture in
            try await fixture.store.addKey(
                KeyGrant(Fixture.key.hash, rights: KeyRights(.former, end: Fixture.now.adding(milliseconds: 1000))),
                to: fixture.service, replacing: false, at: Fixture.now)
            let agent = try await fixture.login()
            clock.withLock { $0 = Fixture.now.adding(milliseconds: 1000) }
            let closing = try #require(await agent.next()?.message?.closing)
            #expect(closing.reason.contains("access key"))
            let again = try await fixture.connect()
            #expect(await again.hello(fixture.hello())?.refused?.code == .authentication)
        }
    }

    @Test func aServiceWithAnAppCodeWantsIt() async throws {
        try await Fixture.run { fixture in
            try await fixture.store.setAppCode("fleet \u{E9}", of: fixture.service)
            for wrong in ["", "fleet", "fleet \u{E8}", "fleet e\u{301}"] {
                var hello = fixture.hello()
                hello.appCode = wrong
                let agent = try await fixture.connect()
                let refused = try #require(await agent.hello(hello)?.refused)
                #expect(refused.code == .authentication && refused.reason.contains("app code"), "\(wrong)")
                #expect(!refused.reason.contains("\u{E9}"))
            }
            var hello = fixture.hello()
            hello.appCode = "fleet \u{E9}"
            let agent = try await fixture.connect()
            #expect(await agent.hello(hello)?.welcome != nil)
        }
    }

    @Test func aKeyThatEndsEndsItsSessionsAndNoOthers() async throws {
        try await Fixture.run { fixture in
            let other = try await fixture.store.createService(named: "other", at: Fixture.now)
            try await fixture.store.addKey(
                Fixture.key.hash, secret: nil, to: other.id, replacing: false, at: Fixture.now)
            var hello = fixture.hello(stream: StreamID(high: 1, low: 1))
            hello.serviceID = other.id.rawValue
            let stays = try await fixture.connect()
            #expect(await stays.hello(hello)?.welcome != nil)
            let agent = try await fixture.login()
            agent.send(.upload(upload(1...3)))
            #expect(await agent.next()?.message?.uploadAck?.storedThrough == 3)
            try await fixture.store.addKey(
                AccessKey("the new key").hash, secret: nil, to: fixture.service, replacing: true, at: Fixture.now)
            let closing = try #require(await agent.next()?.message?.closing)
            #expect(closing.code == .internal && closing.reason.contains("access key"))
            #expect(await agent.next() == nil)
            #expect(fixture.server.core.registry.sessions.map(\.service) == [other.id])
            stays.send(.heartbeat(Heartbeat()))
            #expect(await stays.next()?.message?.isHeartbeat == true)
        }
    }

    @Test func aKeyOfAnotherServiceIsRefused() async throws {
        try await Fixture.run { fixture in
            let other = try await fixture.store.createService(named: "other", at: Fixture.now)
            var hello = fixture.hello()
            hello.serviceID = other.id.rawValue
            let agent = try await fixture.connect()
            #expect(await agent.hello(hello)?.refused?.code == .authentication)
        }
    }

    @Test func theFirstFrameMustBeAHelloAndTheOnlyOne() async throws {
        try await Fixture.run { fixture in
            let hasty = try await fixture.connect()
            hasty.send(.upload(upload(1...3)))
            #expect(await hasty.next()?.message?.refused?.code == .protocol)
            #expect(await hasty.next() == nil)

            let twice = try await fixture.login()
            twice.send(.hello(fixture.hello()))
            #expect(await twice.next()?.message?.closing?.code == .protocol)
            #expect(await twice.next() == nil)
            #expect(fixture.server.counts.violations == 2)
        }
    }

    @Test func aNewLoginReplacesTheOldOneOfItsStream() async throws {
        try await Fixture.run { fixture in
            let old = try await fixture.login()
            let other = try await fixture.login(stream: StreamID(high: 1, low: 1), entity: "van")
            let new = try await fixture.login()
            #expect(await old.next()?.message?.closing?.code == .replaced)
            #expect(await old.next() == nil)
            #expect(fixture.server.core.registry.sessions.map(\.entity) == ["van", "car"])
            for agent in [other, new] {
                agent.send(.heartbeat(Heartbeat()))
                #expect(await agent.next()?.message?.isHeartbeat == true)
            }
        }
    }

    @Test func withoutTheApplicationProtocolThereIsNoSession() async throws {
        try await Fixture.run { fixture in
            var tls = try fixture.certificate.client()
            tls.applicationProtocols = []
            let agent = try await TestAgent.connect(port: fixture.port, tls: tls)
            #expect(await agent.hello(fixture.hello()) == nil)
        }
    }

    @Test func olderTLSIsRefusedUnlessAllowed() async throws {
        try await Fixture.run { fixture in
            var tls = try fixture.certificate.client()
            tls.maximumTLSVersion = .tlsv12
            let agent = try await TestAgent.connect(port: fixture.port, tls: tls)
            #expect(await agent.hello(fixture.hello()) == nil)
        }
    }
}
