import Ingest
import Logging
import Testing
import TrackModel
import TrackStore
import TrackTestKit
import TrackWire

@testable import Gateway

/// How vehicles are, from the heartbeat to the store.
@Suite(.timeLimit(.minutes(3))) struct HealthTests {
    private func heartbeat(_ report: HealthReport?) -> Heartbeat {
        var heartbeat = Heartbeat()
        heartbeat.report = report
        return heartbeat
    }

    @Test func aReportIsNotedForTheEntity() {
        var bench = MachineBench.opened()
        let answer = SessionMachine.Action.send(ServerFrame(.heartbeat(Heartbeat())))
        #expect(bench.receive(.heartbeat(heartbeat(.sample))) == [.heard(.sample), answer])
        #expect(bench.receive(.heartbeat(heartbeat(nil))) == [.heard(nil), answer])
        #expect(bench.receive(.goodbye(Goodbye())).first == .left)
    }

    /// Whoever has chosen rarer heartbeats wants less traffic.
    @Test func theWelcomeSaysHowOftenReportsAreWanted() {
        for (heartbeat, health) in [(10, 60), (60, 60), (600, 600)] as [(Int, UInt32)] {
            var bench = MachineBench { _, deadlines in deadlines.heartbeatInterval = heartbeat }
            let welcomes = bench.logIn().compactMap { action -> Welcome? in
                if case .send(let frame) = action, case .welcome(let welcome)? = frame.message { welcome } else { nil }
            }
            #expect(welcomes.map(\.healthInterval) == [health])
        }
    }

    /// A desk whose store looks each time that the test says.
    private func writer() async throws -> (
        writer: HealthReportWriter, store: any TrackStore, van: HealthNote, flush: () async -> Void
    ) {
        let store: any TrackStore = TestStore()
        let service = try await store.createService(named: "fleet", numbered: nil, at: .at(0)).id
        try await store.addEntity(NewEntity(name: "van"), in: service, at: .at(0))
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let writer = HealthReportWriter(store: store, registry: SessionRegistry(), tasks: ServerTasks(), logger: quiet)
        return (
            writer, store,
            HealthNote(
                entity: EntityKey(service: service, name: "van"), heard: .at(0), agentVersion: "1.0", device: nil),
            {
                let work = Task { await writer.run() }
                work.cancel()
                await work.value
            }
        )
    }

    @Test func theNewestOfEachVehicleIsStored() async throws {
        let (writer, store, van, flush) = try await writer()
        writer.heard(.sample, from: van, at: .at(10))
        writer.heard(nil, from: van, at: .at(20))
        await flush()
        var kept = try #require(try await store.allHealth(in: nil).first)
        #expect(kept.report == .sample && kept.heard == .at(20) && !kept.hasLeft)
        writer.left(van, at: .at(30))
        await flush()
        kept = try #require(try await store.allHealth(in: nil).first)
        #expect(kept.report == .sample && kept.heard == .at(30) && kept.hasLeft)
        writer.heard(nil, from: van, at: .at(40))
        await flush()
        #expect(try await store.allHealth(in: nil).first?.hasLeft == false)
    }

    @Test func overRealTLSAReportReachesTheStoreWhenTheServerStops() async throws {
        try await Fixture.run { fixture in
            let agent = try await fixture.login()
            agent.send(.heartbeat(heartbeat(.sample)))
            #expect(await agent.next()?.message?.isHeartbeat == true)
            await fixture.server.stop()
            let found = try await fixture.store.allHealth(in: fixture.service)
            #expect(found.map(\.report) == [.sample])
            #expect(found.first?.device == nil && found.first?.hasLeft == false)
        }
    }
}
