import Geodesy
import Geofencing
import TrackModel
import TrackStore

extension TrackStoreContract {
    /// ``AlarmStore``, and the alarms of ``PointStore/ingest(_:)``
    package static var alarms: [TrackStoreCheck] {
        [
            TrackStoreCheck("alarms are stored with their points, once for each key, or not at all") { subject in
                let (store, service) = try await subject.withFleet()
                var session = TestSession(service, .one)
                let claim = try await session.open("van", in: store)
                var batch = session.claimed(
                    subject.batch(service, entity: "van", first: 1, TrackPoint.samples(1...3), received: .at(10)))
                let actions = FenceAction.allCases
                batch.alarms = try actions.enumerated().map { index, action in
                    let alarm = try Alarm.sample(2, mark: UInt8(index + 1), action: action)
                    let push = NewPush(
                        type: PushRules.fenceAlarm, body: "{\"a\":\(index)}",
                        targets: .entities(["van", "ghost", "bus"]),
                        alarm: alarm.key)
                    return CausedAlarm(alarm.received(at: .at(10)), pushes: [push])
                }
                batch.expectedVersion = claim.version + 1
                _ = await store.ingest([batch])
                try expect(try await store.history(service), is: [], "of a batch that was not stored")
                try expect(try await store.told("van", in: service), is: [], "pushes of that batch")
                batch.expectedVersion = claim.version
                let outcome = await store.ingest([batch]).first?.withoutVersion
                try expect(outcome, is: .stored(through: 3), "the outcome")
                let alarms = try await store.history(service)
                try expect(alarms.map(\.alarm), is: batch.alarms.map(\.alarm), "the alarms")
                try expect(alarms.map(\.entity), is: actions.map { _ in "van" }, "who moved")
                try expect(alarms.map(\.received), is: actions.map { _ in .at(10) }, "when they were received")
                try expect(
                    zip(alarms, alarms.dropFirst()).allSatisfy { $0.number < $1.number }, is: true, "their order")
                let pushes = try await store.told("van", in: service)
                try expect(
                    pushes.map { Int64($0.id) }, is: batch.alarms.map { $0.alarm.key.pushID(to: "van") },
                    "the numbers of the pushes")
                try expect(pushes.map(\.body), is: actions.indices.map { "{\"a\":\($0)}" }, "their bodies")
                try expect(
                    try await store.told("bus", in: service).map { Int64($0.id) },
                    is: batch.alarms.map { $0.alarm.key.pushID(to: "bus") }, "the pushes of another target")
                // The same again by other points: a store that was restored from a backup meets its alarms again.
                var again = subject.custom(service, entity: "van", [.sample(50)], received: .at(60))
                again.alarms = batch.alarms + [CausedAlarm(try .sample(50, mark: 77).received(at: .at(60)))]
                _ = await store.ingest([batch, again])
                try expect(try await store.history(service).count, is: actions.count + 1, "alarms in the end")
                try expect(try await store.told("van", in: service).count, is: actions.count, "pushes in the end")
                let other = try await store.createService(named: "other", at: .at(0)).id
                try await store.haveEntity(named: "van", in: other, at: .at(0))
                var elsewhere = subject.custom(other, entity: "van", [.sample(1)])
                elsewhere.alarms = [CausedAlarm(try .sample(2, mark: 1).received(at: elsewhere.received))]
                _ = await store.ingest([elsewhere])
                try expect(try await store.history(other).count, is: 1, "alarms of another service")
                var wrong = subject.custom(service, entity: "van", [.sample(70)])
                wrong.alarms = [
                    CausedAlarm(
                        try .sample(70, mark: 9), pushes: [NewPush(type: 0, body: "{}", targets: .service)])
                ]
                let failed = await store.ingest([wrong]).first.map { if case .failed = $0 { true } else { false } }
                try expect(failed, is: true, "that a wrong push fails its batch")
                try expect(try await store.checkIntegrity(), is: [], "integrity")
            },
            TrackStoreCheck("alarms without points are stored with their pushes, once, within their service") {
                subject in
                let (store, service) = try await subject.withFleet()
                let other = try await store.createService(named: "other", at: .at(0)).id
                try await store.haveEntity(named: "tram", in: other, at: .at(0))
                func report(_ marks: UInt8..., at time: Int64) throws -> IngestBatch {
                    var batch = subject.custom(service, entity: "van", [], received: .at(time))
                    batch.alarms = try marks.map { mark in
                        let alarm = try Alarm.sample(2, mark: mark)
                        let push = NewPush(
                            type: PushRules.vehicleAlarm, body: "{\"a\":\(mark)}", targets: .entities(["bus", "tram"]),
                            alarm: alarm.key)
                        return CausedAlarm(alarm.received(at: .at(time)), pushes: [push])
                    }
                    return batch
                }
                // The second is the same report without its answer, and one more alarm.
                let outcomes = await store.ingest([try report(1, 2, at: 10), try report(2, 3, at: 20)])
                try expect(outcomes.map(\.isKept), is: [true, true], "that they are stored")
                try expect(
                    try await store.history(service).compactMap(\.alarm.key.bytes.first), is: [1, 2, 3], "the alarms")
                let pushes = try await store.told("bus", in: service)
                try expect(pushes.map(\.body), is: ["{\"a\":1}", "{\"a\":2}", "{\"a\":3}"], "the pushes")
                try expect(pushes.map(\.type), is: [4, 4, 4], "their types")
                try expect(try await store.told("van", in: service), is: [], "pushes to who moved")
                try expect(try await store.told("tram", in: other), is: [], "pushes to another service")
                var wrong = try report(4, at: 30)
                wrong.alarms[0].pushes[0].type = 0
                try expect(await store.ingest([wrong]).first?.isKept, is: false, "of a wrong push")
                try expect(try await store.history(service).count, is: 3, "alarms in the end")
            },
            TrackStoreCheck("the history is asked by entity, fence, action and time, and outlives the entity") {
                subject in
                let (store, service) = try await subject.withFleet()
                var number: UInt8 = 0
                for (entity, time) in [("van", 10), ("bus", 20), ("van", 30)] as [(String, Int64)] {
                    var batch = subject.custom(service, entity: entity, [.sample(time)], received: .at(time))
                    batch.alarms = try ([(1, .enter), (2, .exit)] as [(Int32, FenceAction)]).map { fence, action in
                        number += 1
                        return CausedAlarm(
                            try .sample(time, mark: number, fence: fence, action: action).received(at: .at(time)))
                    }
                    _ = await store.ingest([batch])
                }
                func marks(_ filter: AlarmFilter) async throws -> [UInt8] {
                    try await store.history(service, filter).compactMap(\.alarm.key.bytes.first)
                }
                try expect(try await marks(AlarmFilter()), is: [1, 2, 3, 4, 5, 6], "all")
                try expect(try await marks(AlarmFilter(entity: "van")), is: [1, 2, 5, 6], "of the van")
                try expect(try await marks(AlarmFilter(entity: "ghost")), is: [], "of nobody")
                try expect(try await marks(AlarmFilter(fences: [2, 9])), is: [2, 4, 6], "of a fence")
                try expect(try await marks(AlarmFilter(fences: [])), is: [], "of no fence")
                try expect(try await marks(AlarmFilter(actions: [.enter])), is: [1, 3, 5], "of an action")
                try expect(try await marks(AlarmFilter(actions: [])), is: [], "of no action")
                // A vehicle's own fence 1 is not the server's fence 1.
                var own = subject.custom(service, entity: "tram", [], received: .at(1))
                var alarm = try Alarm.sample(1, mark: 77, fence: 1)
                alarm.source = .local
                own.alarms = [CausedAlarm(alarm.received(at: .at(1)))]
                _ = await store.ingest([own])
                try expect(try await marks(AlarmFilter(fences: [1])), is: [77, 1, 3, 5], "of both fences 1")
                let server = AlarmFilter(fences: [1], source: .server)
                try expect(try await marks(server), is: [1, 3, 5], "of the server's fence 1")
                try expect(try await marks(AlarmFilter(source: .local)), is: [77], "of vehicles' own fences")
                try expect(try await store.removeAlarms(before: .at(2), limit: 3), is: 1, "removed")
                let span = AlarmFilter(from: .at(20), through: .at(20))
                try expect(try await marks(span), is: [3, 4], "of a time")
                let all = AlarmFilter(
                    entity: "van", fences: [1], actions: [.enter, .stay], from: .at(11), through: .at(40))
                try expect(try await marks(all), is: [5], "of everything")
                let page = try await store.alarms(
                    in: service, matching: AlarmFilter(), page: Page(offset: 4, limit: 1))
                try expect(page.total, is: 6, "how many there are")
                try expect(page.alarms.compactMap(\.alarm.key.bytes.first), is: [5], "the page")
                let many = AlarmFilter(fences: Array(1...Int32(FenceRules.mostNumbers) + 1))
                try await expect(.tooManyNames) { try await store.history(service, many) }
                try await store.deleteEntity(named: "van", in: service, at: .at(50))
                try expect(try await marks(AlarmFilter(entity: "van")), is: [1, 2, 5, 6], "of a deleted entity")
                try expect(try await store.removeAlarms(before: .at(21), limit: 3), is: 3, "removed at first")
                try expect(try await store.removeAlarms(before: .at(21), limit: 3), is: 1, "removed then")
                try expect(try await store.removeAlarms(before: .at(21), limit: 3), is: 0, "removed in the end")
                try expect(try await marks(AlarmFilter()), is: [5, 6], "what is left")
            },
            TrackStoreCheck("a batch that follows another of its entity is stored only behind that one") { subject in
                let (store, service) = try await subject.withFleet()
                func followed(_ time: Int64, after version: Int64? = nil) -> IngestBatch {
                    var batch = subject.custom(service, entity: "van", [.sample(time)])
                    batch.fences = [UInt8(time)]
                    (batch.expectedVersion, batch.followsBatch) = (version, version == nil)
                    return batch
                }
                let bus = subject.custom(service, entity: "bus", [.sample(1)])
                let stored = await store.ingest([followed(1, after: 0), bus, followed(2), followed(3)])
                try expect(
                    stored.map(\.withoutVersion), is: Array(repeating: .stored(through: 0), count: 4), "in one call")
                let version = stored.last?.version ?? 0
                try expect(
                    await store.ingest([followed(4)]), is: [.stale(version: version, fences: [3])], "without the first")
                // The first is stale, and so is all that builds on it.
                let stale = await store.ingest([followed(5, after: version + 100), followed(6)])
                try expect(
                    stale, is: Array(repeating: .stale(version: version, fences: [3]), count: 2), "behind a stale one")
                // So it is when something else is stored between the two.
                let interrupted = await store.ingest([
                    followed(5, after: version + 100), subject.custom(service, entity: "van", []), followed(6),
                    followed(5, after: version + 100), followed(6),
                ])
                try expect(
                    interrupted.map { if case .stale = $0 { true } else { false } },
                    is: [true, false, true, true, true], "behind a stale one and another batch")
                // Somebody comes between.
                let between = await store.ingest([
                    followed(7, after: version), subject.custom(service, entity: "van", [.sample(8)]), followed(9),
                ])
                try expect(
                    between.map(\.withoutVersion), is: Array(repeating: .stored(through: 0), count: 3),
                    "behind any batch of its entity")
                try expect(
                    try await store.fenceStates(of: [EntityKey(service: service, name: "van")]).map(\.fences),
                    is: [[9]],
                    "the state in the end")
            },
        ]
    }
}

extension Alarm {
    fileprivate func received(at time: Timestamp) -> Alarm {
        var alarm = self
        alarm.point.received = time
        return alarm
    }
}

extension TrackStore {
    fileprivate func history(
        _ service: ServiceID, _ filter: AlarmFilter = AlarmFilter()
    ) async throws(TrackStoreError) -> [AlarmRecord] {
        try await alarms(in: service, matching: filter, page: Page(offset: 0, limit: 1000)).alarms
    }

    fileprivate func told(_ entity: String, in service: ServiceID) async throws(TrackStoreError) -> [PendingPush] {
        try await pendingPushes(of: entity, in: service, after: nil, at: .at(0), limit: 100).pushes
    }
}
