import AgentControl
import AgentLogic
import Glibc
import JSON
import NIOCore
import Synchronization
import Testing
import TrackModel
import TrackTestKit
import TrackWire
import Varlink

@testable import AgentRuntime

/// The methods of the control socket against a real agent: what they say, and what the points in the ring then carry.
@Suite(.timeLimit(.minutes(5))) struct AttributesTests {
    private static func columns(_ types: [(String, ColumnType)]) -> [TrackColumn] {
        types.map { key, type in
            var column = TrackColumn()
            (column.key, column.type) = (key, type)
            return column
        }
    }

    private func learn(_ agent: RunningAgent, _ types: [(String, ColumnType)]) async throws {
        let columns = Self.columns(types)
        try await agent.on { $0.agent.attributeShell.learn(columns) }
    }

    private func gathered(_ agent: RunningAgent, _ count: UInt64) async throws {
        try await agent.wait("\(count) points") { $0.agent.tally.gathered == count }
    }

    @Test func whatIsSetTravelsUntilItIsCleared() async throws {
        let agent = try await RunningAgent.start()
        try await learn(agent, [("fuel", .double), ("driver", .string), ("door", .integer)])
        try await agent.fix(0)
        let set = try await agent.client.setAttributes([
            "fuel": 51, "driver": "Li Wei", "door": "open", "colour": "red", "odd": [1],
        ])
        #expect(set.taken == ["driver", "fuel"])
        #expect(set.ignored.map(\.key) == ["colour", "door", "odd"])
        #expect(set.ignored.map(\.reason) == ["unknown_key", "wrong_type", "wrong_type"])
        #expect(set.judged)
        try await agent.fix(5)
        #expect(try await agent.client.clearAttributes(["fuel", "x"]).cleared == ["fuel"])
        try await agent.fix(10)
        #expect(try await agent.client.clearAttributes().cleared == ["driver"])
        try await agent.fix(15)
        try await gathered(agent, 4)
        #expect(try await agent.client.status().attributes == AttributesStatus(set: 0, providers: 0, columns: 3))
        let points = try await agent.stop()
        #expect(points.map(\.second) == [0, 5, 10, 15])
        #expect(
            points.map(\.attributes) == [
                [:], ["fuel": .double(51), "driver": .string("Li Wei")], ["driver": .string("Li Wei")], [:],
            ])
    }

    @Test func beforeTheFirstLoginValuesAreKeptAndThenJudged() async throws {
        let agent = try await RunningAgent.start()
        #expect(try await agent.client.attributes().columns == nil)
        let set = try await agent.client.setAttributes(["fuel": 51, "colour": "red"], ttl: 1000)
        #expect(set.taken == ["colour", "fuel"])
        #expect(!set.judged)
        try await learn(agent, [("fuel", .double), ("odd", .unspecified)])
        let known = try await agent.client.attributes()
        #expect(known.columns == [ColumnReport(key: "fuel", type: "double")])
        #expect(known.attributes.map(\.key) == ["fuel"])
        #expect(known.attributes.first?.value.doubleValue == 51)
        #expect(known.attributes.first?.source == .set)
        #expect((1...1000).contains(known.attributes.first?.ttl ?? 0))
        // They are remembered for the next start without a server.
        let remembered = try await agent.on { $0.agent.durableState.state.columns }
        #expect(
            remembered == .init([AttributeColumn(key: "fuel", type: .double)], of: try #require(ServiceID(rawValue: 1)))
        )
        try await agent.wait("the columns on the disk") { $0.agent.durableState.isDurable }
        let read = agent.stateFile.read()
        guard case .read(let state) = read else {
            Issue.record("\(read)")
            return
        }
        #expect(state.columns == remembered)
        #expect(state.columns?.columns(of: try #require(ServiceID(rawValue: 2))) == nil)
        _ = try await agent.stop()
    }

    @Test func aProviderIsAskedForEachPointAndItsValuesWin() async throws {
        let agent = try await RunningAgent.start()
        try await learn(agent, [("fuel", .double), ("driver", .string)])
        _ = try await agent.client.setAttributes(["fuel": 1, "driver": "set"])
        let provision = try await agent.client.provide()
        let first = Task { try await provision.next(nil) }
        try await agent.wait("the provider") { $0.agent.attributeShell.status.providers == 1 }
        try await agent.fix(0)
        let asked = try await first.value
        #expect(asked.request == 1)
        #expect(asked.time == 1_780_000_000_000)
        #expect(!asked.late && asked.ignored.isEmpty)
        // The agent waits; a loaded machine may be slower than its timeout, and then the next point is the one that counts.
        var answer = ProvidedAttributes(request: asked.request, attributes: ["fuel": 2, "colour": "red"])
        var second: Int64 = 0
        while true {
            let given = answer
            let next = Task { try await provision.next(given) }
            try await agent.wait("the answer") {
                let info = $0.agent.attributeShell.report().providers.first
                return (info?.answered ?? 0) + (info?.late ?? 0) == given.request
            }
            second += 5
            try await agent.fix(second)
            let reply = try await next.value
            #expect(reply.ignored.map(\.key) == ["colour"])
            if !reply.late { break }
            answer.request = reply.request
            try #require(second < 500, "no answer was ever in time")
        }
        let known = try await agent.client.attributes()
        #expect(known.attributes.map(\.source) == [.set, .set, .provided])
        #expect(known.attributes.map(\.key) == ["driver", "fuel", "fuel"])
        #expect(known.providers.first?.answered == 1)
        #expect(known.providers.first?.process == Int64(getpid()))
        provision.close()
        try await agent.wait("the provider's end") { $0.agent.attributeShell.status.providers == 0 }
        #expect(try await agent.client.status().attributes?.providers == 0)
        let points = try await agent.stop()
        #expect(points.map(\.second) == Array(stride(from: 0, through: second, by: 5)))
        let winner = points[points.count - 2]
        #expect(winner.attributes == ["fuel": .double(2), "driver": .string("set")])
        #expect(points.last?.attributes == ["fuel": .double(1), "driver": .string("set")])
    }

    /// A provider that was asked for the first point, and has not answered.
    private func askedProvider(of agent: RunningAgent) async throws -> AttributeProvision {
        let provision = try await agent.client.provide()
        let asked = Task { try await provision.next(nil) }
        try await agent.wait("the provider") { $0.agent.attributeShell.status.providers == 1 }
        try await agent.fix(0)
        _ = try await asked.value
        return provision
    }

    @Test func aSilentProviderDelaysAPointAndLosesNone() async throws {
        let agent = try await RunningAgent.start()
        let provision = try await agent.client.provide()
        let asked = Task { try await provision.next(nil) }
        try await agent.wait("the provider") { $0.agent.attributeShell.status.providers == 1 }
        try await agent.fix(0)
        #expect(try await asked.value.request == 1)
        // It never answers: the time ends the waiting, and the next points do not wait at all.
        try await gathered(agent, 1)
        try await agent.fix(5)
        try await gathered(agent, 2)
        let late = ProvidedAttributes(request: 1, attributes: ["fuel": 2])
        let again = Task { try await provision.next(late) }
        try await agent.wait("the late answer") { $0.agent.attributeShell.report().providers.first?.late == 1 }
        try await agent.fix(10)
        #expect(try await again.value.late)
        try await gathered(agent, 3)
        provision.close()
        let points = try await agent.stop()
        #expect(points.map(\.second) == [0, 5, 10])
        #expect(points.allSatisfy { $0.attributes.isEmpty })
    }

    @Test func aWaitingPointSurvivesAStopAndAProviderThatGoes() async throws {
        let agent = try await RunningAgent.start()
        let provision = try await askedProvider(of: agent)
        // Gone while the point waits for it.
        provision.close()
        try await gathered(agent, 1)
        let other = try await agent.client.provide()
        let never = Task { try await other.next(nil) }
        try await agent.wait("the other provider") { $0.agent.attributeShell.status.providers == 1 }
        try await agent.fix(5)
        _ = try await never.value
        // Stopped while the point waits: it goes into the ring before the ring closes.
        let points = try await agent.stop()
        #expect(points.map(\.second) == [0, 5])
    }

    @Test func stoppingToGatherTakesTheWaitingPoint() async throws {
        let agent = try await RunningAgent.start()
        let provision = try await askedProvider(of: agent)
        _ = try await agent.client.stopGather()
        #expect(try await agent.on { $0.agent.tally.gathered } == 1)
        provision.close()
        #expect(try await agent.stop().map(\.second) == [0])
    }

    @Test func aBadAnswerIsRefusedAndTheProviderStays() async throws {
        let agent = try await RunningAgent.start()
        let provision = try await askedProvider(of: agent)
        let error = await #expect(throws: AgentControlError.self) {
            _ = try await provision.next(ProvidedAttributes(request: 99, attributes: [:]))
        }
        #expect(error?.code == .parameterError)
        #expect(error?.parameter == "request")
        try await gathered(agent, 1)
        let answered = Mutex<Int64?>(nil)
        @Sendable func ask() async throws {
            let request = try await provision.next(nil).request
            answered.withLock { $0 = request }
        }
        let again = Task { try await ask() }
        // A point that comes before the call has no provider to wait for; the next one has.
        var points: UInt64 = 1
        while answered.withLock({ $0 }) == nil {
            try await agent.fix(Int64(points) * 5)
            points += 1
            try await gathered(agent, points)
        }
        try await again.value
        #expect(answered.withLock { $0 } ?? 0 >= 2)
        provision.close()
        #expect(try await agent.stop().map(\.second) == (0..<Int64(points)).map { $0 * 5 })
    }
}
