import Synchronization
import Testing
import TrackModel
import TrackStore
import TrackTestKit
import TrackWire

@testable import Gateway

/// A vehicle that makes up streams.
@Suite(.timeLimit(.minutes(5))) struct ManySessionsTests {
    private func stream(_ number: UInt64) -> StreamID { StreamID(high: 9, low: number) }

    private func reason(_ agent: TestAgent) async -> Closing? {
        while let frame = await agent.next() {
            if let closing = frame.message?.closing { return closing }
        }
        return nil
    }

    @Test func aVehicleHasAFewSessionsAndTheOldestGo() async throws {
        try await Fixture.run { fixture in
            var agents: [TestAgent] = []
            for number in 0..<6 as Range<UInt64> { agents.append(try await fixture.login(stream: stream(number))) }
            for agent in agents[..<2] {
                let closing = try #require(await reason(agent))
                #expect(closing.code == .replaced && closing.reason.contains("at most 4 sessions"))
            }
            #expect(fixture.server.sessionCount == 4)
            #expect(fixture.server.counts.surplusSessions == 2)
            // Another entity of the same key is another vehicle.
            _ = try await fixture.login(stream: stream(100), entity: "bus")
            #expect(fixture.server.sessionCount == 5)
        }
    }

    @Test func aVehicleWithSeveralSessionsKeepsNobodyOut() async throws {
        try await Fixture.run(configure: { $0.limits.connections = 4 }) { fixture in
            var agents: [TestAgent] = []
            for number in 0..<4 as Range<UInt64> { agents.append(try await fixture.login(stream: stream(number))) }
            var others: [TestAgent] = []
            for name in ["bus", "tram", "boat"] {
                others.append(try await fixture.login(stream: stream(50 + UInt64(others.count)), entity: name))
            }
            // The oldest went, and the newest has kept its place.
            for agent in agents[..<3] {
                while await agent.next() != nil {}
            }
            #expect(Set(fixture.server.core.registry.sessions.map(\.entity)) == ["car", "bus", "tram", "boat"])
            // Each has one session now: nobody goes for a fifth.
            let late = try? await fixture.login(stream: stream(60), entity: "late")
            #expect(late == nil)
            #expect(fixture.server.sessionCount == 4)
            #expect(others.count == 3)
        }
    }

    /// The newest session ends: the one before it is its vehicle's only one, and goes for nobody.
    @Test func theLastSessionOfAVehicleKeepsItsPlace() async throws {
        try await Fixture.run(configure: { $0.limits.connections = 2 }) { fixture in
            _ = try await fixture.login(stream: stream(1))
            let newer = try await fixture.login(stream: stream(2))
            newer.send(.goodbye(Goodbye()))
            while await newer.next() != nil {}
            while fixture.server.connectionCount > 1 { await Task.yield() }
            _ = try await fixture.login(stream: stream(3), entity: "bus")
            let late = try? await fixture.login(stream: stream(4), entity: "late")
            #expect(late == nil)
            #expect(Set(fixture.server.core.registry.sessions.map(\.entity)) == ["car", "bus"])
        }
    }

    /// One key with the scope `legacy-device` can be as many vehicles as it likes.
    @Test func aServiceThatHoldsAllPlacesGivesOneToAnother() async throws {
        try await Fixture.run(configure: { $0.limits.connections = 4 }) { fixture in
            var agents: [TestAgent] = []
            for number in 0..<4 as Range<UInt64> {
                agents.append(try await fixture.login(stream: stream(number), entity: "evil_\(number)"))
            }
            #expect((try? await fixture.login(stream: stream(9), entity: "evil_9")) == nil)
            let key = AccessKey("another-key-of-another-service")
            let other = try await fixture.store.createService(named: "other", at: Fixture.now)
            try await fixture.store.addKey(key.hash, secret: nil, to: other.id, replacing: false, at: Fixture.now)
            for number in 20..<22 as Range<UInt64> {
                var hello = fixture.hello(stream: stream(number), entity: "bus_\(number)")
                (hello.serviceID, hello.ak) = (other.id.rawValue, "another-key-of-another-service")
                let agent = try await fixture.connect()
                #expect(await agent.hello(hello)?.welcome != nil)
                agents.append(agent)
            }
            // The newest two of the service with the most have gone, and no more than half of the places is taken from it.
            for agent in agents[2..<4] {
                while await agent.next() != nil {}
            }
            #expect(
                Set(fixture.server.core.registry.sessions.map(\.entity)) == ["evil_0", "evil_1", "bus_20", "bus_21"])
            #expect((try? await fixture.login(stream: stream(10), entity: "evil_10")) == nil)
        }
    }

    private final class Gate: Sendable {
        private let (stream, continuation) = AsyncStream<Void>.makeStream()

        func wait() async {
            for await _ in stream {}
        }

        func open() { continuation.finish() }
    }

    @Test func theCallsOfAVehicleLeavePlacesToOthers() async throws {
        let gate = Gate()
        let handler: GatewayCallHandler = { _, entity, _, _ in
            if entity == "car" { await gate.wait() }
            return (0, entity)
        }
        try await Fixture.run(
            configure: {
                $0.limits.callsOfAll = 20
                $0.limits.callsOfVehicle = 10
            }, callHandler: handler
        ) { fixture in
            var agents: [TestAgent] = []
            for number in 0..<3 as Range<UInt64> {
                let agent = try await fixture.login(stream: stream(number))
                for id in 0..<8 as Range<UInt64> {
                    var call = Call()
                    call.id = id
                    agent.send(.call(call))
                }
                agents.append(agent)
            }
            // The third one's are refused, as ten are at work.
            let refused = try #require(await agents[2].next()?.message?.callReply)
            #expect(refused.status == 1)
            #expect(fixture.server.callsAtWork == 10)
            let bus = try await fixture.login(stream: stream(90), entity: "bus")
            bus.send(.call(Call()))
            #expect(await bus.next()?.message?.callReply?.json == "bus")
            gate.open()
        }
    }

    @Test func whoLogsInTooOftenIsToldToWait() async throws {
        try await Fixture.run(configure: { $0.limits.logins = 3 }) { fixture in
            for number in 0..<3 as Range<UInt64> { _ = try await fixture.login(stream: stream(number)) }
            let agent = try await fixture.connect()
            let refused = try #require(await agent.hello(fixture.hello(stream: stream(9)))?.refused)
            #expect(refused.code == .busy && refused.reason.contains("too often") && refused.retryAfter >= 60)
            _ = try await fixture.login(stream: stream(10), entity: "bus")
        }
    }
}
