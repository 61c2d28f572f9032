import Glibc
import JSON
import NIOCore
import Testing
import TrackTestKit
import Varlink

@testable import AgentControl

@Suite(.timeLimit(.minutes(5))) struct MonitorTests {
    private static let changes: [AgentEvent.Change] = [
        .connection(LinkStatus(state: .waiting, lastError: "no route", nextTryTime: 5)),
        .gather(GatherStatus(state: .waiting)), .service(ServiceStatus(state: .stopping, since: 1)),
        .cache(SampleAgent.sampleStatus.cache), .feed(FeedStatus(state: .noFix)),
        .alarm(SampleAgent.sampleAlarms.alarms[0]), .loss(LossReport(lost: ["bound": 5])),
        .other(kind: "weather", fields: ["wind": 5, "what": "rain"]),
    ]

    @Test func theFirstEventIsTheStatusAndTheOthersFollowInOrder() async throws {
        let agent = try await AgentServer.start()
        var events: [AgentEvent] = []
        for try await event in agent.client.monitor() {
            events.append(event)
            if events.count == 1 {
                try await agent.on { parts in
                    for change in Self.changes { parts.service.publish(AgentEvent(time: 7, change)) }
                }
            }
            if events.count == Self.changes.count + 1 { break }
        }
        #expect(events.first?.change == .status(SampleAgent.sampleStatus))
        #expect(events.dropFirst().map(\.change) == Self.changes)
        try await agent.stop()
    }

    @Test func manyClientsGetTheSameAndThoseWhoLeaveAreForgotten() async throws {
        let agent = try await AgentServer.start()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    var count = 0
                    for try await event in agent.client.monitor() where event.kind != "status" {
                        count += 1
                        if count == 3 { break }
                    }
                    return count
                }
            }
            try await wait(agent) { $0.service.monitorCount == 10 }
            try await agent.on { parts in
                for _ in 0..<3 { parts.service.publish(AgentEvent(time: 7, .gather(GatherStatus(state: .stopped)))) }
            }
            for try await count in group { #expect(count == 3) }
        }
        try await wait(agent) { $0.service.monitorCount == 0 }
        try await agent.stop()
    }

    @Test func aSlowClientIsToldAndDroppedWhileOthersGoOn() async throws {
        let agent = try await AgentServer.start()
        var slow = agent.client.monitor().makeAsyncIterator()
        _ = try await slow.next()
        let event = AgentEvent(
            time: 7, .feed(FeedStatus(state: .unreachable, lastError: String(repeating: "x", count: 4000))))
        try await agent.on { parts in
            for _ in 0..<1000 { parts.service.publish(event) }
        }
        try await wait(agent) { $0.service.monitorCount == 0 }
        #expect(try await agent.client.status().version == "1.2.3")
        var received = 0
        let error = await #expect(throws: AgentControlError.self) {
            while let next = try await slow.next() { received += next == event ? 1 : 0 }
        }
        #expect(error?.code == .tooSlow)
        #expect((1..<500).contains(received))
        try await agent.stop()
    }

    /// A client that missed an event would go on with a state that is not the agent's.
    @Test func anEventThatCannotBeWrittenEndsTheStreams() async throws {
        let agent = try await AgentServer.start()
        var events = agent.client.monitor().makeAsyncIterator()
        _ = try await events.next()
        let fix = FixReport(time: 1, age: 0, latitude: .nan, longitude: 4)
        try await agent.on { parts in
            parts.service.publish(AgentEvent(time: 7, .feed(FeedStatus(state: .fix, lastFix: fix))))
        }
        let error = await #expect(throws: AgentControlError.self) { while try await events.next() != nil {} }
        #expect(error?.code == .internalError)
        try await wait(agent) { $0.service.monitorCount == 0 }
        // It calls again, and gets the whole status.
        var again = agent.client.monitor().makeAsyncIterator()
        #expect(try await again.next()?.kind == "status")
        try await agent.stop()
    }

    @Test func monitorWithoutMoreIsAskedForIt() async throws {
        let agent = try await AgentServer.start()
        await #expect(throws: VarlinkError.expectedMore) { try await agent.client.call(.monitor, parameters: [:]) }
        try await agent.stop()
    }

    private func wait(
        _ agent: AgentServer, until condition: @escaping @Sendable (AgentServer.Parts) -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while try await !agent.on(condition) {
            try #require(ContinuousClock.now < deadline, "waited two minutes in vain")
            await Task.yield()
        }
    }
}
