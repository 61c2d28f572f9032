import ArgumentParser
import FenceCommands
import Foundation
import Geodesy
import Geofencing
import ProgramTestKit
import StoreRecords
import Testing
import TrackFiles
import TrackModel
import TrackStore
import TrackTestKit

@testable import FenceFiles
@testable import ServerRuntime

@Suite struct FenceAdministrationTests {
    let store = TestStore()
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    let noon = Timestamp(seconds: 1_772_677_800)
    var administration: ServiceAdministration {
        ServiceAdministration(store: store)
    }

    func circle(_ radius: Double) -> FenceDefinition {
        FenceDefinition(ShapeDraft(.circle(centre: Degrees(latitude: 39.9, longitude: 116.4), radius: radius)))
    }

    /// A service with a public fence, one of two entities and one of nobody.
    func service() async throws -> ServiceID {
        let service = try await store.createService(named: "Fleet", at: noon).id
        for name in ["van", "lorry"] {
            try await store.addEntity(NewEntity(name: name), in: service, at: noon)
        }
        var depot = circle(200)
        (depot.name, depot.watch) = ("Depot", .everyone)
        _ = try await store.createFence(depot, in: service, at: noon)
        var town = FenceDefinition(
            ShapeDraft(
                .polygon([
                    [
                        [
                            Degrees(latitude: 0, longitude: 0), Degrees(latitude: 0, longitude: 1),
                            Degrees(latitude: 1, longitude: 1),
                        ]
                    ]
                ]), buffer: 12.5))
        (town.name, town.district, town.settle) = ("", "Chile, Maule", 30)
        town.watch = try FenceSubjects(["van", "lorry"])
        _ = try await store.createFence(town, in: service, at: noon)
        _ = try await store.createFence(circle(0.5), in: service, at: noon)
        return service
    }

