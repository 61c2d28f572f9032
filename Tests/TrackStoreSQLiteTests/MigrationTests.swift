import Geodesy
import Geofencing
import SQLDatabase
import StoreRecords
import Testing
import TrackModel
import TrackStore
import TrackStoreSQLite
import TrackTestKit

@Suite struct MigrationTests {
    /// Opens what the program of schema 4 left.
    private func open(_ bench: Workbench) async throws -> (store: SQLiteTrackStore, service: ServiceID) {
        let file = try SQLiteConnection(path: bench.path, .create)
        try file.script(SchemaFourStore.sql)
        file.close()
        let store = try await bench.open()
        return (store, try #require(ServiceID(rawValue: 1)))
    }

    @Test func aStoreOfSchemaFourHasAllThatItHad() async throws {
        let bench = try Workbench()
        let (store, service) = try await open(bench)
        #expect(try await store.checkIntegrity() == [])
        #expect(try await store.counts() == StoreCounts(services: 2, entities: 4, chunks: 5, points: 32))
        #expect(try await store.keys(matching: AccessKey("key").hash).map(\.secret) == ["sk"])
        // A key goes on doing what it did, for clients and for vehicles.
        #expect(try await store.keys(matching: AccessKey("key").hash).map(\.rights) == [.former])
        #expect(try await store.services().map(\.appCode) == [nil, nil])
        try await store.setAppCode("code", of: service)
        #expect(try await store.keys(matching: AccessKey("key").hash).map(\.appCode) == ["code"])
        let truck = try #require(try await store.entity(named: "truck", in: service))
        #expect(truck.values == ["team": "north"])
        #expect(truck.description == "blue")
        #expect(truck.latest == StoredPoint(point(1006), received: .at(1007)))
        let van = try #require(try await store.entity(named: "van", in: service))
        #expect(van.latest == StoredPoint(point(40), received: .at(60)))
        #expect(try await store.entity(named: "idle", in: service)?.latest == nil)
        // The custom point was stored later than the streamed one of its time.
        let wanted = (Array(1...12) + Array(19...24) + Array(1001...1006)).map { point($0, speed: $0 == 3 ? 7 : 1000) }
        #expect(try await everything(store, service).map(\.point) == wanted)
        let pushes = try await store.pushes(
            in: service, matching: PushFilter(), at: .at(90), page: Page(offset: 0, limit: 9))
        #expect(pushes.pushes.map(\.entity) == ["idle", "truck", "van", "truck", "van"])
        #expect(
            pushes.pushes.map { $0.state(at: .at(90)) } == [.waiting, .givenUp, .waiting, .delivered, .waiting])
    }

    @Test func aStoreOfSchemaFourTakesFencesAndAlarms() async throws {
        let bench = try Workbench()
        let (store, service) = try await open(bench)
        var definition = FenceDefinition(
            ShapeDraft(.circle(centre: Degrees(latitude: 52, longitude: 4.3), radius: 100)))
        definition.watch = try FenceSubjects(["truck"])
        let record = try await store.createFence(definition, in: service, at: .at(100))
        #expect(record.fence.id == 1)
        #expect(try await store.fences(naming: [EntityKey(service: service, name: "truck")]).fences.map(\.count) == [1])
        try await store.setCallback(CallbackTarget(url: "https://example.org", secret: "s"), of: service)
        var batch = upload([point(2000)], to: service, received: .at(2001))
        let key = try #require(AlarmKey(bytes: [UInt8](repeating: 7, count: 16)))
        let here = AlarmPoint(time: .at(2000), place: point(2000).fix.coordinate, received: .at(2001))
        let alarm = Alarm(
            key: key, source: .server, fence: 1, revision: 1, name: "", action: .enter, point: here,
            crossing: Crossing(
                time: .at(2000), place: here.place, isEstimated: false, earliest: .at(1990), latest: .at(2000)))
        batch.alarms = [CausedAlarm(alarm)]
        #expect(await store.ingest([batch]).first?.isKept == true)
        let page = Page(offset: 0, limit: 9)
        #expect(try await store.alarms(in: service, matching: AlarmFilter(), page: page).alarms.map(\.alarm) == [alarm])
        #expect(try await store.dueCallbacks(at: .at(2002), limit: 9) == [service])
        #expect(try await store.districts(unless: nil).entries == [])
        #expect(try await store.checkIntegrity() == [])
    }

    /// A stream was stored as far for all its entities; what the old program acknowledged is a duplicate for each of them.
    @Test func streamsOfSchemaFourGoOn() async throws {
        let bench = try Workbench()
        let (store, service) = try await open(bench)
        let (one, two) = (StreamID(high: 7, low: 1), StreamID(high: 7, low: 2))
        for entity in ["truck", "van", "idle", "new"] {
            #expect(try await store.storedThrough(one, of: entity, in: service) == 24, "\(entity)")
        }
        #expect(try await store.storedThrough(two, of: "truck", in: service) == 1006)
        let other = try #require(ServiceID(rawValue: 2))
        #expect(try await store.storedThrough(one, of: "truck", in: other) == 0)
        var session = TestSession(service, one)
        let claim = try await session.open("truck", in: store)
        #expect(claim.version == 5)
        let points = (20...30).map { point($0) }
        let batch = session.claimed(
            IngestBatch(
                service: service, entity: "truck",
                position: StreamPosition(stream: one, epoch: 0, previous: 0, first: 20, count: 11), points: points,
                sequences: Array(20...30), payload: Workbench.encode(points), received: .at(200)))
        let outcome = try #require(await store.ingest([batch]).first)
        #expect(outcome.withoutVersion == .stored(through: 30))
        #expect(try #require(outcome.version) > 5)
        #expect(try await everything(store, service).count == 30)
        #expect(try await store.storedThrough(one, of: "truck", in: service) == 30)
        #expect(try await store.storedThrough(one, of: "van", in: service) == 24)
        #expect(try await store.checkIntegrity() == [])
    }
}
