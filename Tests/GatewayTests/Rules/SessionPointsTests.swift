import Ingest
import Testing
import TrackModel
import TrackStore
import TrackWire

@testable import Gateway

/// Points of an open session on their way to the store, event by event.
@Suite struct SessionPointsTests {
    private typealias Action = SessionMachine.Action

    private func submitted(_ actions: [Action]) -> (ticket: UInt64, batch: IngestBatch, cost: Int)? {
        guard case .submit(let ticket, let batch, let cost)? = actions.last else { return nil }
        return (ticket, batch, cost)
    }

    private func frames(_ actions: [Action]) -> [ServerFrame.OneOf_Message] {
        actions.compactMap { if case .send(let frame) = $0 { frame.message } else { nil } }
    }

    private func heartbeat(_ number: Int64) -> Heartbeat {
        var heartbeat = Heartbeat()
        heartbeat.liveHintBytes = PointRecord.encode(points([number])[0])
        return heartbeat
    }

    @Test func memoryIsReservedBeforeThePayloadIsDecoded() throws {
        var bench = MachineBench.opened()
        var garbage = upload(1...3)
        garbage.payloadBytes = [1, 2, 3]
        let asked = bench.receive(.upload(garbage))
        let cost = IngestJob.cost(payloadBytes: 3, points: 3)
        #expect(asked == [.reserve(.frame, cost: cost)])
        let violated = bench.grant(asked)
        #expect(violated.first == .release(cost: cost))
        #expect(frames(violated).first?.closing?.code == .protocol)
        #expect(violated.last == .close)
    }

