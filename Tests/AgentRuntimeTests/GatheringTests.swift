import AgentControl
import NIOCore
import Testing

@testable import AgentRuntime

@Suite(.timeLimit(.minutes(5))) struct GatheringTests {
    /// With the default interval each fifth second makes a point.
    @Test func anEpochThatWaitsForItsEndIsTakenWhenAReloadClosesTheFeed() async throws {
        let agent = try await RunningAgent.start()
        try await agent.fix(0)
        try await agent.wait("the first point") { $0.agent.tally.gathered == 1 }
        try await agent.report(5)
        _ = try await agent.loop.flatSubmit { [agent] in
            let running = agent.parts.value.agent
            var configuration = running.configuration
            configuration.gnss.port += 1
            return running.reload(configuration)
        }.get()
        try await agent.wait("the second point") { $0.agent.tally.gathered == 2 }
        #expect(try await agent.on { $0.agent.report().feed.lastFix == nil }, "the new feed has said nothing yet")
        // The new feed goes on with what comes next.
        try await agent.fix(10)
        #expect(try await agent.stop().map(\.second) == [0, 5, 10])
    }

    /// SIGTERM comes while the last epoch waits for its end: its fix was taken, and becomes a point like any other.
    @Test func anEpochThatWaitsForItsEndIsInTheRingWhenTheAgentStops() async throws {
        let agent = try await RunningAgent.start()
        try await agent.fix(0)
        try await agent.wait("the first point") { $0.agent.tally.gathered == 1 }
        try await agent.report(5)
        #expect(try await agent.stop().map(\.second) == [0, 5])
    }
}
