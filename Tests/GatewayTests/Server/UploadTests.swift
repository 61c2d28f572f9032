import Ingest
import Testing
import TrackModel
import TrackStore
import TrackWire

@testable import Gateway

@Suite(.timeLimit(.minutes(5))) struct UploadTests {
    @Test func anUploadIsStoredAndAcknowledged() async throws {
        try await Fixture.run { fixture in
            let agent = try await fixture.login()
            agent.send(.upload(upload(1...1000)))
            #expect(await agent.next()?.message?.uploadAck?.storedThrough == 1000)
            #expect(try await fixture.storedTimes() == (1...1000).map(time))
            #expect(fixture.ingest.counts.storedPoints == 1000)
        }
    }

    @Test func manyUploadsInOneGoAreAcknowledgedInOrder() async throws {
        try await Fixture.run { fixture in
            let agent = try await fixture.login()
            for batch in 0..<100 {
                let first = Int64(batch) * 50 + 1
                agent.send(.upload(upload(first...first + 49)))
            }
            var last: UInt64 = 0
            while last < 5000 {
                let next = try #require(await agent.next()?.message?.uploadAck?.storedThrough)
                #expect(next > last)
                last = next
            }
            #expect(last == 5000)
            #expect(try await fixture.storedTimes().count == 5000)
        }
    }

    @Test func whatComesTwiceIsStoredOnce() async throws {
        try await Fixture.run { fixture in
            let agent = try await fixture.login()
            agent.send(.upload(upload(1...10)))
            #expect(await agent.next()?.message?.uploadAck?.storedThrough == 10)
            agent.send(.upload(upload(1...10)))
            #expect(await agent.next()?.message?.uploadAck?.storedThrough == 10)
            agent.send(.upload(upload(6...15)))
            #expect(await agent.next()?.message?.uploadAck?.storedThrough == 15)
            #expect(try await fixture.storedTimes() == (1...15).map(time))
            #expect(fixture.ingest.counts.duplicateBatches == 1)
        }
    }

    @Test func gapsAreTakenAsTheyAre() async throws {
        try await Fixture.run { fixture in
            let agent = try await fixture.login()
            agent.send(.upload(upload(101...110)))
            #expect(await agent.next()?.message?.uploadAck?.storedThrough == 110)
            let again = try await fixture.connect()
            #expect(await again.hello(fixture.hello())?.welcome?.storedThrough == 110)
        }
    }

    @Test func anotherEntityIsMadeOnTheWay() async throws {
        try await Fixture.run { fixture in
            let agent = try await fixture.login()
            var batch = upload(1...3)
            batch.entity = "trailer"
            batch.streamID = .test
            agent.send(.upload(batch))
            #expect(await agent.next()?.message?.uploadAck?.storedThrough == 3)
            #expect(try await fixture.storedTimes(of: "trailer").count == 3)
            #expect(try await fixture.storedTimes().isEmpty)
        }
    }

    @Test func badPointsAreRefusedAndTheRestIsStored() async throws {
        try await Fixture.run { fixture in
            let agent = try await fixture.login()
            var batch = points(1...5)
            batch[1].fix.time = Timestamp(milliseconds: 0)
            batch[3].fix.time = Fixture.now.adding(milliseconds: 630_720_000_001)
            agent.send(.upload(Upload(BatchCodec.encode(batch), firstSequence: 11)))
            let ack = try #require(await agent.next()?.message?.uploadAck)
            #expect(ack.storedThrough == 15)
            #expect(ack.refused.map(\.sequence) == [12, 14])
            #expect(ack.refused.allSatisfy { $0.reason.contains("time") })
            #expect(try await fixture.storedTimes() == [1, 3, 5].map(time))
            #expect(fixture.server.counts.refusedPoints == 2)

            let allBad = points(1...2).map { point in
                var point = point
                point.fix.course = 3600
                return point
            }
            agent.send(.upload(Upload(BatchCodec.encode(allBad), firstSequence: 16)))
            let second = try #require(await agent.next()?.message?.uploadAck)
            #expect(second.storedThrough == 17)
            #expect(second.refused.count == 2)
        }
    }

    @Test func customPointsAreStoredAndAnswered() async throws {
        try await Fixture.run { fixture in
            let agent = try await fixture.login()
            var batch = points(1...4)
            batch[2].attributes = ["temperature": .double(.infinity)]
            agent.send(.points(Points(BatchCodec.encode(batch), id: 77, entity: "bicycle")))
            let reply = try #require(await agent.next()?.message?.pointsReply)
            #expect(reply.id == 77)
            #expect(reply.stored == 3)
            #expect(reply.refused.map(\.sequence) == [2])
            #expect(reply.error.isEmpty)
            #expect(try await fixture.storedTimes(of: "bicycle") == [1, 2, 4].map(time))

            batch = Array(batch[2...2])
            agent.send(.points(Points(BatchCodec.encode(batch), id: 78, entity: "")))
            let none = try #require(await agent.next()?.message?.pointsReply)
            #expect(none.id == 78)
            #expect(none.stored == 0)
            #expect(none.refused.count == 1)
        }
    }

    @Test func customPointsOfAnotherEntityNeedTheOperatorsLeave() async throws {
        try await Fixture.run(configure: { $0.limits.devicePolicy = .entity }) { fixture in
            let agent = try await fixture.login()
            agent.send(.points(Points(BatchCodec.encode(points(1...4)), id: 77, entity: "bicycle")))
            let refused = try #require(await agent.next()?.message?.pointsReply)
            #expect(refused.id == 77 && refused.stored == 0)
            #expect(refused.error.contains("bicycle") && refused.error.contains("call_policy"), "\(refused.error)")
            #expect(try await fixture.store.entity(named: "bicycle", in: fixture.service) == nil)
            for (id, name) in [(78, ""), (79, "car")] as [(UInt64, String)] {
                agent.send(.points(Points(BatchCodec.encode(points(1...4)), id: id, entity: name)))
                let taken = try #require(await agent.next()?.message?.pointsReply)
                #expect(taken.id == id && taken.stored == 4 && taken.error.isEmpty)
            }
        }
    }

    @Test func violationsCloseTheConnectionAndStoreNothing() async throws {
        let changes: [(String, (inout Upload) -> Void)] = [
            ("no payload", { $0.payloadBytes = [] }),
            ("garbage", { $0.payloadBytes = [1, 2, 3, 4] }),
            ("not compressed", { $0.encoding = .zlib }),
            ("an unknown encoding", { $0.encoding = .UNRECOGNIZED(9) }),
            ("too small a count", { $0.count -= 1 }),
            ("no count", { $0.count = 0 }),
            ("too large a count", { $0.count = 1001 }),
            ("sequence 0", { $0.firstSequence = 0 }),
            ("sequences that overflow", { $0.firstSequence = .max - 1 }),
            ("another stream", { $0.streamID = StreamID(high: 0, low: 0) }),
            ("half a stream", { $0.stream.append(1) }),
            ("a bad entity", { $0.entity = "a|b" }),
            ("more than the window", { $0.payloadBytes = Array(repeating: 0, count: 300_000) }),
        ]
        try await Fixture.run { fixture in
            for (name, change) in changes {
                let agent = try await fixture.login()
                var batch = upload(1...3)
                change(&batch)
                agent.send(.upload(batch))
                let closing = try #require(await agent.next()?.message?.closing, "\(name)")
                #expect(closing.code == .protocol, "\(name)")
                #expect(!closing.reason.isEmpty)
                #expect(await agent.next() == nil, "\(name)")
            }
            let tooMany = try await fixture.login()
            tooMany.send(.upload(upload(1...1001)))
            #expect(await tooMany.next()?.message?.closing?.code == .protocol)
            #expect(try await fixture.storedTimes().isEmpty)
            #expect(try await fixture.storedThrough() == 0)
        }
    }

    @Test func heartbeatsAreAnsweredAndShowTheLiveHint() async throws {
        try await Fixture.run { fixture in
            let agent = try await fixture.login()
            var heartbeat = Heartbeat()
            heartbeat.liveHintBytes = PointRecord.encode(points([5])[0])
            agent.send(.heartbeat(heartbeat))
            #expect(await agent.next()?.message?.isHeartbeat == true)
            #expect(fixture.server.core.registry.sessions.first?.liveHint == points([5])[0])
            #expect(try await fixture.storedTimes().isEmpty)
        }
    }

    private func heartbeat(_ point: TrackPoint) -> Heartbeat {
        var heartbeat = Heartbeat()
        heartbeat.liveHintBytes = PointRecord.encode(point)
        return heartbeat
    }

    /// Hints reach the store behind what was sent before them; a custom point's reply says that they have.
    private func settle(_ agent: TestAgent, id: UInt64) async throws {
        agent.send(.points(Points(BatchCodec.encode(points([0])), id: id, entity: "another")))
        while let message = await agent.next()?.message {
            if let reply = message.pointsReply { return #expect(reply.id == id && reply.stored == 1) }
        }
        Issue.record("the connection ended")
    }

    @Test func aLiveHintIsTheLatestUntilTheTrackIsThere() async throws {
        try await Fixture.run { fixture in
            func latest() async throws -> TrackPoint? {
                try await fixture.store.entity(named: "car", in: fixture.service)?.latest?.point
            }
            let agent = try await fixture.login()
            agent.send(.upload(upload(1...3)))
            // Many at once: the last one counts, and nothing is acknowledged twice.
            for number in 50...100 as ClosedRange<Int64> { agent.send(.heartbeat(heartbeat(points([number])[0]))) }
            try await settle(agent, id: 1)
            try await settle(agent, id: 2)
            #expect(try await latest() == points([100])[0])
            #expect(try await fixture.storedTimes() == [1, 2, 3].map(time))
            agent.send(.upload(upload(4...99)))
            try await settle(agent, id: 3)
            #expect(try await latest() == points([100])[0])
            agent.send(.upload(upload(100...101)))
            try await settle(agent, id: 4)
            #expect(try await latest() == points([101])[0])
            #expect(fixture.ingest.counts.hints >= 1)
            #expect(fixture.ingest.counts.storedPoints == 101 + 4)
        }
    }

    @Test func aLiveHintThatBreaksARuleIsLeftAloneAndOneThatIsNoPointEndsTheConnection() async throws {
        try await Fixture.run { fixture in
            let agent = try await fixture.login()
            var wrong = points([5])[0]
            wrong.fix.speed = -1
            agent.send(.heartbeat(heartbeat(wrong)))
            wrong = points([5])[0]
            wrong.fix.time = Fixture.now.adding(milliseconds: 21 * 366 * 86_400_000)
            agent.send(.heartbeat(heartbeat(wrong)))
            try await settle(agent, id: 1)
            #expect(try await fixture.store.entity(named: "car", in: fixture.service)?.latest == nil)
            #expect(fixture.server.counts.refusedHints == 2)
            for bytes in [[1, 2, 3], [UInt8](repeating: 1, count: 4097), BatchCodec.encode(points([1, 2])).bytes] {
                let agent = try await fixture.login()
                var heartbeat = Heartbeat()
                heartbeat.liveHintBytes = bytes
                agent.send(.heartbeat(heartbeat))
                let closing = try #require(await agent.next()?.message?.closing)
                #expect(closing.code == .protocol && closing.reason.hasPrefix("heartbeat: "))
            }
        }
    }

    @Test func customPointsThatBreakARuleAreAnsweredAndTheConnectionStays() async throws {
        try await Fixture.run(configure: { $0.limits.customPointAge = 3_600_000 }) { fixture in
            let agent = try await fixture.login()
            var wrong: [Points] = [Points(BatchCodec.encode(points(1...2)), id: 1, entity: "a;b")]
            wrong.append(Points(EncodedBatch(isCompressed: true, bytes: [1, 2, 3], count: 1), id: 2, entity: ""))
            var miscounted = Points(BatchCodec.encode(points(1...2)), id: 3, entity: "")
            miscounted.count = 0
            wrong.append(miscounted)
            for message in wrong {
                agent.send(.points(message))
                let reply = try #require(await agent.next()?.message?.pointsReply)
                #expect(reply.id == message.id && reply.stored == 0 && !reply.error.isEmpty)
            }
            // The Web API's rules for times: none too old, none far ahead.
            var batch = points(1...3)
            let now = Fixture.now.milliseconds
            for (index, time) in [now - 3_600_001, now - 3_600_000, now + 600_001].enumerated() {
                batch[index].fix.time = Timestamp(milliseconds: time)
            }
            agent.send(.points(Points(BatchCodec.encode(batch), id: 4, entity: "")))
            let reply = try #require(await agent.next()?.message?.pointsReply)
            #expect(reply.stored == 1)
            #expect(reply.refused.map(\.sequence) == [0, 2])
            #expect(try await fixture.storedTimes() == [now - 3_600_000])
        }
    }

    @Test func goodbyeEndsTheSession() async throws {
        try await Fixture.run { fixture in
            let agent = try await fixture.login()
            agent.send(.upload(upload(1...3)))
            agent.send(.goodbye(Goodbye()))
            while await agent.next() != nil {}
            #expect(fixture.server.sessionCount == 0)
        }
    }
}