    @Test func aBatchIsSubmittedByItsClaimAndAcknowledgedWhenItIsStored() throws {
        var bench = MachineBench()
        bench.logIn(storedThrough: 40)
        let first = try #require(submitted(bench.upload(41...45)))
        #expect(
            first.batch.position
                == StreamPosition(stream: MachineBench.stream, epoch: 5, previous: 40, first: 41, count: 5))
        #expect(first.batch.received == bench.clock && first.batch.points.count == 5)
        let second = try #require(submitted(bench.upload(46...46)))
        #expect(second.batch.position?.previous == 45)
        #expect(frames(bench.settle(first.ticket, .success(45))).first?.uploadAck?.storedThrough == 45)
        // A ticket that is not known says nothing.
        #expect(bench.settle(first.ticket, .success(45)) == [])
        #expect(bench.settle(99, .failure(.failed)) == [])
    }

    @Test func withoutMemoryTheFrameIsHeldAndNothingIsRead() throws {
        var bench = MachineBench.opened()
        let asked = bench.receive(.upload(upload(1...3)))
        #expect(bench.grant(asked, .later) == [])
        #expect(!bench.machine.takesFrames)
        // It is the gateway that keeps the agent waiting.
        #expect(bench.fire(after: 500_000) == [.setTimer(.phase, milliseconds: 180_000)])
        let again = bench.machine.spaceIsFree(now: bench.now)
        #expect(again == asked)
        // Nothing is asked twice.
        #expect(bench.machine.spaceIsFree(now: bench.now) == [])
        #expect(submitted(bench.grant(again)) != nil)
        #expect(bench.machine.takesFrames)
    }

    @Test func memoryThatNobodyWantsIsGivenBack() {
        var bench = MachineBench.opened()
        func answer(
            _ reservation: SessionMachine.Reservation, _ answer: SessionMachine.ReservationAnswer
        ) -> [Action] {
            bench.machine.reserved(reservation, cost: 7, answer, now: bench.now, clock: bench.clock)
        }
        for reservation in [SessionMachine.Reservation.frame, .hint] {
            #expect(answer(reservation, .granted) == [.release(cost: 7)])
            #expect(answer(reservation, .later) == [])
        }
        _ = bench.receive(.upload(upload(1...3)))
        _ = bench.machine.stopped(now: bench.now)
        #expect(answer(.frame, .granted) == [.release(cost: 7)])
        #expect(answer(.frame, .later) == [])
    }

    @Test func aFullWindowStopsTheReadingUntilABatchIsStored() throws {
        var bench = MachineBench.opened { limits, _ in limits.windowBatches = 2 }
        let first = try #require(submitted(bench.upload(1...3)))
        #expect(bench.machine.takesFrames)
        let second = try #require(submitted(bench.upload(4...6)))
        #expect(!bench.machine.takesFrames)
        _ = bench.settle(first.ticket, .success(3))
        #expect(bench.machine.takesFrames)
        _ = bench.settle(second.ticket, .success(6))

        let bytes = upload(1...50).payload.count
        bench = MachineBench.opened { limits, _ in limits.windowBytes = bytes }
        let large = try #require(submitted(bench.upload(1...50)))
        #expect(!bench.machine.takesFrames)
        _ = bench.settle(large.ticket, .success(50))
        #expect(bench.machine.takesFrames)
    }

    @Test func anotherEntityIsClaimedWhenAllBeforeIsStored() throws {
        var bench = MachineBench.opened()
        let own = try #require(submitted(bench.upload(1...3)))
        #expect(bench.upload(4...6, entity: "bus") == [])
        #expect(!bench.machine.takesFrames)
        let bus = EntityKey(service: own.batch.service, name: "bus")
        let settled = bench.settle(own.ticket, .success(3))
        #expect(settled.last == .openStream(MachineBench.stream, of: bus))
        let claim = StreamClaim(epoch: 8, storedThrough: 2, version: 0)
        let asked = bench.machine.streamOpened(.success(claim), now: bench.now)
        let batch = try #require(submitted(bench.grant(asked))).batch
        #expect(batch.entity == "bus" && batch.position?.epoch == 8 && batch.position?.previous == 2)
    }

    @Test func aStreamThatCannotBeOpenedEndsTheSession() {
        var bench = MachineBench.opened()
        _ = bench.upload(1...3, entity: "bus")
        let closing = frames(bench.machine.streamOpened(.failure(.busy), now: bench.now)).first?.closing
        #expect(closing?.code == .busy && closing?.retryAfter == 30)
    }

    @Test(arguments: [
        (IngestFailure.busy, ClosingCode.busy), (.unknownService, .internal), (.replaced, .replaced), (.rewound, .busy),
        (.failed, .internal), (.full, .unable), (.clock, .unable),
    ])
    func aFailureEndsTheSessionBehindWhatWasStored(failure: IngestFailure, code: ClosingCode) throws {
        var bench = MachineBench.opened()
        let first = try #require(submitted(bench.upload(1...3)))
        let second = try #require(submitted(bench.upload(4...6)))
        let actions = bench.machine.settled(
            [
                SettledJob(ticket: first.ticket, result: .success(3)),
                SettledJob(ticket: second.ticket, result: .failure(failure)),
            ], now: bench.now, clock: bench.clock)
        #expect(frames(actions).first?.uploadAck?.storedThrough == 3)
        #expect(frames(actions).last?.closing?.code == code)
        #expect(Array(actions.suffix(3)) == [.unregister, .setTimer(.phase, milliseconds: 5000), .close])
        // What is settled after the end leaves no mark behind.
        #expect(bench.settle(7, .failure(failure)) == [.forget])
    }

    @Test func refusalsAndIgnoredAttributesAreNotedTheLatterOnceAloud() throws {
        var bench = MachineBench.opened()
        var batch = points(1...3)
        batch[1].fix.speed = -1
        batch[2].attributes = ["fuel": .integer(1)]
        for row in batch.indices { batch[row].continuity = Continuity(interval: 5) }
        func send(_ first: UInt64) -> [Action] {
            bench.grant(bench.receive(.upload(Upload(BatchCodec.encode(batch), firstSequence: first))))
        }
        let actions = send(1)
        let sent = try #require(submitted(actions))
        #expect(sent.batch.sequences == [1, 3])
        // The track knows why a point is missing.
        let told = sent.batch.points.map { $0.continuity?.spans }
        #expect(told == [[], [GapSpan(.refused, from: nil, until: batch[2].fix.time)]])
        #expect(
            actions.contains(.note(.pointsRefused(1, ahead: 0, firstReason: "speed -1 cm/s must not be negative"))))
        #expect(actions.contains(.note(.attributesIgnored(["fuel"], isFirst: true))))
        #expect(send(4).contains(.note(.attributesIgnored(["fuel"], isFirst: false))))
        let acknowledgement = frames(bench.settle(sent.ticket, .success(3))).first?.uploadAck
        #expect(acknowledgement?.refused.map(\.sequence) == [2])
    }

    /// The rule of the Web API, for points of vehicles and for live hints.
    @Test func whatIsDatedAheadOfTheServersClockIsRefused() throws {
        var bench = MachineBench.opened()
        let limit = bench.clock.adding(milliseconds: 600_000)
        var batch = points(1...4)
        for (row, time) in [limit, limit.adding(milliseconds: 1), limit.adding(milliseconds: 619_315_200_000)]
            .enumerated()
        {
            batch[row + 1].fix.time = time
        }
        let actions = bench.grant(bench.receive(.upload(Upload(BatchCodec.encode(batch), firstSequence: 1))))
        let sent = try #require(submitted(actions))
        #expect(sent.batch.sequences == [1, 2])
        let refused = try #require(frames(bench.settle(sent.ticket, .success(4))).first?.uploadAck?.refused)
        #expect(refused.map(\.sequence) == [3, 4] && refused.allSatisfy(\.wrongDate))
        #expect(refused.allSatisfy { $0.reason.contains("600 s ahead") })
        #expect(
            actions.contains { if case .note(.pointsRefused(2, ahead: 2, _)) = $0 { true } else { false } })
        for (point, isRefused) in [(batch[1], false), (batch[2], true)] {
            var heartbeat = Heartbeat()
            heartbeat.liveHintBytes = PointRecord.encode(point)
            #expect(bench.receive(.heartbeat(heartbeat)).contains(.note(.hintRefused)) == isRefused)
        }
    }

    @Test func customPointsAreAnsweredAndNothingEndsByThem() throws {
        var bench = MachineBench.opened()
        let asked = bench.receive(.points(Points(BatchCodec.encode(points(1...3)), id: 4, entity: "")))
        let sent = try #require(submitted(bench.grant(asked)))
        #expect(sent.batch.position == nil)
        #expect(frames(bench.settle(sent.ticket, .success(0))).first?.pointsReply?.stored == 3)

        let wrong = bench.grant(
            bench.receive(.points(Points(EncodedBatch(isCompressed: true, bytes: [1], count: 1), id: 5, entity: ""))))
        #expect(frames(wrong).first?.pointsReply?.error.isEmpty == false)
        guard case .release? = wrong.first else { return #expect(Bool(false), "\(wrong)") }

        var bad = points(1...1)
        bad[0].fix.speed = -1
        let refused = bench.grant(bench.receive(.points(Points(BatchCodec.encode(bad), id: 6, entity: ""))))
        #expect(refused.first == .note(.pointsRefused(1, ahead: 0, firstReason: nil)))
        #expect(frames(refused).first?.pointsReply?.refused.count == 1)
        #expect(bench.machine.takesFrames)
    }

    @Test func oneHintIsWithTheWriterAndTheNewestOfTheOthersWaits() throws {
        var bench = MachineBench.opened()
        func hint(_ number: Int64) -> [Action] { bench.receive(.heartbeat(heartbeat(number))) }
        let first = hint(1)
        let cost = IngestJob.cost(payloadBytes: 0, points: 1)
        #expect(
            first == [
                .show(points([1])[0]), .reserve(.hint, cost: cost), .heard(nil),
                .send(ServerFrame(.heartbeat(Heartbeat()))),
            ])
        func grant(_ answer: SessionMachine.ReservationAnswer) -> [Action] {
            bench.machine.reserved(.hint, cost: cost, answer, now: bench.now, clock: bench.clock)
        }
        let sent = try #require(submitted(grant(.granted)))
        #expect(sent.batch.hint == points([1])[0] && sent.batch.points.isEmpty)
        for number in 2...5 as ClosedRange<Int64> {
            #expect(
                hint(number) == [.show(points([number])[0]), .heard(nil), .send(ServerFrame(.heartbeat(Heartbeat())))])
        }
        // A hint takes no room, and what became of it does not matter.
        #expect(bench.machine.takesFrames)
        let settled = bench.settle(sent.ticket, .failure(.failed))
        #expect(settled == [.show(points([5])[0]), .reserve(.hint, cost: cost)])
        // With the store behind it is left out; the next one is asked for again.
        #expect(grant(.later) == [])
        #expect(hint(6).contains(.reserve(.hint, cost: cost)))
    }

    @Test func aHintThatBreaksARuleIsLeftAloneAndOneThatIsNoneEndsTheSession() {
        var bench = MachineBench.opened()
        var wrong = points([5])[0]
        wrong.fix.speed = -1
        var heartbeat = Heartbeat()
        heartbeat.liveHintBytes = PointRecord.encode(wrong)
        #expect(
            bench.receive(.heartbeat(heartbeat)) == [
                .note(.hintRefused), .heard(nil), .send(ServerFrame(.heartbeat(Heartbeat()))),
            ])
        heartbeat.liveHintBytes = [1, 2, 3]
        #expect(frames(bench.receive(.heartbeat(heartbeat))).first?.closing?.code == .protocol)
    }

    // MARK: Two agents, one stream

    private func login(storedThrough: UInt64, waiting: Range<UInt64>) -> (MachineBench, told: UInt64?) {
        var bench = MachineBench()
        let actions = bench.logIn(storedThrough: storedThrough) {
            $0.firstSequence = waiting.lowerBound
            $0.nextSequence = waiting.upperBound
        }
        return (bench, frames(actions).first?.welcome?.storedThrough)
    }

    @Test func anAgentIsToldToSendWhatItStillHas() {
        #expect(login(storedThrough: 10, waiting: 4..<20).told == 3)
        #expect(login(storedThrough: 10, waiting: 11..<20).told == 10)
        #expect(login(storedThrough: 10, waiting: 15..<20).told == 10)
        #expect(login(storedThrough: 10, waiting: 1..<5).told == 0)
        // Nothing is at stake.
        #expect(login(storedThrough: 10, waiting: 5..<5).told == 10)
    }

    @Test func whatAnEarlierSessionStoredIsLookedForByItsTime() throws {
        var (bench, _) = login(storedThrough: 3, waiting: 1..<7)
        let asked = bench.upload(1...5)
        let car = EntityKey(service: try #require(ServiceID(rawValue: 1)), name: "car")
        let fixes = points(1...3).map(\.fix)
        let times = fixes.map(\.time)
        #expect(asked == [.findPlaces(of: car, [times[0]...times[2]])])
        #expect(!bench.machine.takesFrames)
        #expect(bench.fire(after: 500_000) == [.setTimer(.phase, milliseconds: 180_000)])
        // All is there: it is a duplicate as far as it goes.
        var same = bench
        let whole = same.machine.placesFound(
            Dictionary(uniqueKeysWithValues: fixes.map { ($0.time, $0.coordinate) }), now: bench.now)
        #expect(whole.count == 1)
        #expect(try #require(submitted(whole)).batch.sequences == [1, 2, 3, 4, 5])
        // Two are not: they belong to this agent alone.
        let actions = bench.machine.placesFound([times[1]: fixes[1].coordinate], now: bench.now)
        #expect(actions.first == .note(.streamShared(rescued: 2, refused: 0, isFirst: true)))
        guard case .submit(let ticket, let rescued, cost: 0) = actions[1] else {
            return #expect(Bool(false), "\(actions)")
        }
        #expect(rescued.position == nil && rescued.points == [points([1])[0], points([3])[0]])
        let batch = try #require(submitted(actions))
        // Both are stored by the session's claim, or not at all.
        let position = try #require(batch.batch.position)
        #expect(rescued.heldClaim == HeldClaim(stream: position.stream, epoch: position.epoch))
        #expect(batch.batch.position?.first == 1)
        // The acknowledgement waits for both.
        #expect(frames(bench.settle(ticket, .success(0))).isEmpty)
        #expect(frames(bench.settle(batch.ticket, .success(5))).first?.uploadAck?.storedThrough == 5)
        // Behind what earlier sessions stored nothing is looked for.
        #expect(submitted(bench.upload(6...6)) != nil)
    }

    /// Points lie on the grid of GNSS times: two boxes from one image gather at the same times.
    @Test func aPointOfAnotherAgentAtTheSameTimeStaysAndTheOwnOneIsRefused() throws {
        var (bench, _) = login(storedThrough: 3, waiting: 1..<4)
        _ = bench.upload(1...3)
        let fixes = points(1...3).map(\.fix)
        let elsewhere = try #require(Coordinate(latitudeE7: -1, longitudeE7: -1))
        let actions = bench.machine.placesFound(
            [fixes[0].time: fixes[0].coordinate, fixes[1].time: elsewhere, fixes[2].time: fixes[2].coordinate],
            now: bench.now)
        #expect(actions.first == .note(.streamShared(rescued: 0, refused: 1, isFirst: true)))
        let batch = try #require(submitted(actions))
        let acknowledgement = try #require(frames(bench.settle(batch.ticket, .success(3))).first?.uploadAck)
        #expect(acknowledgement.storedThrough == 3)
        #expect(acknowledgement.refused.map(\.sequence) == [2])
        #expect(acknowledgement.refused.first?.reason.contains("another agent") == true)
    }

    @Test func pointsThatCannotBeRescuedAreNotAcknowledged() throws {
        var (bench, _) = login(storedThrough: 3, waiting: 1..<7)
        _ = bench.upload(1...3)
        let actions = bench.machine.placesFound([:], now: bench.now)
        guard case .submit(let ticket, _, _) = actions[1] else { return #expect(Bool(false), "\(actions)") }
        let batch = try #require(submitted(actions))
        let end = bench.machine.settled(
            [
                SettledJob(ticket: ticket, result: .failure(.busy)),
                SettledJob(ticket: batch.ticket, result: .success(3)),
            ], now: bench.now, clock: bench.clock)
        #expect(frames(end).first?.closing?.code == .busy)
        #expect(frames(end).allSatisfy { $0.uploadAck == nil })
    }

    @Test func aSearchThatFailsOrComesTooLateGivesItsMemoryBack() {
        let ends: [(inout MachineBench) -> [Action]] = [
            { $0.machine.placesFound(nil, now: $0.now) }, { $0.machine.stopped(now: $0.now) }, { $0.machine.gone() },
        ]
        for end in ends {
            var (bench, _) = login(storedThrough: 3, waiting: 1..<7)
            let asked = bench.receive(.upload(upload(1...3)))
            guard case .reserve(_, let cost)? = asked.last else { return #expect(Bool(false), "\(asked)") }
            _ = bench.grant(asked)
            #expect(end(&bench).contains(.release(cost: cost)))
            #expect(bench.machine.placesFound([:], now: bench.now) == [])
        }
    }

    /// By a wrong clock points that are right would be refused for good.
    @Test func whileTheClockIsWrongNoPointIsJudgedAndTheSessionEnds() {
        var bench = MachineBench.opened()
        let actions = bench.grant(bench.receive(.upload(upload(1...3))), .clockWrong("it says 1970"))
        let closing = frames(actions).first?.closing
        #expect(closing?.code == .unable && closing?.reason == "it says 1970" && closing?.retryAfter == 30)
        #expect(!actions.contains { if case .note = $0 { true } else { false } })
        // A hint is left out, and nothing ends by it.
        bench = MachineBench.opened()
        _ = bench.receive(.heartbeat(heartbeat(1)))
        #expect(
            bench.machine.reserved(.hint, cost: 7, .clockWrong("it says 1970"), now: bench.now, clock: bench.clock)
                == [])
        #expect(bench.machine.takesFrames)
    }

    @Test func whileDrainingNothingIsReadAndWhatWaitsIsAnswered() throws {
        var bench = MachineBench.opened()
        let sent = try #require(submitted(bench.upload(1...3)))
        #expect(bench.machine.drain(now: bench.now) == [])
        #expect(!bench.machine.takesFrames && !bench.machine.dropsBytes)
        #expect(bench.fire(after: 500_000) == [.setTimer(.phase, milliseconds: 180_000)])
        #expect(frames(bench.settle(sent.ticket, .success(3))).first?.uploadAck?.storedThrough == 3)
        // Before the login there is nothing to drain.
        var early = MachineBench()
        early.connect()
        #expect(early.machine.drain(now: early.now) == [])
        #expect(early.machine.takesFrames)
    }
}
