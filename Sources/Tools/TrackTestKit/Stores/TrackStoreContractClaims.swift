import TrackModel
import TrackStore

extension TrackStoreContract {
    static var claims: [TrackStoreCheck] {
        claimChecks + orderChecks
    }

    private static var claimChecks: [TrackStoreCheck] {
        [
            TrackStoreCheck("opening a stream makes the entity and tells where to go on") { subject in
                let (store, service) = try await subject.withService()
                var session = TestSession(service, .one)
                let first = try await session.open("truck", in: store, at: .at(7))
                try expect(first.storedThrough, is: 0, "of an unknown stream")
                try expect(first.version, is: 0, "the version of a new entity")
                try expect(first.fences, is: nil, "fences of a new entity")
                try expect(try await store.entity(named: "truck", in: service)?.created, is: .at(7), "made at")
                let batch = session.claimed(subject.batch(service, first: 1, TrackPoint.samples(0..<6)))
                try expect(await store.ingest([batch]).map(\.withoutVersion), is: [.stored(through: 6)], "the batch")
                let second = try await session.open("truck", in: store, at: .at(9))
                try expect(second.storedThrough, is: 6, "of a known stream")
                try expect(second.epoch > first.epoch, is: true, "that epochs ascend")
                try expect(second.version > 0, is: true, "that there is a version")
                try expect(try await store.entity(named: "truck", in: service)?.created, is: .at(7), "made once")
                if let missing = ServiceID(rawValue: service.rawValue + 1) {
                    try await expect(.unknownService) {
                        try await store.openStream(.one, of: "truck", in: missing, at: .at(1))
                    }
                }
                try expect(try await store.counts().entities, is: 1, "entities")
            },
            TrackStoreCheck("of an entity the streams that were opened last are remembered") { subject in
                let (store, service) = try await subject.withService()
                func stream(_ number: Int) -> StreamID { StreamID(high: 77, low: UInt64(number)) }
                var sessions = (0..<StreamClaim.mostStreams + 3).map { TestSession(service, stream($0)) }
                for index in sessions.indices {
                    try await sessions[index].open("truck", in: store, at: .at(Int64(index)))
                    // Another entity's streams count for themselves.
                    if index == 0 { _ = try await store.openStream(stream(0), of: "van", in: service, at: .at(0)) }
                    guard index < 5 else { continue }
                    let batch = sessions[index].claimed(
                        subject.batch(service, stream: stream(index), first: 1, TrackPoint.samples(0..<3)))
                    try expect(await store.ingest([batch]).map(\.withoutVersion), is: [.stored(through: 3)], "a batch")
                }
                let old = sessions[2].claimed(
                    subject.batch(service, stream: stream(2), first: 4, TrackPoint.samples(3..<6)))
                try expect(await store.ingest([old]), is: [.replaced], "a stream that is forgotten")
                let kept = try await store.openStream(stream(4), of: "truck", in: service, at: .at(999))
                try expect(kept.storedThrough, is: 3, "a stream that is remembered")
                let forgotten = try await store.openStream(stream(1), of: "truck", in: service, at: .at(999))
                try expect(forgotten.storedThrough, is: 0, "a stream that begins anew")
                try expect(try await store.history(in: service).count, is: 3, "points, each once")
            },
            TrackStoreCheck("a newer claim ends the older one, and what it says is final") { subject in
                let (store, service) = try await subject.withService()
                var (old, new) = (TestSession(service, .one), TestSession(service, .one))
                try await old.open("truck", in: store)
                let early = old.claimed(subject.batch(service, first: 1, TrackPoint.samples(0..<3)))
                _ = await store.ingest([early])
                old.sent(early)
                let claim = try await new.open("truck", in: store)
                try expect(claim.storedThrough, is: 3, "the new claim")
                let late = old.claimed(subject.batch(service, first: 4, TrackPoint.samples(90..<93)))
                // Again and again: also what is a duplicate to the new one, and what comes after the new one has stored.
                try expect(await store.ingest([late]), is: [.replaced], "the old claim")
                try expect(await store.ingest([early]), is: [.replaced], "the old claim's earlier batch")
                let next = new.claimed(subject.batch(service, first: 4, TrackPoint.samples(3..<6)))
                try expect(await store.ingest([next]).map(\.withoutVersion), is: [.stored(through: 6)], "the new claim")
                try expect(await store.ingest([late, late]).first, is: .replaced, "the old claim afterwards")
                try expect(
                    try await store.history(in: service).map(\.point), is: TrackPoint.samples(0..<6), "points")
            },
            TrackStoreCheck("points of no stream can be bound to a claim") { subject in
                let (store, service) = try await subject.withService()
                var (old, new) = (TestSession(service, .one), TestSession(service, .one))
                func rescued(by claim: StreamClaim, _ points: Range<Int64>, _ entity: String = "truck") -> IngestBatch {
                    IngestBatch(
                        service: service, entity: entity, position: nil, points: TrackPoint.samples(points),
                        sequences: [],
                        payload: nil, received: .at(9), heldClaim: HeldClaim(stream: .one, epoch: claim.epoch))
                }
                let first = try await old.open("truck", in: store)
                let held = await store.ingest([rescued(by: first, 0..<2)])
                try expect(held.map(\.withoutVersion), is: [.stored(through: 0)], "by the claim that holds")
                let second = try await new.open("truck", in: store)
                let late = await store.ingest([rescued(by: first, 0..<2), rescued(by: second, 5..<7)])
                try expect(late.map(\.withoutVersion), is: [.replaced, .stored(through: 0)], "by both claims")
                let other = await store.ingest([rescued(by: second, 8..<9, "bus")])
                try expect(other, is: [.replaced], "for an entity without a claim")
                try expect(
                    try await store.history(in: service).map(\.point),
                    is: TrackPoint.samples(0..<2) + TrackPoint.samples(5..<7), "points")
                try expect(try await store.entity(named: "bus", in: service), is: nil, "the other entity")
            },
            TrackStoreCheck("claims are of one stream and one entity") { subject in
                let (store, service) = try await subject.withService()
                var (one, two) = (TestSession(service, .one), TestSession(service, .two))
                try await one.open("a", in: store)
                try await one.open("b", in: store)
                try await two.open("a", in: store)
                let batches = [
                    one.claimed(subject.batch(service, entity: "a", first: 1, TrackPoint.samples(0..<3))),
                    one.claimed(subject.batch(service, entity: "b", first: 4, TrackPoint.samples(0..<3))),
                    two.claimed(
                        subject.batch(service, entity: "a", stream: .two, first: 9, TrackPoint.samples(3..<5))),
                ]
                try expect(
                    await store.ingest(batches).map(\.withoutVersion),
                    is: [.stored(through: 3), .stored(through: 6), .stored(through: 10)], "outcomes")
                let unclaimed = one.claimed(subject.batch(service, entity: "c", first: 7, TrackPoint.samples(0..<3)))
                try expect(await store.ingest([unclaimed]), is: [.replaced], "an entity that nobody claimed")
                try expect(try await store.entity(named: "c", in: service), is: nil, "that entity")
                try expect(try await store.storedThrough(.one, of: "a", in: service), is: 3, "a of one")
                try expect(try await store.storedThrough(.one, of: "b", in: service), is: 6, "b of one")
                try expect(try await store.storedThrough(.two, of: "a", in: service), is: 10, "a of two")
                try expect(try await store.storedThrough(.two, of: "b", in: service), is: 0, "b of two")
            },
        ]
    }

