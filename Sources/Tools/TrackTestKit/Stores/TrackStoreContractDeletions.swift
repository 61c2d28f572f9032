import TrackModel
import TrackStore

extension TrackStoreContract {
    static var deletions: [TrackStoreCheck] {
        [
            TrackStoreCheck("a deleted entity is gone with all that was stored for it") { subject in
                let (store, service) = try await subject.withService()
                let team = ColumnRecord(key: "team", type: .string, created: .at(1))
                try await store.addColumn(team, of: .entity, in: service)
                for name in ["truck", "van"] {
                    try await store.addEntity(NewEntity(name: name, values: ["team": name]), in: service, at: .at(1))
                    _ = try await store.upload([
                        subject.batch(service, entity: name, first: 1, TrackPoint.samples(0..<6)),
                        subject.custom(service, entity: name, [.sample(70)]),
                        subject.hint(service, entity: name, .sample(90)),
                    ])
                }
                let van = try await store.entity(named: "van", in: service)
                try await store.deleteEntity(named: "truck", in: service, at: .at(2))
                try expect(try await store.entity(named: "truck", in: service), is: nil, "the entity")
                try await expect(.unknownEntity) { try await store.history(in: service) }
                try await expect(.unknownEntity) {
                    try await store.deleteEntity(named: "truck", in: service, at: .at(3))
                }
                try expect(try await store.entity(named: "van", in: service), is: van, "another entity")
                try expect(try await store.history(of: "van", in: service).count, is: 7, "its points")
                try expect(try await store.counts().points, is: 7, "points counted")
                let active = try await store.entities(
                    in: service, matching: EntityFilter(activeSince: .at(0)), page: Page(offset: 0, limit: 9))
                try expect(active.entities.map(\.name), is: ["van"], "active entities")
                // Made again, it knows nothing of its former self.
                try await store.addEntity(NewEntity(name: "truck"), in: service, at: .at(4))
                let again = EntityRecord(
                    name: "truck", description: "", created: .at(4), modified: .at(4), latest: nil)
                try expect(try await store.entity(named: "truck", in: service), is: again, "made again")
                try expect(try await store.history(in: service), is: [], "points of the new one")
                let claim = try await store.openStream(.one, of: "truck", in: service, at: .at(5))
                try expect(claim.storedThrough, is: 0, "its stream")
                try expect(claim.fences, is: nil, "its fences")
                _ = try await store.merge(limit: 100)
                try expect(try await store.checkIntegrity(), is: [], "integrity")
                if let missing = ServiceID(rawValue: service.rawValue + 1) {
                    try await expect(.unknownService) {
                        try await store.deleteEntity(named: "truck", in: missing, at: .at(1))
                    }
                }
            },
            TrackStoreCheck("no session stores into an entity that was made after its claim") { subject in
                let (store, service) = try await subject.withService()
                var old = TestSession(service, .one)
                let former = try await old.open("truck", in: store)
                let first = old.claimed(subject.batch(service, first: 1, TrackPoint.samples(0..<3)))
                _ = await store.ingest([first])
                old.sent(first)
                let late = old.claimed(subject.batch(service, first: 4, TrackPoint.samples(50..<53)))
                try await store.deleteEntity(named: "truck", in: service, at: .at(1))
                try expect(await store.ingest([late]), is: [.replaced], "after the deletion")
                try expect(await store.ingest([first]), is: [.replaced], "what was stored before the deletion")
                try expect(
                    await store.ingest([subject.hint(service, .sample(99))]),
                    is: [.failed(TrackStoreError(.unknownEntity, ""))], "a hint after the deletion")
                try expect(try await store.entity(named: "truck", in: service), is: nil, "the entity")
                try await store.addEntity(NewEntity(name: "truck"), in: service, at: .at(2))
                try expect(await store.ingest([late]), is: [.replaced], "made again")
                var new = TestSession(service, .one)
                let claim = try await new.open("truck", in: store)
                try expect(claim.epoch > former.epoch, is: true, "that epochs go on")
                try expect(await store.ingest([late]), is: [.replaced], "claimed again")
                try expect(try await store.history(in: service), is: [], "points")
                // Again and again, each epoch is greater than all before.
                var epoch = claim.epoch
                for round in 0..<5 as Range<Int64> {
                    try await store.deleteEntity(named: "truck", in: service, at: .at(round))
                    let next = try await new.open("truck", in: store).epoch
                    try expect(next > epoch, is: true, "the epoch of round \(round)")
                    epoch = next
                }
            },
            TrackStoreCheck(
                "deletions at any moment between the batches of sessions leave nothing of the former entity"
            ) {
                subject in
                let (store, service) = try await subject.withService()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<3 as Range<Int64> {
                        group.addTask { try await upload(40, as: number, to: store, service, subject) }
                    }
                    group.addTask {
                        for round in 0..<25 as Range<Int64> {
                            do {
                                try await store.deleteEntity(named: "truck", in: service, at: .at(round))
                            } catch let error as TrackStoreError where error.code == .unknownEntity {}
                            // A new one: nothing that was sent for a former one may appear in it.
                            try await store.haveEntity(named: "truck", in: service, at: .at(round))
                            await Task.yield()
                        }
                    }
                    try await group.waitForAll()
                }
                let epoch = try await store.openStream(.two, of: "truck", in: service, at: .at(0)).epoch
                try await store.deleteEntity(named: "truck", in: service, at: .at(99))
                var last = TestSession(service, .two)
                let claim = try await last.open("truck", in: store)
                try expect(claim.epoch > epoch, is: true, "the epoch in the end")
                try expect(try await store.history(in: service), is: [], "points in the end")
                try expect(try await store.counts().points, is: 0, "points counted in the end")
                try expect(try await store.checkIntegrity(), is: [], "integrity")
            },
            TrackStoreCheck("a deletion withdraws the pushes that wait, and keeps them in the history") { subject in
                let (store, service) = try await subject.withService()
                for name in ["truck", "van"] { try await store.haveEntity(named: name, in: service, at: .at(0)) }
                func queue(_ body: String, lifetime: Int64) async throws {
                    let push = NewPush(type: 65, body: body, targets: .service, lifetime: lifetime)
                    _ = try await store.queuePush(push, in: service, at: .at(0))
                }
                try await queue("\"delivered\"", lifetime: 60_000)
                let first = try await store.pendingPushes(of: "truck", in: service, after: nil, at: .at(0), limit: 9)
                    .pushes
                try await store.settlePushes(
                    first.map { PushSettlement(id: $0.id, outcome: .acknowledged, time: .at(1)) })
                try await queue("\"expired\"", lifetime: 1000)
                try await queue("\"waiting\"", lifetime: 60_000)
                try await store.deleteEntity(named: "truck", in: service, at: .at(5))
                try await store.haveEntity(named: "truck", in: service, at: .at(6))
                func bodies(_ name: String) async throws -> [String] {
                    try await store.pendingPushes(of: name, in: service, after: nil, at: .at(6), limit: 9).pushes.map(
                        \.body)
                }
                try expect(try await bodies("truck"), is: [], "of the new entity")
                try expect(try await bodies("van"), is: ["\"delivered\"", "\"waiting\""], "of another entity")
                func history(_ filter: PushFilter) async throws -> [PushRecord] {
                    try await store.pushes(in: service, matching: filter, at: .at(7), page: Page(offset: 0, limit: 9))
                        .pushes
                }
                let records = try await history(PushFilter(entity: "truck"))
                try expect(
                    records.map { $0.state(at: .at(7)) }, is: [.withdrawn, .expired, .delivered], "states")
                try expect(records.map(\.withdrawn), is: [.at(5), nil, nil], "times")
                for (state, count) in [(.withdrawn, 1), (.expired, 1), (.delivered, 1), (.waiting, 0)]
                    as [(PushRecord.State, Int)]
                {
                    let found = try await history(PushFilter(entity: "truck", state: state))
                    try expect(
                        found.map { $0.state(at: .at(7)) }, is: Array(repeating: state, count: count), "\(state)")
                }
                var removed = 0
                repeat { removed = try await store.removePushes(before: .at(100), limit: 4) } while removed > 0
                try expect(try await history(PushFilter()).count, is: 0, "history after its time")
                try expect(try await store.checkIntegrity(), is: [], "integrity")
            },
        ]
    }

    /// Sessions one after another, each until it is replaced; `rounds` batches in all. A session never sees points of the
    /// entity that are not of a session since the entity was made.
    private static func upload(
        _ rounds: Int, as number: Int64, to store: any TrackStore, _ service: ServiceID, _ subject: TrackStoreSubject
    ) async throws {
        let stream = StreamID(high: 9, low: UInt64(number))
        var session = TestSession(service, stream)
        var claim = try await session.open("truck", in: store)
        for round in 0..<Int64(rounds) {
            let first = (session.previous(of: "truck") ?? 0) + 1
            let points = TrackPoint.samples([1000 * number + round], mark: number + 1)
            let batch = session.claimed(subject.batch(service, stream: stream, first: first, points))
            switch await store.ingest([batch]).first {
            case .stored?: session.sent(batch)
            case .replaced?:
                let next = try await session.open("truck", in: store)
                try expect(next.epoch > claim.epoch, is: true, "that epochs ascend")
                try expect(next.storedThrough, is: 0, "what a new entity has of the stream")
                claim = next
            case let other: throw ContractViolation(description: "an outcome of \(String(describing: other))")
            }
        }
    }
}
