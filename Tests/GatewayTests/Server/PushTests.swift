import NIOCore
import Testing
import TrackModel
import TrackStore
import TrackTestKit
import TrackWire

@testable import Gateway

@Suite(.timeLimit(.minutes(5))) struct PushTests {
    private func queue(_ text: String, to entities: [String]? = ["car"], _ fixture: Fixture) async throws {
        _ = try await fixture.store.queuePush(
            NewPush(
                type: PushRules.message, body: "{\"text\":\"\(text)\"}",
                targets: entities.map { .entities($0) } ?? .service), in: fixture.service, at: Fixture.now)
    }

    private func next(_ agent: TestAgent) async -> Push? {
        guard case .push(let push)? = await agent.next()?.message else { return nil }
        return push
    }

    private func acknowledge(_ push: Push, _ agent: TestAgent) {
        var acknowledgement = PushAck()
        acknowledgement.ids = [push.id]
        agent.send(.pushAck(acknowledgement))
    }

    private func states(_ fixture: Fixture, _ store: (any TrackStore)? = nil) async throws -> [PushRecord.State] {
        try await (store ?? fixture.store).pushes(
            in: fixture.service, matching: PushFilter(), at: Fixture.now, page: Page(offset: 0, limit: 100)
        ).pushes.map { $0.state(at: Fixture.now) }
    }

    private func wait(_ what: String, until condition: () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while try await !condition() {
            try #require(ContinuousClock.now < deadline, "waited a minute in vain: \(what)")
            await Task.yield()
        }
    }

    @Test func whatWasQueuedBeforeComesWithTheLoginAndIsSettledByItsAcknowledgement() async throws {
        try await Fixture.run { fixture in
            try await fixture.store.haveEntity(named: "car", in: fixture.service, at: Fixture.now)
            for number in 1...3 { try await queue("\(number)", fixture) }
            let agent = try await fixture.login()
            var pushes: [Push] = []
            for _ in 1...3 { pushes.append(try #require(await next(agent))) }
            #expect(pushes.map(\.json) == (1...3).map { "{\"text\":\"\($0)\"}" })
            #expect(pushes.allSatisfy { $0.type == 65 && $0.id > 0 && $0.time == Fixture.now.milliseconds })
            #expect(try await states(fixture) == [.waiting, .waiting, .waiting])
            for push in pushes { acknowledge(push, agent) }
            try await wait("all are delivered") { try await states(fixture) == [.delivered, .delivered, .delivered] }
            #expect(fixture.server.counts.acknowledgedPushes == 3)
            await agent.close()
        }
    }

    @Test func whatIsQueuedWhileTheAgentIsThereComesByItself() async throws {
        try await Fixture.run { fixture in
            let agent = try await fixture.login()
            let other = try await fixture.login(stream: StreamID(high: 7, low: 10), entity: "bus")
            try await queue("for the car", fixture)
            let push = try #require(await next(agent))
            #expect(push.json == #"{"text":"for the car"}"#)
            acknowledge(push, agent)
            try await queue("for all", to: nil, fixture)
            #expect(try #require(await next(agent)).json == #"{"text":"for all"}"#)
            // The bus has seen nothing of the first.
            #expect(try #require(await next(other)).json == #"{"text":"for all"}"#)
            await agent.close()
            await other.close()
        }
    }

    @Test func withoutAnAcknowledgementItComesAgain() async throws {
        try await Fixture.run(configure: { $0.limits.pushes.interval = 50 }) { fixture in
            try await fixture.store.haveEntity(named: "car", in: fixture.service, at: Fixture.now)
            try await queue("again", fixture)
            let agent = try await fixture.login()
            let first = try #require(await next(agent))
            for _ in 0..<3 { #expect(try #require(await next(agent)).id == first.id) }
            acknowledge(first, agent)
            try await wait("it is delivered") { try await states(fixture) == [.delivered] }
            await agent.close()
        }
    }

    @Test func withoutAnAcknowledgementItIsGivenUpAndComesWithTheNextLogin() async throws {
        var store: (any TrackStore)?
        try await Fixture.run(configure: { $0.limits.pushes.effort = 50 }) { fixture in
            try await fixture.store.haveEntity(named: "car", in: fixture.service, at: Fixture.now)
            try await queue("again", fixture)
            let deaf = try await fixture.login()
            let first = try #require(await next(deaf))
            try await wait("it is given up") { try await states(fixture) == [.givenUp] }
            #expect(fixture.server.counts.givenUpPushes == 1)
            await deaf.close()
            let agent = try await fixture.login()
            #expect(try #require(await next(agent)).id == first.id)
            await agent.close()
            store = fixture.store
        }
        // A gateway with a longer timeout: the acknowledgement is there before it gives up.
        let kept = try #require(store)
        try await Fixture.run(wrapping: { _ in kept }) { fixture in
            let agent = try await fixture.login()
            acknowledge(try #require(await next(agent)), agent)
            try await wait("it is delivered") { try await states(fixture, kept) == [.delivered] }
            await agent.close()
        }
    }

    @Test func allSessionsOfAnEntityGetItAndTheFirstAcknowledgementCounts() async throws {
        try await Fixture.run(configure: { $0.limits.pushes.interval = 200 }) { fixture in
            let one = try await fixture.login()
            let other = try await fixture.login(stream: StreamID(high: 7, low: 11))
            try await queue("both", fixture)
            let push = try #require(await next(one))
            #expect(try #require(await next(other)).id == push.id)
            acknowledge(push, one)
            try await wait("it is delivered") { try await states(fixture) == [.delivered] }
            // The other one is left alone with it, and gets what comes next.
            try await queue("second", fixture)
            var last = push
            while last.json == push.json { last = try #require(await next(other)) }
            #expect(last.json == #"{"text":"second"}"#)
            await one.close()
            await other.close()
        }
    }

    @Test func numbersThatWereNeverSentChangeNothing() async throws {
        try await Fixture.run { fixture in
            try await fixture.store.haveEntity(named: "bus", in: fixture.service, at: Fixture.now)
            try await queue("for the bus", to: ["bus"], fixture)
            let id = try #require(
                try await fixture.store.pendingPushes(
                    of: "bus", in: fixture.service, after: nil, at: Fixture.now, limit: 1
                ).pushes.first?.id)
            let agent = try await fixture.login()
            var acknowledgement = PushAck()
            acknowledgement.ids = [0, 1, id, .max] + (0..<5000).map { $0 }
            agent.send(.pushAck(acknowledgement))
            agent.send(.heartbeat(Heartbeat()))
            #expect(await agent.next()?.message?.isHeartbeat == true)
            #expect(try await states(fixture) == [.waiting])
            #expect(fixture.server.counts.acknowledgedPushes == 0)
            await agent.close()
        }
    }

    @Test func aLongQueueComesWindowByWindowInOrder() async throws {
        try await Fixture.run { fixture in
            try await fixture.store.haveEntity(named: "car", in: fixture.service, at: Fixture.now)
            for number in 0..<60 { try await queue("\(number)", fixture) }
            let agent = try await fixture.login()
            for number in 0..<60 {
                let push = try #require(await next(agent))
                #expect(push.json == "{\"text\":\"\(number)\"}")
                acknowledge(push, agent)
            }
            try await wait("all are delivered") { try await states(fixture).allSatisfy { $0 == .delivered } }
            await agent.close()
        }
    }
}
