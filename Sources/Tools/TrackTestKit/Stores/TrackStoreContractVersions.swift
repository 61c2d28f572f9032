import TrackModel
import TrackStore

extension TrackStoreContract {
    static var versions: [TrackStoreCheck] {
        [
            TrackStoreCheck("an entity's version ascends with what is stored for it, and with nothing else") {
                subject in
                let (store, service) = try await subject.withService()
                var session = TestSession(service, .one)
                var former = try await session.open("truck", in: store).version
                func version(_ batch: IngestBatch) async throws -> Int64 {
                    guard let version = await store.ingest([batch]).first?.version else {
                        throw ContractViolation(description: "a batch without a version")
                    }
                    return version
                }
                for index in 0..<4 as Range<Int64> {
                    let batch = session.claimed(
                        subject.batch(
                            service, first: UInt64(index * 5 + 1), TrackPoint.samples((index * 5)..<(index * 5 + 5))))
                    session.sent(batch)
                    let streamed = try await version(batch)
                    try expect(streamed > former, is: true, "after a streamed batch")
                    try expect(try await version(batch), is: streamed, "after the same again")
                    let hinted = try await version(subject.hint(service, .sample(1000 + index)))
                    try expect(hinted, is: streamed, "after a hint")
                    former = try await version(subject.custom(service, [.sample(index)]))
                    try expect(former > streamed, is: true, "after a custom point")
                    // Another entity's batches are none of this one's.
                    _ = try await version(subject.custom(service, entity: "other", [.sample(index)]))
                    _ = try await store.merge(limit: 100)
                    let claim = try await session.open("truck", in: store)
                    try expect(claim.version, is: former, "of the claim")
                    try expect(try await store.version(of: "truck", in: service), is: former, "asked for")
                }
            },
            TrackStoreCheck("a batch that expects another version is not stored and told the present one") { subject in
                let (store, service) = try await subject.withService()
                var session = TestSession(service, .one)
                let claim = try await session.open("truck", in: store)
                var batch = session.claimed(subject.batch(service, first: 1, TrackPoint.samples(0..<6)))
                (batch.expectedVersion, batch.fences) = (claim.version, [1, 2])
                batch.pushes = [CausedPush(by: 1, NewPush(type: 3, body: "{}", targets: .service))]
                // Somebody else comes first.
                let custom = await store.ingest([subject.custom(service, [.sample(50)])])
                let moved = custom.first?.version ?? 0
                try expect(await store.ingest([batch]), is: [.stale(version: moved, fences: nil)], "the outcome")
                try expect(try await store.history(in: service).count, is: 1, "points")
                try expect(try await store.storedThrough(.two, in: service), is: 0, "another stream")
                let none = try await store.pushes(
                    in: service, matching: PushFilter(), at: .at(0), page: Page(offset: 0, limit: 9))
                try expect(none.total, is: 0, "pushes")
                batch.expectedVersion = moved
                let stored = await store.ingest([batch])
                try expect(stored.map(\.withoutVersion), is: [.stored(through: 6)], "evaluated again")
                // What is stored already is a duplicate, whatever it expected.
                try expect(await store.ingest([batch]).map(\.withoutVersion), is: [.duplicate(through: 6)], "again")
                var next = subject.custom(service, [.sample(51)])
                (next.expectedVersion, next.fences) = (moved, [9])
                try expect(
                    await store.ingest([next]), is: [.stale(version: stored.first?.version ?? 0, fences: [1, 2])],
                    "a custom point that expects another version")
                try await expect(.unknownEntity) { try await store.version(of: "ghost", in: service) }
                var unknown = subject.custom(service, entity: "ghost", [.sample(51)])
                unknown.expectedVersion = moved
                try expect(await store.ingest([unknown]), is: [.stale(version: 0, fences: nil)], "an unknown entity")
                try expect(try await store.entity(named: "ghost", in: service), is: nil, "that entity")
                unknown.expectedVersion = 0
                try expect(await store.ingest([unknown]).map(\.withoutVersion), is: [.stored(through: 0)], "a new one")
            },
            TrackStoreCheck("the fence state is what the last batch that had one left") { subject in
                let (store, service) = try await subject.withService()
                var session = TestSession(service, .one)
                try await session.open("truck", in: store)
                let states: [[UInt8]?] = [[1], nil, [2, 0], [], nil]
                var wanted: [UInt8]?
                for (index, state) in states.enumerated() {
                    var batch = session.claimed(
                        subject.batch(service, first: UInt64(index + 1), [.sample(Int64(index))]))
                    session.sent(batch)
                    batch.fences = state
                    wanted = state ?? wanted
                    _ = await store.ingest([batch])
                    let claim = try await store.openStream(.two, of: "truck", in: service, at: .at(0))
                    try expect(claim.fences, is: wanted, "fences after batch \(index)")
                }
                // Without any point: fences change with time too.
                let before = try await store.openStream(.two, of: "truck", in: service, at: .at(0))
                var alone = subject.custom(service, [])
                (alone.fences, alone.expectedVersion) = ([7], before.version)
                let version = await store.ingest([alone]).first?.version ?? 0
                try expect(version > before.version, is: true, "that the version ascends")
                let after = try await store.openStream(.two, of: "truck", in: service, at: .at(0))
                try expect(after.fences, is: [7], "fences")
                try expect(after.version, is: version, "the version")
                try expect(try await store.history(in: service).count, is: states.count, "points")
                try expect(
                    try await store.entity(named: "truck", in: service)?.latest?.point, is: .sample(4), "the latest")
                try expect(try await store.checkIntegrity(), is: [], "integrity")
            },
        ]
    }
}
