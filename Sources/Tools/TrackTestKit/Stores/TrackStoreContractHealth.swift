package import TrackModel
import TrackStore

extension HealthReport {
    /// With a value in every member.
    package static let sample = HealthReport(
        backlog: 70_000, losses: [.bound: 12, .damaged: 3, .other: 1], lossAge: 60, receiver: .away, fixAge: 75,
        isGathering: true, disk: .full, certificateEnd: 1_900_000_000)
}

extension TrackStoreContract {
    /// ``HealthStore``
    package static var health: [TrackStoreCheck] {
        [
            TrackStoreCheck("the newest health of each entity is kept, and listed by service and name") { subject in
                let (store, service) = try await subject.withService()
                let other = try await store.createService(named: "other", at: .at(1)).id
                try expect(try await store.allHealth(in: nil), is: [], "before there is one")
                for (name, service) in [("van", service), ("bus", service), ("caf\u{E9}", other)] {
                    try await store.addEntity(NewEntity(name: name), in: service, at: .at(1))
                }
                let van = HealthNote(
                    entity: EntityKey(service: service, name: "van"), heard: .at(10), agentVersion: "1.0",
                    device: .sample(1), report: .sample)
                let bus = HealthNote(
                    entity: EntityKey(service: service, name: "bus"), heard: .at(11), agentVersion: "0.9", device: nil)
                let cafe = HealthNote(
                    entity: EntityKey(service: other, name: "caf\u{E9}"), heard: .at(12), agentVersion: "1.0",
                    device: nil, report: HealthReport(), hasLeft: true)
                try await store.noteHealth([van, cafe])
                try await store.noteHealth([bus])
                let (keptVan, keptBus, keptCafe) = (
                    VehicleHealth(van, reported: .at(10)), VehicleHealth(bus), VehicleHealth(cafe, reported: .at(12))
                )
                try expect(try await store.allHealth(in: nil, atOnce: 2), is: [keptBus, keptVan, keptCafe], "all")
                try expect(try await store.allHealth(in: other), is: [keptCafe], "of a service")
                let first = try await store.health(in: service, after: nil, limit: 1)
                let second = try await store.health(in: service, after: first.cursor, limit: 2)
                try expect(first.vehicles.count, is: 1, "a page")
                try expect(VehicleHealth.sorted(first.vehicles + second.vehicles), is: [keptBus, keptVan], "pages")
                try expect(second.cursor, is: nil, "the end")
                try expect(try await store.checkIntegrity(), is: [], "integrity")
            },
            TrackStoreCheck("a sign of life keeps the report, and an older note changes nothing") { subject in
                let (store, service) = try await subject.withService()
                try await store.addEntity(NewEntity(name: "van"), in: service, at: .at(1))
                let key = EntityKey(service: service, name: "van")
                func note(_ second: Int64, _ report: HealthReport? = nil, left: Bool = false) -> HealthNote {
                    HealthNote(
                        entity: key, heard: .at(second), agentVersion: "v\(second)", device: nil, report: report,
                        hasLeft: left)
                }
                try await store.noteHealth([note(10, .sample), note(20), note(15, HealthReport(), left: true)])
                var kept = VehicleHealth(note(20, .sample), reported: .at(10))
                try expect(try await store.allHealth(in: service), is: [kept], "after a login")
                try await store.noteHealth([note(30, left: true)])
                (kept.heard, kept.agentVersion, kept.hasLeft) = (.at(30), "v30", true)
                try expect(try await store.allHealth(in: service), is: [kept], "after a goodbye")
                try await store.noteHealth([note(40, HealthReport(backlog: 1))])
                kept = VehicleHealth(note(40, HealthReport(backlog: 1)), reported: .at(40))
                try expect(try await store.allHealth(in: service), is: [kept], "after another report")
            },
            TrackStoreCheck("what a clock that was ahead has noted does not hold for ever") { subject in
                let (store, service) = try await subject.withService()
                try await store.addEntity(NewEntity(name: "van"), in: service, at: .at(1))
                func note(_ second: Int64) -> HealthNote {
                    HealthNote(
                        entity: EntityKey(service: service, name: "van"), heard: .at(second),
                        agentVersion: "v\(second)",
                        device: nil, report: HealthReport(backlog: UInt64(second)))
                }
                try await store.noteHealth([note(1_000_000), note(999_940)])
                var kept = VehicleHealth(note(1_000_000), reported: .at(1_000_000))
                try expect(try await store.allHealth(in: service), is: [kept], "a note that is late")
                try await store.noteHealth([note(100)])
                kept = VehicleHealth(note(100), reported: .at(100))
                try expect(try await store.allHealth(in: service), is: [kept], "when the clock is right again")
            },
            TrackStoreCheck("points are a sign of life too") { subject in
                let (store, service) = try await subject.withService()
                _ = try await store.upload([subject.batch(service, first: 1, [.sample(1)], received: .at(50))])
                let key = EntityKey(service: service, name: "truck")
                try await store.noteHealth([HealthNote(entity: key, heard: .at(40), agentVersion: "", device: nil)])
                try expect(try await store.allHealth(in: service).first?.heard, is: .at(50), "heard")
                try await store.noteHealth([HealthNote(entity: key, heard: .at(60), agentVersion: "", device: nil)])
                try expect(try await store.allHealth(in: service).first?.heard, is: .at(60), "heard later")
            },
            TrackStoreCheck("an entity that is not there has no health, and a deleted one loses it") { subject in
                let (store, service) = try await subject.withService()
                let key = EntityKey(service: service, name: "van")
                let note = HealthNote(
                    entity: key, heard: .at(10), agentVersion: "", device: nil, report: .sample)
                try await store.noteHealth([note])
                try await store.addEntity(NewEntity(name: "van"), in: service, at: .at(11))
                try expect(try await store.allHealth(in: nil), is: [], "before the entity was there")
                try await store.noteHealth([note])
                try await store.deleteEntity(named: "van", in: service, at: .at(12))
                try await store.addEntity(NewEntity(name: "van"), in: service, at: .at(13))
                try expect(try await store.allHealth(in: nil), is: [], "another entity of this name")
                try await store.close()
                try await expect(.closed) { try await store.noteHealth([note]) }
                try await expect(.closed) { try await store.noteHealth([]) }
            },
        ]
    }
}

extension VehicleHealth {
    /// What a store makes of its first note.
    fileprivate init(_ note: HealthNote, reported: Timestamp? = nil) {
        self.init(
            entity: note.entity, heard: note.heard, agentVersion: note.agentVersion, device: note.device,
            report: note.report, reported: reported, hasLeft: note.hasLeft)
    }
}

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
