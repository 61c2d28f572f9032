import Geodesy
import Geofencing
import SQLDatabase
import StoreRecords
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import TrackStoreSQLite

/// A fence whose bytes have changed on the medium: the others are read, and it can be deleted.
@Suite struct RottenFenceTests {
    private let bench: Workbench

    init() throws {
        bench = try Workbench()
    }

    /// Fences 1 to `count`, of which the van is watched by the even ones and everyone by the others; some are spoiled.
    private func spoiled(_ numbers: [Int32], of count: Int) async throws -> (
        store: SQLiteTrackStore, service: ServiceID
    ) {
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        try await store.addEntity(NewEntity(name: "van"), in: service, at: .at(0))
        for number in 1...count {
            var definition = FenceDefinition(
                ShapeDraft(.circle(centre: Degrees(latitude: 52, longitude: 4), radius: Double(number))))
            definition.watch = number % 2 == 0 ? try FenceSubjects(["van"]) : .everyone
            _ = try await store.createFence(definition, in: service, at: .at(0))
        }
        try await store.database.write { database in
            for number in numbers {
                try database.execute("UPDATE fence SET content = X'FF' WHERE id = \(number)")
                #expect(database.changes == 1)
            }
        }
        return (store, service)
    }

    @Test(arguments: [[], [1], [7], [4], [2, 3], [1, 2, 3, 4, 5, 6, 7]] as [[Int32]], [1, 3, 7, 1000])
    func theOtherFencesAreRead(_ numbers: [Int32], _ limit: Int) async throws {
        let (store, service) = try await spoiled(numbers, of: 7)
        for offset in 0...7 {
            let found = try await store.readableFences(
                in: service, matching: FenceFilter(), page: Page(offset: offset, limit: limit))
            let page = (1...7 as ClosedRange<Int32>).dropFirst(offset).prefix(limit)
            #expect(found.fences.map(\.fence.id) == page.filter { !numbers.contains($0) })
            #expect(found.problems.count == page.count { numbers.contains($0) })
            #expect(found.total == 7)
        }
    }

    @Test func theDamagedOnesAreNamed() async throws {
        let (store, service) = try await spoiled([3, 4, 7], of: 7)
        let all = try await store.readableFences(
            in: service, matching: FenceFilter(), page: Page(offset: 0, limit: 9))
        #expect(all.unreadable.map(\.fence) == [3, 4, 7])
        #expect(all.last == 7)
        for atOnce in 1...8 {
            let found = try await store.allReadableFences(in: service, matching: FenceFilter(), atOnce: atOnce)
            #expect(found == all, "\(atOnce) at once")
        }
        let named = try await store.fences(naming: [EntityKey(service: service, name: "van")])
        #expect(named.fences.map { $0.map(\.record.fence.id) } == [[2, 6]])
        #expect(named.unreadable.map(\.fence) == [4])
    }

    /// A vehicle must not go on judging by a fence that the server cannot judge by any more.
    @Test func whatChangedBesideADamagedFenceIsTold() async throws {
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        for name in ["van", "bus"] { try await store.addEntity(NewEntity(name: name), in: service, at: .at(0)) }
        for (number, names) in [nil, nil, nil, ["van"], ["van"], ["van"]].enumerated() {
            var definition = FenceDefinition(
                ShapeDraft(.circle(centre: Degrees(latitude: 52, longitude: 4), radius: Double(number + 1))))
            definition.watch = try names.map { try FenceSubjects($0) } ?? .everyone
            _ = try await store.createFence(definition, in: service, at: .at(Int64(number)))
        }
        let version = try await store.fences(naming: []).version
        for fence in 1...6 as ClosedRange<Int32> {
            _ = try await store.editFence(fence, in: service, at: .at(10 + Int64(fence))) {
                (definition) throws(TrackStoreError) in
                var definition = definition
                definition.denoise = 50
                return definition
            }
        }
        try await store.database.write { database in
            // What 1 and 4 are now, and what 2 and 5 were then.
            try database.execute("UPDATE fence SET content = X'FF' WHERE id IN (1, 4)")
            try database.execute("UPDATE former_fence SET content = X'FF' WHERE fence IN (2, 5)")
            #expect(database.changes == 2)
        }
        func changes(_ entity: String) async throws -> (told: [String], unreadable: [Int32]) {
            let difference = try await store.fenceDifference(
                of: EntityKey(service: service, name: entity), since: version)
            let told = try #require(difference.changes).map { change in
                "\(change.fence)\(change.former == nil ? "" : " was")\(change.present == nil ? "" : " is")"
            }
            return (told, difference.unreadable.map(\.fence).sorted())
        }
        let bus = try await changes("bus")
        #expect(bus.told == ["1 was", "2 is", "3 was is"])
        #expect(bus.unreadable == [1, 2])
        let van = try await changes("van")
        #expect(van.told == ["1 was", "2 is", "3 was is", "4 was", "5 is", "6 was is"])
        #expect(van.unreadable == [1, 2, 4, 5])
    }

    @Test func itCanBeDeletedAndThoseConcernedHearOfIt() async throws {
        let (store, service) = try await spoiled([1, 2], of: 4)
        let cursor = try await store.fenceNotices(after: nil, limit: 1).through
        #expect(
            try await store.deleteFences(matching: FenceFilter(fences: [1, 2, 3]), in: service, at: .at(9)) == [
                1, 2, 3,
            ])
        let notices = try #require(try await store.fenceNotices(after: cursor, limit: 9).notices)
        #expect(notices.map(\.fence) == [1, 2, 3])
        #expect(notices.map(\.concernsEveryone) == [true, false, true])
        #expect(notices.map(\.entities) == [[], ["van"], []])
        #expect(
            try await store.fences(in: service, matching: FenceFilter(), page: Page(offset: 0, limit: 9)).fences
                .map(\.fence.id) == [4])
        #expect(try await store.checkIntegrity() == [])
    }

    @Test func anAlarmThatCannotBeReadHoldsUpNoOther() async throws {
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        try await store.setCallback(CallbackTarget(url: "https://a.example/", secret: "s"), of: service)
        for cursor in 1...3 as ClosedRange<UInt8> {
            var batch = upload([point(Int64(cursor))], to: service)
            let key = try #require(AlarmKey(bytes: [UInt8](repeating: cursor, count: 16)))
            let place = try #require(Coordinate(latitude: 52, longitude: 4))
            batch.alarms = [
                CausedAlarm(
                    Alarm(
                        key: key, source: .server, fence: 1, revision: 1, name: "depot", action: .enter,
                        point: AlarmPoint(time: .at(0), place: place, received: .at(0)),
                        crossing: Crossing(
                            time: .at(0), place: place, isEstimated: true, earliest: .at(0), latest: .at(0))))
            ]
            _ = await store.ingest([batch])
        }
        func claim(_ limit: Int) async throws -> [UInt8]? {
            try await store.claimCallbacks(of: service, by: 7, at: .at(10), through: .at(20), limit: limit)?
                .callbacks.compactMap(\.alarm.alarm.key.bytes.first)
        }
        try await store.database.write { database in
            try database.execute(
                "UPDATE alarm SET action = 'x' WHERE key != X'\(String(repeating: "02", count: 16))'")
            #expect(database.changes == 2)
        }
        // The first of them alone, and nothing is claimed.
        #expect(try await claim(1) == nil)
        #expect(try await store.dueCallbacks(at: .at(10), limit: 9) == [service])
        #expect(try await claim(9) == [2])
    }
}
