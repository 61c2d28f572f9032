import Testing
import TrackModel
import TrackStore
import TrackWire

@testable import Gateway

/// How sessions store by claims, over a real connection and a real store.
@Suite struct ClaimTests {
    /// Reads acknowledgements until one covers the sequence; each is no less than the one before.
    private func acknowledged(_ agent: TestAgent, through sequence: UInt64) async throws {
        var last: UInt64 = 0
        while last < sequence {
            let next = try #require(await agent.next()?.message?.uploadAck?.storedThrough)
            #expect(next >= last)
            last = next
        }
        #expect(last == sequence)
    }

    private func upload(_ sequences: ClosedRange<Int64>, of entity: String) -> Upload {
        var upload = upload(sequences)
        upload.entity = entity
        return upload
    }

    private func upload(_ sequences: ClosedRange<Int64>) -> Upload {
        Upload(BatchCodec.encode(points(sequences)), firstSequence: UInt64(sequences.lowerBound))
    }

    @Test func whatTheCacheHoldsOfOtherEntitiesIsStoredInTheOrderOfTheStream() async throws {
        try await Fixture.run { fixture in
            let agent = try await fixture.login()
            let batches = [
                upload(1...3, of: "trailer"), upload(4...6, of: "trailer"), upload(7...9, of: "bicycle"),
                upload(10...12, of: "car"), upload(13...15, of: "trailer"), upload(16...18, of: "car"),
            ]
            for batch in batches { agent.send(.upload(batch)) }
            try await acknowledged(agent, through: 18)
            #expect(try await fixture.storedTimes(of: "trailer") == ([1...6, 13...15].joined()).map(time))
            #expect(try await fixture.storedTimes(of: "bicycle") == (7...9).map(time))
            #expect(try await fixture.storedTimes() == ([10...12, 16...18].joined()).map(time))

            // The acknowledgements were lost: each entity knows what it has.
            let again = try await fixture.connect()
            #expect(await again.hello(fixture.hello(entity: "bicycle"))?.welcome?.storedThrough == 9)
            for batch in batches { again.send(.upload(batch)) }
            try await acknowledged(again, through: 18)
            #expect(try await fixture.store.counts().points == 18)
        }
    }

    /// Two boxes from one disk image number in the same stream, and each has points of its own.
    @Test(arguments: ["bus", "car"])
    func boxesFromOneImageLoseNothing(entity: String) async throws {
        try await Fixture.run { fixture in
            let first = try await fixture.login()
            first.send(.upload(upload(1...10)))
            try await acknowledged(first, through: 10)
            var hello = fixture.hello(entity: entity)
            hello.nextSequence = 12
            let own = Upload(BatchCodec.encode(points(101...111)), firstSequence: 1)
            // The second time its acknowledgement was lost.
            for _ in 1...2 {
                let second = try await fixture.connect()
                #expect(await second.hello(hello)?.welcome?.storedThrough == 0)
                second.send(.upload(own))
                try await acknowledged(second, through: 11)
                await second.close()
            }
            // The first one goes on behind what it was acknowledged.
            hello = fixture.hello()
            (hello.firstSequence, hello.nextSequence) = (11, 21)
            let again = try await fixture.connect()
            #expect(await again.hello(hello)?.welcome?.storedThrough == 10)
            again.send(.upload(upload(11...20)))
            try await acknowledged(again, through: 20)
            let own1 = (1...20).map(time)
            let own2 = (101...111).map(time)
            #expect(try await fixture.storedTimes() == (entity == "car" ? own1 + own2 : own1))
            #expect(try await fixture.storedTimes(of: entity) == (entity == "car" ? own1 + own2 : own2))
            // Point 11 of the first was under a sequence that the second had used, if they are the same entity.
            #expect(fixture.server.counts.rescuedPoints == (entity == "car" ? 10 + 1 : 0))
            #expect(try await fixture.store.counts().points == 31)
        }
    }

    @Test func aSessionOfADeletedEntityEndsAndStoresNothingMore() async throws {
        try await Fixture.run { fixture in
            let agent = try await fixture.login()
            agent.send(.upload(upload(1...3)))
            try await acknowledged(agent, through: 3)
            try await fixture.store.deleteEntity(named: "car", in: fixture.service, at: Fixture.now)
            try await fixture.store.addEntity(NewEntity(name: "car"), in: fixture.service, at: Fixture.now)
            agent.send(.upload(upload(4...6)))
            #expect(await agent.next()?.message?.closing?.code == .replaced)
            #expect(await agent.next() == nil)
            #expect(try await fixture.storedTimes().isEmpty)
            // The next login begins anew.
            let again = try await fixture.connect()
            #expect(await again.hello(fixture.hello())?.welcome?.storedThrough == 0)
            again.send(.upload(upload(4...6)))
            try await acknowledged(again, through: 6)
            #expect(try await fixture.storedTimes() == (4...6).map(time))
        }
    }
}