    /// The same store as the Web API's, with its rules and its news.
    @Test func fencesAreMadeChangedAndDeleted() async throws {
        let id = try await service()
        let service = id.rawValue
        let (cursor, _) = try await store.fenceNotices(after: nil, limit: 10)
        var gate = circle(30)
        (gate.name, gate.watch) = ("Gate", try FenceSubjects(["van"]))
        let made = try await administration.addFence(gate, to: service)
        #expect(made.number == 4 && made.name == "Gate" && made.fence.definition.watch == gate.watch)
        let found = try await administration.fence(named: "Gate", of: service)
        gate.floor = "2"
        let changed = try await administration.changeFence(found, to: gate, of: service)
        #expect(changed.number == 4 && changed.revision == 2)
        // Somebody else was faster.
        await #expect(throws: ServerError(.store, "")) {
            try await administration.changeFence(found, to: circle(5), of: service)
        }
        #expect(try await store.fence(4, in: id)?.fence.definition == gate)
        var choice = ServiceAdministration.FenceChoice()
        choice.entity = "van"
        #expect(try await administration.fences(choice, of: service).map(\.number) == [1, 2, 4])
        choice.fences = ["Gate", "1"]
        #expect(try await administration.fences(choice, of: service).map(\.number) == [1, 4])
        choice.fences = ["nowhere"]
        await #expect(throws: ServerError(.notFound, "")) { try await administration.fences(choice, of: service) }
        #expect(try await administration.deleteFences([4], of: service) == [4])
        let notices = try await store.fenceNotices(after: cursor, limit: 10).notices
        #expect(notices?.map(\.fence) == [4, 4, 4])
        gate.watch = try FenceSubjects(["bike"])
        await #expect(throws: ServerError(.store, "")) { try await administration.addFence(gate, to: service) }
    }

    /// A store in which fence 2 cannot be read.
    private struct SpoiledStore: StoreDecorator {
        let inner: any EngineStore

        func readableFences(
            in service: ServiceID, matching filter: FenceFilter, page: Page
        ) async throws(TrackStoreError) -> ReadableFences {
            var found = try await inner.readableFences(in: service, matching: filter, page: page)
            if found.fences.contains(where: { $0.fence.id == 2 }) {
                found.unreadable = [UnreadableFence(fence: 2, reason: "it ends too early")]
                found.fences.removeAll { $0.fence.id == 2 }
            }
            return found
        }
    }

    @Test func aFenceThatCannotBeReadIsDeleted() async throws {
        let service = try await service().rawValue
        let administration = ServiceAdministration(
            store: SpoiledStore(inner: store))
        var choice = ServiceAdministration.FenceChoice()
        choice.fences = ["2", "Depot"]
        await #expect(throws: ServerError(.store, "")) { try await administration.fences(choice, of: service) }
        var found = try await administration.fencesToDelete(choice, of: service)
        #expect(found.fences.map(\.number) == [1] && found.unreadable.map(\.fence) == [2])
        choice = .init()
        choice.entity = "van"
        #expect(try await administration.fencesToDelete(choice, of: service).unreadable == [])
        found = try await administration.fencesToDelete(.init(), of: service)
        #expect(found.fences.map(\.number) == [1, 3] && found.unreadable.map(\.fence) == [2])
        #expect(try await administration.deleteFences(nil, of: service) == [1, 2, 3])
    }

    @Test func moreFencesThanAFilterTakesAreDeletedInParts() async throws {
        let id = try await service()
        for _ in 4...7 { _ = try await store.createFence(circle(5), in: id, at: noon) }
        let deleted = try await administration.deleteFences(Array(2...6), of: id.rawValue, together: 2)
        #expect(deleted == [2, 3, 4, 5, 6])
        #expect(try await administration.deleteFences(nil, of: id.rawValue) == [1, 7])
    }

    @Test func whereAnEntityIsIsTold() async throws {
        let id = try await service()
        let all = ServiceAdministration.FenceChoice()
        let unknown = try await administration.relations(of: "van", to: all, of: id.rawValue)
        #expect(unknown.map(\.fence) == [1, 2] && unknown.allSatisfy { $0.status.place == .unknown })
        let place = try await administration.relations(
            of: Degrees(latitude: 39.9, longitude: 116.4), to: all, of: id.rawValue)
        #expect(place.map(\.status.place) == [.in, .out, .in])
        #expect(place.first?.status.signedDistance.map { abs($0 + 200) < 0.01 } == true)
        await #expect(throws: ServerError(.store, "")) {
            try await administration.relations(of: "bike", to: all, of: id.rawValue)
        }
    }

    @Test func fencesAreListed() async throws {
        let service = try await service()
        let all = try await administration.fences(of: service.rawValue, matching: FenceFilter(), limit: 2)
        #expect(all.total == 3)
        #expect(all.fences.map(\.number) == [1, 2])
        #expect(all.fences.map(\.name) == ["Depot", ""])
        #expect(all.fences.map(\.everyoneSince) == [noon, nil])
        let rest = try await administration.fences(
            of: service.rawValue, matching: FenceFilter(fences: [3]), limit: 5)
        #expect(rest.fences.map(\.number) == [3] && rest.total == 1)
        let ofVan = try await administration.fences(
            of: service.rawValue, matching: FenceFilter(watch: .watching("van")), limit: 5)
        #expect(ofVan.fences.map(\.number) == [1, 2])
    }

    /// Lists of alarms leave stale ones out; the operator sees them.
    @Test func staleAlarmsAreListed() async throws {
        let service = try await service()
        let place = try #require(Coordinate(latitude: 39.9, longitude: 116.4))
        for number in 0..<12 as Range<Int64> {
            let time = Timestamp(milliseconds: noon.milliseconds + number * 1000)
            let key = try #require(AlarmKey(bytes: [UInt8](repeating: UInt8(number + 1), count: 16)))
            var alarm = Alarm(
                key: key, source: .server, fence: 1, revision: 2, name: "Depot",
                action: .enter, point: AlarmPoint(time: time, place: place, received: time),
                crossing: Crossing(time: time, place: place, isEstimated: true, earliest: time, latest: time))
            (alarm.isStale, alarm.isReported) = (number % 4 == 0, number == 8)
            let batch = IngestBatch(
                service: service, entity: number < 6 ? "van" : "lorry", position: nil, points: [], sequences: [],
                payload: nil, received: time, alarms: [CausedAlarm(alarm)])
            _ = await store.ingest([batch])
        }
        func listed(
            _ entity: String? = nil, from second: Int64 = 0, isOnlyStale: Bool = true, limit: Int = 100
        ) async throws -> (total: Int, alarms: [AlarmLine]) {
            try await administration.alarms(
                of: service.rawValue, entity: entity, from: Timestamp(milliseconds: noon.milliseconds + second * 1000),
                isOnlyStale: isOnlyStale, limit: limit)
        }
        let stale = try await listed()
        #expect(stale.total == 3 && stale.alarms.map(\.entity) == ["van", "van", "lorry"])
        #expect(stale.alarms.map(\.state) == ["stale", "stale", "stale, reported"])
        #expect(stale.alarms[0].fence == "1 rev. 2" && stale.alarms[0].happened == "2026-03-05T02:30:00Z")
        let newest = try await listed(isOnlyStale: false, limit: 2)
        #expect(newest.total == 12 && newest.alarms.map(\.happened).last == "2026-03-05T02:30:11Z")
        #expect(try await listed("van", isOnlyStale: false).total == 6)
        #expect(try await listed(from: 5).total == 1)
    }

    func chosen(_ fences: String...) -> ServiceAdministration.FenceChoice {
        var choice = ServiceAdministration.FenceChoice()
        choice.fences = fences
        return choice
    }

    @Test func anExportMakesTheSameFencesAgain() async throws {
        let service = try await service()
        let all = try await administration.exportFences(chosen(), of: service.rawValue)
        #expect(all.count == 3)
        var reader = GeoJSONFeatures(ByteSource(bytes: all.bytes))
        var names: [String?] = []
        while let feature = try reader.next() {
            guard case .feature(let feature) = feature else {
                Issue.record("\(feature)")
                continue
            }
            names.append(feature.id)
        }
        #expect(names == ["1", "2", "3"])
        let stored = try await store.fences(
            in: service, matching: FenceFilter(fences: [2]), page: Page(offset: 0, limit: 9))
        #expect(
            try await administration.exportFences(chosen("2"), of: service.rawValue).bytes
                == FenceGeoJSON.collection(of: stored.fences.map(\.fence)))
    }

    @Test func whatIsNotThereIsNamed() async throws {
        let service = try await service().rawValue
        do {
            _ = try await administration.exportFences(chosen("1", "Yard", "7"), of: service)
            Issue.record("a fence is exported that is not there")
        } catch {
            #expect(error.code == .notFound && error.detail.contains("no fence 'Yard'"), "\(error.detail)")
        }
        await #expect(throws: ServerError(.notFound, "")) { try await administration.fence(named: "4", of: service) }
        await #expect(throws: ServerError(.notFound, "")) { try await administration.fence(named: "1", of: 8) }
        await #expect(throws: ServerError(.notFound, "")) {
            try await administration.fences(of: 0, matching: FenceFilter(), limit: 1)
        }
    }
}
