import TrackModel
import TrackStore

extension TrackStoreSubject {
    /// A live hint.
    func hint(
        _ service: ServiceID, entity: String = "truck", _ point: TrackPoint, received: Timestamp = .at(100_000)
    ) -> IngestBatch {
        IngestBatch(
            service: service, entity: entity, position: nil, points: [], sequences: [], payload: nil,
            received: received, hint: point)
    }
}

extension TrackStore {
    /// The latest point of the tests' entity, and when it was received.
    fileprivate func latest(in service: ServiceID) async throws(TrackStoreError) -> StoredPoint? {
        try await entity(named: "truck", in: service)?.latest
    }
}

extension TrackStoreContract {
    static var hints: [TrackStoreCheck] {
        [
            TrackStoreCheck("a hint is the latest point and no point of the track") { subject in
                let (store, service) = try await subject.withService()
                let batch = subject.batch(service, first: 1, TrackPoint.samples(0..<5))
                let hint = subject.hint(service, .sample(90, mark: 7), received: .at(200_000))
                try expect(
                    try await store.upload([batch, hint]), is: [.stored(through: 5), .stored(through: 0)], "outcomes")
                try expect(
                    try await store.latest(in: service),
                    is: StoredPoint(.sample(90, mark: 7), received: .at(200_000)), "the latest point")
                try expect(try await store.history(in: service).count, is: 5, "points")
                try expect(try await store.counts().points, is: 5, "points counted")
                try expect(try await store.storedThrough(.one, in: service), is: 5, "the stream")
                try expect(try await store.checkIntegrity(), is: [], "problems")
            },
            TrackStoreCheck("a hint wins until a point as late is stored") { subject in
                let (store, service) = try await subject.withService()
                try await store.haveEntity(named: "truck", in: service, at: .at(0))
                _ = try await store.upload([subject.hint(service, .sample(90, mark: 7))])
                for (first, seconds) in [(1, 0..<10), (11, 10..<89)] as [(UInt64, Range<Int64>)] {
                    _ = try await store.upload([subject.batch(service, first: first, TrackPoint.samples(seconds))])
                    try expect(
                        try await store.latest(in: service)?.point, is: .sample(90, mark: 7),
                        "before the track is there")
                }
                _ = try await store.upload([subject.batch(service, first: 90, TrackPoint.samples([89, 90]))])
                try expect(try await store.latest(in: service)?.point, is: .sample(90), "once it is there")
                try expect(try await store.checkIntegrity(), is: [], "problems")
                // Gone for good: an older point is no later than what is stored.
                _ = try await store.upload([subject.custom(service, TrackPoint.samples([5], mark: 2))])
                try expect(try await store.latest(in: service)?.point, is: .sample(90), "after an older point")
            },
            TrackStoreCheck("a hint that is not later than what is known changes nothing") { subject in
                let (store, service) = try await subject.withService()
                _ = try await store.upload([
                    subject.batch(service, first: 1, TrackPoint.samples(0...50)),
                    subject.hint(service, .sample(50, mark: 1)), subject.hint(service, .sample(49, mark: 2)),
                ])
                try expect(try await store.latest(in: service)?.point, is: .sample(50), "an older hint")
                _ = try await store.upload([
                    subject.hint(service, .sample(80, mark: 3)), subject.hint(service, .sample(70, mark: 4)),
                    subject.hint(service, .sample(80, mark: 5)),
                ])
                try expect(try await store.latest(in: service)?.point, is: .sample(80, mark: 3), "hints out of order")
                _ = try await store.upload([subject.hint(service, .sample(81, mark: 6))])
                try expect(try await store.latest(in: service)?.point, is: .sample(81, mark: 6), "a later hint")
                try expect(try await store.checkIntegrity(), is: [], "problems")
            },
            TrackStoreCheck("a hint counts as activity, makes no entity, and fails alone without its service") {
                subject in
                let (store, service) = try await subject.withService()
                guard let nobody = ServiceID(rawValue: service.rawValue + 1) else { return }
                try expect(
                    try await store.upload([subject.hint(service, .sample(90))]),
                    is: [.failed(TrackStoreError(.unknownEntity, ""))], "without an entity")
                try expect(try await store.counts().entities, is: 0, "entities")
                try await store.haveEntity(named: "truck", in: service, at: .at(0))
                try expect(
                    try await store.upload([
                        subject.hint(nobody, .sample(1)), subject.hint(service, .sample(90)),
                        subject.custom(service, entity: "van", TrackPoint.samples([10])),
                    ]),
                    is: [
                        .failed(TrackStoreError(.unknownService, "")), .stored(through: 0), .stored(through: 0),
                    ], "outcomes")
                func names(_ filter: EntityFilter) async throws -> [String] {
                    let found = try await store.entities(
                        in: service, matching: filter, page: Page(offset: 0, limit: 10))
                    try expect(found.total, is: found.entities.count, "the total")
                    return found.entities.map(\.name)
                }
                try expect(try await names(EntityFilter()), is: ["truck", "van"], "all")
                try expect(try await names(EntityFilter(activeSince: .at(90))), is: ["truck"], "active")
                try expect(try await names(EntityFilter(inactiveSince: .at(90))), is: ["van"], "inactive")
                try expect(try await store.history(in: service), is: [], "points")
            },
            TrackStoreCheck("of an entity's hints and batches in one transaction the later ones count in order") {
                subject in
                let (store, service) = try await subject.withService()
                try await store.haveEntity(named: "truck", in: service, at: .at(0))
                _ = try await store.upload([
                    subject.hint(service, .sample(90, mark: 1)),
                    subject.batch(service, first: 1, TrackPoint.samples(0...95)),
                    subject.hint(service, .sample(93, mark: 2)), subject.hint(service, .sample(99, mark: 3)),
                ])
                try expect(try await store.latest(in: service)?.point, is: .sample(99, mark: 3), "the latest")
                _ = try await store.merge(limit: 1000)
                try expect(try await store.latest(in: service)?.point, is: .sample(99, mark: 3), "after merging")
                try expect(try await store.checkIntegrity(), is: [], "problems")
            },
        ]
    }
}
