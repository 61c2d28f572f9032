import AgentControl
import GNSSFeed
import NIOCore
import Synchronization
import Testing
import TrackTestKit
import TrackWire

@testable import AgentRuntime

/// A running agent tells each state that docs/control.md names. The states of `cache` and `remembered` are in `CacheTests` and
/// `MemoryTests`; `ControlDocumentTests` compares the page with the types.
@Suite(.timeLimit(.minutes(2))) struct StatusStatesTests {
    private func state<Value: Sendable>(
        of agent: RunningAgent, _ part: @escaping @Sendable (AgentStatus) -> Value
    ) async throws -> Value {
        try await agent.on { part($0.agent.report()) }
    }

    @Test func everyStateOfTheFeed() async throws {
        let agent = try await RunningAgent.start()
        let told: [(FeedState, FeedStatus.State)] = [
            (.connecting, .connecting), (.unreachable(reason: "gpsd is away"), .unreachable),
            (.permissionDenied(reason: "no right"), .permissionDenied), (.noDevice(reason: "no receiver"), .noDevice),
            (.noFix, .noFix), (.fix, .fix), (.stopped, .closed),
        ]
        for (said, expected) in told {
            try await agent.on { $0.feed.say(.state(said)) }
            #expect(try await state(of: agent) { $0.feed.state } == expected)
        }
        #expect(Set(told.map(\.1)) == Set(FeedStatus.State.allCases))
        _ = try await agent.stop()
    }

    @Test func everyStateOfGathering() async throws {
        let agent = try await RunningAgent.start()
        var told = [try await state(of: agent) { $0.gather.state }]
        try await agent.fix(0)
        told.append(try await state(of: agent) { $0.gather.state })
        _ = try await agent.client.stopGather()
        told.append(try await state(of: agent) { $0.gather.state })
        #expect(told == [.waiting, .gathering, .stopped])
        #expect(Set(told) == Set(GatherStatus.State.allCases))
        _ = try await agent.stop()
    }

    /// From a connection that is only tried to one that stands, and to its end: `handshaking` is in `LinkStatusTests`.
    @Test func everyStateOfServiceAndLink() async throws {
        var links: Set<LinkStatus.State> = [.handshaking]
        var services: Set<ServiceStatus.State> = []
        func note(_ agent: RunningAgent) async throws {
            let status = try await agent.on { $0.agent.report() }
            links.insert(status.link.state)
            services.insert(status.service.state)
        }
        let trying = try await RunningAgent.start { _ in
            // The connection neither stands nor fails.
            NoServer { $0.makePromise(of: (any Channel).self).futureResult }
        }
        try await note(trying)
        #expect(links.contains(.connecting) && services == [.starting])
        _ = try await trying.client.stopService(timeout: 0)
        try await note(trying)
        #expect(links.contains(.closed) && services.contains(.stopped))
        _ = try await trying.stop()

        let failing = try await RunningAgent.start()
        try await failing.wait("a pause between two tries") { $0.agent.report().link.state == .waiting }
        try await note(failing)
        _ = try await failing.stop()

        // A server that says nothing, and one that refuses.
        let silent = try await WelcomingServer(answer: nil)
        let asking = try await RunningAgent.start(server: silent.table) { SecureConnector($0) }
        try await asking.wait("the login") { $0.agent.report().link.state == .loggingIn }
        try await note(asking)
        _ = try await asking.stop()
        try await silent.stop()

        for (code, cause) in [(RefusedCode.authentication, "key_refused"), (.revoked, "revoked"), (.cloned, "cloned")] {
            var refusal = Refused()
            refusal.code = code
            refusal.retryAfter = 3600
            let strict = try await WelcomingServer(answer: ServerFrame(.refused(refusal)))
            let refused = try await RunningAgent.start(server: strict.table) { SecureConnector($0) }
            try await refused.wait("the refusal") { $0.agent.report().link.state == .refused }
            try await note(refused)
            #expect(try await state(of: refused) { $0.link.lastErrorCause } == cause)
            _ = try await refused.stop()
            try await strict.stop()
        }

        // A server that never acknowledges: a stop waits for it.
        let server = try await WelcomingServer()
        let agent = try await RunningAgent.start(server: server.table) { SecureConnector($0) }
        try await agent.wait("online") { $0.agent.report().link.state == .online }
        try await note(agent)
        try await agent.fix(0)
        try await agent.wait("a point") { $0.agent.cacheStatus.points == 1 }
        let stopped = Task { try await agent.client.stopService(timeout: 600) }
        try await agent.wait("the end of the session") { $0.agent.report().link.state == .closing }
        try await note(agent)
        // A lost connection ends the waiting.
        try await server.stop()
        _ = try await stopped.value
        _ = try await agent.stop()

        #expect(links == Set(LinkStatus.State.allCases))
        #expect(services == Set(ServiceStatus.State.allCases))
    }
}
