import TrackModel
import TrackStore

extension TrackStoreContract {
    static var streams: [TrackStoreCheck] {
        [
            TrackStoreCheck("a store says when it received last") { subject in
                let (store, service) = try await subject.withService()
                try expect(try await store.lastReceived(), is: nil, "nothing yet")
                _ = try await store.upload([
                    subject.batch(service, entity: "a", first: 1, TrackPoint.samples(0..<6), received: .at(500))
                ])
                try expect(try await store.lastReceived(), is: .at(500), "the first batch")
                // The clock was set back: the last is the last.
                _ = try await store.upload([
                    subject.batch(service, entity: "b", first: 7, TrackPoint.samples(0..<3), received: .at(40))
                ])
                try expect(try await store.lastReceived(), is: .at(40), "the second batch")
                // Points of the wrong clock and of the right one become one chunk.
                _ = try await store.upload([
                    subject.batch(service, entity: "a", first: 7, TrackPoint.samples(6..<12), received: .at(41))
                ])
                while try await store.merge(limit: 100) > 0 {}
                try expect(try await store.lastReceived(), is: .at(41), "after merging")
            },
            TrackStoreCheck("a batch that comes again is recognised and not stored again") { subject in
                let (store, service) = try await subject.withService()
                try expect(try await store.storedThrough(.one, in: service), is: 0, "an unknown stream")
                let batch = subject.batch(service, first: 1, TrackPoint.samples(0..<6), received: .at(50))
                try expect(try await store.upload([batch]), is: [.stored(through: 6)], "the first time")
                let history = try await store.history(in: service)
                var again = batch
                again.received = .at(60)
                try expect(
                    try await store.upload([again, again]), is: [.duplicate(through: 6), .duplicate(through: 6)],
                    "again")
                try expect(try await store.storedThrough(.one, in: service), is: 6, "stored through")
                try expect(try await store.history(in: service), is: history, "points")
                try expect(try await store.counts().points, is: 6, "points counted")
            },
            TrackStoreCheck("an older part of a stream is a duplicate, whatever it holds") { subject in
                let (store, service) = try await subject.withService()
                _ = try await store.upload([subject.batch(service, first: 10, TrackPoint.samples(0..<5))])
                let old = subject.batch(service, first: 3, TrackPoint.samples(90..<93, mark: 7))
                try expect(try await store.upload([old]), is: [.duplicate(through: 14)], "outcome")
                try expect(try await store.history(in: service).count, is: 5, "points")
            },
            TrackStoreCheck("of a batch that overlaps only the new points are stored") { subject in
                let (store, service) = try await subject.withService()
                _ = try await store.upload([subject.batch(service, first: 1, TrackPoint.samples(0..<4))])
                let next = subject.batch(
                    service, first: 3, TrackPoint.samples(2..<4, mark: 9) + TrackPoint.samples(4..<8),
                    received: .at(70))
                try expect(try await store.upload([next]), is: [.stored(through: 8)], "outcome")
                let history = try await store.history(in: service)
                try expect(history.map(\.point), is: TrackPoint.samples(0..<8), "points")
                let wanted = Array(repeating: Timestamp.at(100_000), count: 4) + Array(repeating: .at(70), count: 4)
                try expect(history.map(\.received), is: wanted, "receive times")
            },
            TrackStoreCheck("a gap in a stream is accepted: the agent's ring may have dropped what is missing") {
                subject in
                let (store, service) = try await subject.withService()
                let batches = [
                    subject.batch(service, first: 5, TrackPoint.samples(0..<2)),
                    subject.batch(service, first: 100, TrackPoint.samples(10..<12)),
                ]
                try expect(
                    try await store.upload(batches), is: [.stored(through: 6), .stored(through: 101)], "outcomes")
                try expect(try await store.history(in: service).count, is: 4, "points")
            },
            TrackStoreCheck("refused points count as stored in their stream") { subject in
                let (store, service) = try await subject.withService()
                var batch = subject.batch(service, first: 1, TrackPoint.samples(0..<6))
                batch.points = [batch.points[1], batch.points[4]]
                batch.sequences = [2, 5]
                batch.payload = nil
                try expect(try await store.upload([batch]), is: [.stored(through: 6)], "some refused")
                var all = subject.batch(service, entity: "empty", first: 7, TrackPoint.samples(6..<8))
                (all.points, all.sequences, all.payload) = ([], [], nil)
                try expect(try await store.upload([all]), is: [.stored(through: 8)], "all refused")
                try expect(try await store.storedThrough(.one, of: "empty", in: service), is: 8, "all refused, claimed")
                try expect(try await store.storedThrough(.one, in: service), is: 6, "some refused, claimed")
                try expect(
                    try await store.history(in: service).map(\.point),
                    is: [.sample(1), .sample(4)], "points")
                var overlap = subject.batch(service, first: 5, TrackPoint.samples(20..<26))
                overlap.points = [overlap.points[0], overlap.points[5]]
                overlap.sequences = [5, 10]
                overlap.payload = nil
                try expect(try await store.upload([overlap]), is: [.stored(through: 10)], "overlap with refused")
                try expect(try await store.history(in: service).map(\.point).last, is: .sample(25), "last")
                try expect(try await store.history(in: service).count, is: 3, "points after the overlap")
            },
            TrackStoreCheck("several batches of a stream in one call follow each other") { subject in
                let (store, service) = try await subject.withService()
                let outcomes = try await store.upload([
                    subject.batch(service, first: 1, TrackPoint.samples(0..<3)),
                    subject.batch(service, first: 4, TrackPoint.samples(3..<6)),
                    subject.batch(service, first: 1, TrackPoint.samples(0..<3)),
                    subject.batch(service, first: 5, TrackPoint.samples(4..<8)),
                    subject.batch(service, stream: .two, first: 1, TrackPoint.samples(8..<9)),
                ])
                try expect(
                    outcomes,
                    is: [
                        .stored(through: 3), .stored(through: 6), .duplicate(through: 6), .stored(through: 8),
                        .stored(through: 1),
                    ], "outcomes")
                try expect(
                    try await store.history(in: service).map(\.point), is: TrackPoint.samples(0..<9), "points")
            },
            TrackStoreCheck("one stream may carry several entities") { subject in
                let (store, service) = try await subject.withService()
                _ = try await store.upload([
                    subject.batch(service, entity: "a", first: 1, TrackPoint.samples(0..<3)),
                    subject.batch(service, entity: "b", first: 4, TrackPoint.samples(3..<5)),
                ])
                try expect(try await store.storedThrough(.one, of: "a", in: service), is: 3, "stored through of a")
                try expect(try await store.storedThrough(.one, of: "b", in: service), is: 5, "stored through of b")
                try expect(try await store.history(of: "a", in: service).count, is: 3, "points of a")
                try expect(try await store.history(of: "b", in: service).count, is: 2, "points of b")
            },
            TrackStoreCheck("sequences use all 64 bits") { subject in
                let (store, service) = try await subject.withService()
                let batches = [
                    subject.batch(service, first: UInt64(Int64.max) - 1, TrackPoint.samples(0..<4)),
                    subject.batch(service, first: .max - 1, TrackPoint.samples(4..<6)),
                ]
                let wanted: [IngestOutcome] = [.stored(through: UInt64(Int64.max) + 2), .stored(through: .max)]
                try expect(try await store.upload(batches), is: wanted, "outcomes")
                try expect(
                    try await store.upload([batches[0]]), is: [.duplicate(through: .max)], "again")
                try expect(try await store.storedThrough(.one, in: service), is: .max, "stored through")
            },
        ]
    }

