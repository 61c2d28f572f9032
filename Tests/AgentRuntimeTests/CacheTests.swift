import AgentControl
import Testing
import TrackTestKit

@testable import AgentRuntime

@Suite(.timeLimit(.minutes(5))) struct CacheTests {
    @Test func aClearIsDurableOnADiskThatWorks() async throws {
        let agent = try await RunningAgent.start()
        try await agent.fix(0)
        try await agent.wait("a point") { $0.agent.cacheStatus.points == 1 }
        let reply = try await agent.client.clearCache(CacheSelection())
        #expect(reply.removed == 1 && reply.durable == true)
        #expect(try await agent.stop().isEmpty)
    }

    @Test func aFileInTheWayKeepsPointsInMemoryAndAClearIsNotDurable() async throws {
        let agent = try await RunningAgent.start(isCacheObstructed: true)
        for second in Int64(0)...5 { try await agent.fix(second) }
        try await agent.wait("two points in memory") { $0.agent.cacheStatus.points == 2 }
        let status = try await agent.on { $0.agent.report() }
        #expect(status.cache.state == .memory && status.cache.lastError?.contains("ENOTDIR") == true)
        #expect(status.reason.contains("memory"), "\(status.reason)")
        let reply = try await agent.client.clearCache(CacheSelection())
        #expect(reply.removed == 2 && reply.durable == false)
        try await agent.fix(10)
        try agent.clearTheWay()
        try await agent.wait("the disk") { $0.agent.cacheStatus.state == .disk }
        let again = try await agent.client.clearCache(CacheSelection(entities: ["tram"]))
        #expect(again.removed == 0 && again.durable == true)
        #expect(try await agent.stop().map(\.second) == [10])
    }
}