    private static var orderChecks: [TrackStoreCheck] {
        [
            TrackStoreCheck("a batch that is given again after its answer was lost is a duplicate") { subject in
                let (store, service) = try await subject.withService()
                var session = TestSession(service, .one)
                try await session.open("truck", in: store)
                let first = session.claimed(subject.batch(service, first: 1, TrackPoint.samples(0..<6)))
                session.sent(first)
                let second = session.claimed(subject.batch(service, first: 7, TrackPoint.samples(6..<9)))
                let before = await store.ingest([first, second])
                let after = await store.ingest([first, second])
                try expect(after.map(\.withoutVersion), is: [.duplicate(through: 9), .duplicate(through: 9)], "again")
                try expect(after.last?.version, is: before.last?.version, "the version")
                try expect(try await store.history(in: service).count, is: 9, "points")
            },
            TrackStoreCheck("a store that has less than the session believes says so and stores nothing") { subject in
                let (store, service) = try await subject.withService()
                var session = TestSession(service, .one)
                try await session.open("truck", in: store)
                let first = session.claimed(subject.batch(service, first: 1, TrackPoint.samples(0..<6)))
                // Never stored, but believed to be.
                session.sent(first)
                let second = session.claimed(subject.batch(service, first: 7, TrackPoint.samples(6..<9)))
                try expect(await store.ingest([second]), is: [.rewound(through: 0)], "outcome")
                try expect(try await store.history(in: service), is: [], "points")
                try expect(
                    await store.ingest([first, second]).map(\.withoutVersion),
                    is: [.stored(through: 6), .stored(through: 9)], "in order")
            },
            TrackStoreCheck("after a batch that is not stored no later one of its stream is, whatever its entity") {
                subject in
                let (store, service) = try await subject.withService()
                var (one, two) = (TestSession(service, .one), TestSession(service, .two))
                try await one.open("a", in: store)
                try await one.open("b", in: store)
                try await two.open("a", in: store)
                var stale = one.claimed(subject.batch(service, entity: "a", first: 1, TrackPoint.samples(0..<3)))
                stale.expectedVersion = 12_345
                let follower = one.claimed(subject.batch(service, entity: "b", first: 4, TrackPoint.samples(0..<3)))
                let other = two.claimed(
                    subject.batch(service, entity: "a", stream: .two, first: 1, TrackPoint.samples(5..<6)))
                let custom = subject.custom(service, entity: "b", [.sample(50)])
                let outcomes = await store.ingest([stale, follower, other, custom])
                try expect(
                    outcomes.map(\.withoutVersion),
                    is: [
                        .stale(version: 0, fences: nil), .failed(TrackStoreError(.outOfTurn, "")), .stored(through: 1),
                        .stored(through: 0),
                    ], "outcomes")
                stale.expectedVersion = nil
                try expect(
                    await store.ingest([stale, follower]).map(\.withoutVersion),
                    is: [.stored(through: 3), .stored(through: 6)], "in the next call")
            },
            TrackStoreCheck("sessions that come and go store each record once and without a hole") { subject in
                for _ in 0..<3 {
                    let seed = UInt64.random(in: .min ... .max)
                    do {
                        try await playZombies(subject, seed: seed)
                    } catch {
                        throw ContractViolation(description: "seed \(seed): \(error)")
                    }
                }
            },
            TrackStoreCheck("sessions at the same time on one stream store each record once and without a hole") {
                subject in
                let (store, service) = try await subject.withService()
                let last: UInt64 = 120
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            var through: UInt64 = 0
                            while through < last {
                                var session = TestSession(service, .one)
                                let told = try await session.open("truck", in: store).storedThrough
                                try expect(told >= through, is: true, "the claim covers what was acknowledged")
                                through = told
                                while through < last {
                                    let records = (through + 1)...min(through + 3, last)
                                    let batch = session.claimed(
                                        subject.batch(
                                            service, first: records.lowerBound,
                                            TrackPoint.samples(records.map(Int64.init))))
                                    guard await store.ingest([batch]).first?.isKept == true else { break }
                                    session.sent(batch)
                                    through = records.upperBound
                                }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                let wanted = TrackPoint.samples((1...last).map(Int64.init))
                try expect(try await store.history(in: service).map(\.point), is: wanted, "points")
                try expect(try await store.counts().points, is: Int(last), "points counted")
            },
        ]
    }

    /// One agent whose links break; what its earlier sessions had sent arrives whenever it likes.
    private static func playZombies(_ subject: TrackStoreSubject, seed: UInt64) async throws {
        var random = SplitMix(state: seed)
        let (store, service) = try await subject.withService()
        var (acknowledged, next): (UInt64, UInt64) = (0, 1)
        var session = TestSession(service, .one)
        try await session.open("truck", in: store)
        /// Sent and not yet with the store; those of the present session are the last.
        var underWay: [IngestBatch] = []
        var zombies: [IngestBatch] = []
        for _ in 0..<300 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                zombies += underWay
                underWay = []
                session = TestSession(service, .one)
                let told = try await session.open("truck", in: store).storedThrough
                try expect(told >= acknowledged, is: true, "\(told) told, \(acknowledged) acknowledged")
                next = told + 1
            case 1...2:
                guard let index = zombies.indices.randomElement(using: &random) else { continue }
                let outcome = await store.ingest([zombies.remove(at: index)])
                try expect(outcome, is: [.replaced], "a zombie's batch")
            case 3...6:
                let count = UInt64.random(in: 1...4, using: &random)
                let batch = session.claimed(
                    subject.batch(service, first: next, TrackPoint.samples((next..<(next + count)).map(Int64.init))))
                session.sent(batch)
                underWay.append(batch)
                next += count
            default:
                guard !underWay.isEmpty else { continue }
                let batch = underWay.removeFirst()
                // Now and then the answer is lost, and the writer gives the batch again.
                if Bool.random(using: &random) { _ = await store.ingest([batch]) }
                try expect(await store.ingest([batch]).first?.isKept, is: true, "a batch of the present session")
                acknowledged = batch.position?.last ?? 0
            }
        }
        let points = try await store.history(in: service).map(\.point)
        try expect(points, is: TrackPoint.samples((1..<Int64(points.count + 1))), "points")
        try expect(UInt64(points.count) >= acknowledged, is: true, "what was acknowledged")
        try expect(try await store.counts().points, is: points.count, "points counted")
    }
}
