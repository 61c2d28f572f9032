import Testing
import TrackModel
import TrackStore
import TrackWire

@testable import Gateway

@Suite(.timeLimit(.minutes(5))) struct ColumnTests {
    private func addColumns(_ fixture: Fixture) async throws {
        for (key, type) in [("fuel", .double), ("door", .integer), ("driver", .string)] as [(String, AttributeType)] {
            try await fixture.store.addColumn(
                ColumnRecord(key: key, type: type, created: Fixture.now), of: .track, in: fixture.service)
        }
        try await fixture.store.addColumn(
            ColumnRecord(key: "team", type: .string, created: Fixture.now), of: .entity, in: fixture.service)
    }

    private func stored(_ fixture: Fixture) async throws -> [[String: AttributeValue]] {
        try await fixture.store.points(
            of: "car", in: fixture.service, from: Timestamp(milliseconds: .min),
            through: Timestamp(milliseconds: .max), limit: 1000
        ).map(\.point.attributes)
    }

    @Test func theWelcomeTellsTheTrackColumns() async throws {
        try await Fixture.run { fixture in
            try await addColumns(fixture)
            let agent = try await fixture.connect()
            let welcome = try #require(await agent.hello(fixture.hello())?.welcome)
            #expect(welcome.trackColumns.map(\.key) == ["door", "driver", "fuel", "floor"])
            #expect(welcome.trackColumns.map(\.type) == [.integer, .string, .double, .string])
        }
    }

    @Test func aPointIsStoredWithoutTheAttributesThatDoNotFit() async throws {
        try await Fixture.run { fixture in
            try await addColumns(fixture)
            let agent = try await fixture.login()
            var batch = points(1...4)
            batch[0].attributes = ["fuel": .double(51.5), "door": .integer(1), "driver": .string("Li")]
            batch[1].attributes = ["fuel": .integer(51), "colour": .string("red"), "team": .string("north")]
            batch[2].attributes = ["fuel": .string("full"), "door": .double(1), "driver": .integer(7)]
            agent.send(.upload(Upload(BatchCodec.encode(batch), firstSequence: 1)))
            let answer = try #require(await agent.next()?.message?.uploadAck)
            #expect(answer.storedThrough == 4)
            #expect(answer.refused.isEmpty)
            #expect(try await stored(fixture) == [batch[0].attributes, ["fuel": .integer(51)], [:], [:]])
            #expect(fixture.server.counts.batchesWithIgnoredAttributes == 1)
            // What fits is stored as it came.
            var more = points(5...5)
            more[0].attributes = ["fuel": .double(3)]
            agent.send(.upload(Upload(BatchCodec.encode(more), firstSequence: 5)))
            #expect(await agent.next()?.message?.uploadAck?.storedThrough == 5)
            #expect(try await stored(fixture).last == ["fuel": .double(3)])
            #expect(fixture.server.counts.batchesWithIgnoredAttributes == 1)
        }
    }

    /// An agent that has not heard the columns yet may send a number.
    @Test func aFloorNeedsNoColumn() async throws {
        try await Fixture.run { fixture in
            let agent = try await fixture.login()
            var batch = points(1...4)
            batch[0].attributes = ["floor": .string("B1")]
            batch[1].attributes = ["floor": .integer(3)]
            batch[2].attributes = ["floor": .string(String(repeating: "x", count: 129))]
            agent.send(.upload(Upload(BatchCodec.encode(batch), firstSequence: 1)))
            #expect(try #require(await agent.next()?.message?.uploadAck).storedThrough == 4)
            #expect(try await stored(fixture) == [batch[0].attributes, batch[1].attributes, [:], [:]])
        }
    }

    @Test func aRefusedPointAndAnIgnoredAttributeDoNotMixUp() async throws {
        try await Fixture.run { fixture in
            try await addColumns(fixture)
            let agent = try await fixture.login()
            var batch = points(1...3)
            batch[0].attributes = ["colour": .string("red")]
            batch[1].attributes = ["fuel": .double(.infinity)]
            batch[2].attributes = ["fuel": .double(2), "colour": .string("red")]
            agent.send(.upload(Upload(BatchCodec.encode(batch), firstSequence: 1)))
            let answer = try #require(await agent.next()?.message?.uploadAck)
            #expect(answer.refused.map(\.sequence) == [2])
            #expect(try await stored(fixture) == [[:], ["fuel": .double(2)]])
        }
    }
}