    static var batches: [TrackStoreCheck] {
        [
            TrackStoreCheck("a batch whose service is gone fails alone") { subject in
                let (store, service) = try await subject.withService()
                guard let missing = ServiceID(rawValue: 999) else { return }
                let outcomes = try await store.upload([
                    subject.batch(service, first: 1, TrackPoint.samples(0..<2)),
                    subject.batch(missing, first: 3, TrackPoint.samples(2..<4)),
                    subject.batch(service, first: 3, TrackPoint.samples(2..<4)),
                ])
                let failure = IngestOutcome.failed(TrackStoreError(.unknownService, ""))
                try expect(outcomes, is: [.stored(through: 2), failure, .stored(through: 4)], "outcomes")
                try expect(try await store.history(in: service).count, is: 4, "points")
                try expect(try await store.counts().entities, is: 1, "entities")
            },
            TrackStoreCheck("a batch that contradicts itself fails alone") { subject in
                let (store, service) = try await subject.withService()
                var unnumbered = subject.batch(service, first: 1, TrackPoint.samples(0..<3))
                unnumbered.sequences.removeLast()
                var none = subject.batch(service, stream: .two, first: 0, [])
                none.payload = nil
                let third = StreamID(high: 1, low: 3)
                var beyond = subject.batch(service, stream: third, first: 1, TrackPoint.samples(0..<2))
                beyond.position?.first = .max
                let outcomes = try await store.upload([
                    unnumbered, none, beyond,
                    subject.batch(service, stream: StreamID(high: 1, low: 4), first: 1, TrackPoint.samples(0..<1)),
                ])
                let failure = IngestOutcome.failed(TrackStoreError(.failed, ""))
                try expect(outcomes, is: [failure, failure, failure, .stored(through: 1)], "outcomes")
            },
            TrackStoreCheck("points of no stream are stored as often as they come, the later for the earlier") {
                subject in
                let (store, service) = try await subject.withService()
                let first = subject.custom(service, TrackPoint.samples([7, 3, 5], mark: 1), received: .at(1))
                let second = subject.custom(service, TrackPoint.samples([5], mark: 2), received: .at(2))
                try expect(
                    try await store.upload([first, second]), is: [.stored(through: 0), .stored(through: 0)],
                    "outcomes")
                try expect(
                    try await store.history(in: service),
                    is: [
                        StoredPoint(.sample(3, mark: 1), received: .at(1)),
                        StoredPoint(.sample(5, mark: 2), received: .at(2)),
                        StoredPoint(.sample(7, mark: 1), received: .at(1)),
                    ], "points")
            },
            TrackStoreCheck("the entity of a batch is made with it") { subject in
                let (store, service) = try await subject.withService()
                _ = try await store.upload([
                    subject.custom(service, [.sample(3)], received: .at(44)),
                    subject.custom(service, [.sample(4)], received: .at(45)),
                ])
                let entity = try await store.entity(named: "truck", in: service)
                try expect(entity?.created, is: .at(44), "created")
                try expect(entity?.description, is: "", "description")
                try expect(try await store.upload([]), is: [], "no batches")
            },
            TrackStoreCheck("the latest point has the greatest time, of equal times the one stored later") {
                subject in
                let (store, service) = try await subject.withService()
                func latest() async throws -> StoredPoint? {
                    try await store.entity(named: "truck", in: service)?.latest
                }
                let steps: [([TrackPoint], StoredPoint)] = [
                    (TrackPoint.samples([4, 9, 2], mark: 1), StoredPoint(.sample(9, mark: 1), received: .at(20))),
                    (TrackPoint.samples([8], mark: 2), StoredPoint(.sample(9, mark: 1), received: .at(20))),
                    (TrackPoint.samples([9], mark: 3), StoredPoint(.sample(9, mark: 3), received: .at(22))),
                    (
                        [.sample(11, mark: 4), .sample(11, mark: 5), .sample(10, mark: 6)],
                        StoredPoint(.sample(11, mark: 5), received: .at(23))
                    ),
                ]
                for (index, step) in steps.enumerated() {
                    _ = try await store.upload([
                        subject.custom(service, step.0, received: .at(20 + Int64(index)))
                    ])
                    try expect(try await latest(), is: step.1, "after step \(index)")
                }
                let listed = try await store.entities(
                    in: service, matching: EntityFilter(), page: Page(offset: 0, limit: 1))
                try expect(listed.entities.first?.latest, is: steps.last?.1, "in the list")
            },
            TrackStoreCheck("a position that is dated ahead of the server's clock hides no newer one") { subject in
                let (store, service) = try await subject.withService()
                func latest() async throws -> Int64? {
                    let entity = try await store.entity(named: "truck", in: service)
                    return entity?.latest.map { $0.point.fix.time.milliseconds(since: .at(0)) / 1000 }
                }
                func put(_ seconds: [Int64], at received: Int64) async throws {
                    _ = try await store.upload([
                        subject.custom(service, TrackPoint.samples(seconds), received: .at(received))
                    ])
                }
                // Of years ahead, as older versions stored them, and of minutes ahead.
                for ahead in [600_000_000, 300] as [Int64] {
                    let now = ahead == 300 ? 2000 : 1000 as Int64
                    try await put([now + ahead], at: now)
                    try expect(try await latest(), is: now + ahead, "the first one")
                    try await put([now - 500], at: now + 1)
                    try expect(try await latest(), is: now + ahead, "a point of long before")
                    try await put([now + 1], at: now + 2)
                    try expect(try await latest(), is: now + 1, "a right one")
                    _ = try await store.upload([
                        subject.hint(service, .sample(now + 50 + ahead), received: .at(now + 50))
                    ])
                    try expect(try await latest(), is: now + 50 + ahead, "a hint of the future")
                    try await put([now + 60], at: now + 61)
                    try expect(try await latest(), is: now + 60, "after a hint of the future")
                    // In one batch with right ones behind it.
                    try await put([now + 70, now + 71 + ahead, now + 72], at: now + 73)
                    try expect(try await latest(), is: now + 72, "in one batch")
                    _ = try await store.upload([subject.hint(service, .sample(now + 80), received: .at(now + 81))])
                    try expect(try await latest(), is: now + 80, "a right hint")
                    try expect(try await store.checkIntegrity(), is: [], "problems")
                }
            },
            TrackStoreCheck("every field of a point comes back as it was") { subject in
                let (store, service) = try await subject.withService()
                guard let place = Coordinate(latitudeE7: -900_000_000, longitudeE7: 1_800_000_000) else { return }
                let full = TrackPoint(
                    Fix(
                        time: Timestamp(milliseconds: 1_700_000_000_123), coordinate: place, speed: 0,
                        course: 3599, altitude: -4280, accuracy: 0, mode: .twoDimensional, status: .deadReckoning,
                        satellites: 255),
                    coordinateType: .bd09ll, objectName: "container 7",
                    attributes: [
                        "fuel": .double(0.1), "doors": .integer(.min), "driver": .string("N\u{E6}ss"),
                        "empty": .string(""),
                    ])
                let bare = TrackPoint(Fix(time: Timestamp(milliseconds: -1), coordinate: place))
                _ = try await store.upload([subject.batch(service, first: 1, [bare, full])])
                _ = try await store.upload([subject.custom(service, entity: "other", [full, bare])])
                for entity in ["truck", "other"] {
                    let points = try await store.history(of: entity, in: service)
                    try expect(points.map(\.point), is: [bare, full], "points of \(entity)")
                    let latest = try await store.entity(named: entity, in: service)?.latest
                    try expect(latest?.point, is: full, "latest of \(entity)")
                }
            },
        ]
    }
}
