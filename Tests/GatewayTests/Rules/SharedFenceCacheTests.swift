import FenceDelivery
import Geodesy
import Geofencing
import StoreRecords
import Synchronization
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import Gateway

/// The fences over everyone are read once for all who log in.
@Suite struct SharedFenceCacheTests {
    /// Counts the fences that the store hands out.
    private final class CountingStore: StoreDecorator {
        let inner: any EngineStore
        let fences = Mutex(0)
        let differences = Mutex(0)

        init(_ inner: any EngineStore) { self.inner = inner }

        func readableFences(
            in service: ServiceID, matching filter: FenceFilter, page: Page
        ) async throws(TrackStoreError) -> ReadableFences {
            let found = try await inner.readableFences(in: service, matching: filter, page: page)
            fences.withLock { $0 += found.fences.count }
            return found
        }

        func fenceDifference(
            of entity: EntityKey, since version: Int64
        ) async throws(TrackStoreError) -> FenceDifference {
            let found = try await inner.fenceDifference(of: entity, since: version)
            differences.withLock { $0 += 1 }
            fences.withLock { $0 += found.changes?.compactMap(\.present).count ?? 0 }
            return found
        }

        func fences(naming entities: [EntityKey]) async throws(TrackStoreError) -> NamingFences {
            let found = try await inner.fences(naming: entities)
            fences.withLock { $0 += found.fences.joined().count }
            return found
        }

        func takeCount() -> Int {
            fences.withLock { count in
                defer { count = 0 }
                return count
            }
        }
    }

    private let store: CountingStore
    private let service: ServiceID

    init() async throws {
        store = CountingStore(TestStore())
        service = try await store.createService(named: "fleet", at: .at(0)).id
        for name in ["van", "bus", "truck"] { try await store.haveEntity(named: name, in: service, at: .at(0)) }
    }

    @discardableResult
    private func make(_ name: String, _ names: [String]? = nil, at time: Timestamp) async throws -> FenceRecord {
        var definition = FenceDefinition(
            ShapeDraft(.circle(centre: Degrees(latitude: 40, longitude: 116), radius: 100)))
        definition.name = name
        definition.watch = try names.map { try FenceSubjects($0) } ?? .everyone
        return try await store.createFence(definition, in: service, at: time)
    }

    /// What a vehicle without fences gets.
    private func login(_ reading: FenceReading, _ entity: String) async throws -> (version: Int64, fences: [Int32]) {
        let key = EntityKey(service: service, name: entity)
        let update = try #require(try await reading.update(of: key, since: 0, around: nil))
        var reader = FenceDeliveryReader()
        let delivery = try #require(try update.parts.compactMap { try reader.take($0)?.unpacked() }.last)
        return (update.version, delivery.fences.map(\.fence.id).sorted())
    }

    @Test func aThousandLoginsReadTheFencesOnceForEachVersion() async throws {
        let reading = FenceReading(store)
        for number in 1...50 as ClosedRange<Int64> { try await make("\(number)", at: .at(number)) }
        try await make("own", ["van"], at: .at(60))
        func all(_ last: Int32) async throws {
            try await withThrowingTaskGroup(of: [Int32].self) { group in
                for number in 0..<1000 {
                    let entity = number % 10 == 0 ? "van" : "bus"
                    group.addTask { try await self.login(reading, entity).fences }
                }
                for try await fences in group {
                    #expect(fences == Array(1...last).filter { $0 != 51 } || fences == Array(1...last))
                }
            }
        }
        try await all(51)
        // Each of the hundred logins of the van reads its own fence.
        #expect(store.takeCount() == 50 + 100)
        // A change is all that is read of the next version.
        try await make("new", at: .at(70))
        try await all(52)
        #expect(store.takeCount() == 1 + 100)
        #expect(store.differences.withLock { $0 } == 1)
        // A fence of one entity is no change for everyone.
        try await make("other", ["truck"], at: .at(80))
        _ = try await login(reading, "bus")
        #expect(store.takeCount() == 0)
    }

    @Test func aVehicleGetsWhatThereIsNow() async throws {
        let reading = FenceReading(store)
        for number in 1...5 as ClosedRange<Int64> { try await make("\(number)", at: .at(number)) }
        #expect(try await login(reading, "bus").fences == [1, 2, 3, 4, 5])
        _ = try await store.deleteFences(matching: FenceFilter(fences: [2]), in: service, at: .at(10))
        _ = try await store.editFence(3, in: service, at: .at(11)) { (definition) throws(TrackStoreError) in
            var definition = definition
            definition.watch = (try? FenceSubjects(["van"])) ?? .nobody
            return definition
        }
        let now = try await login(reading, "bus")
        #expect(now.fences == [1, 4, 5])
        #expect(try await login(reading, "van").fences == [1, 3, 4, 5])
        #expect(now.version == (try await store.fences(naming: []).version))
        // What was forgotten is read anew.
        _ = try await store.deleteFences(matching: FenceFilter(fences: [4]), in: service, at: .at(12))
        _ = try await store.removeFenceNotices(before: .at(100), limit: 100)
        #expect(try await login(reading, "bus").fences == [1, 5])
    }

    @Test func fencesBeyondTheBoundAreNotKept() async throws {
        let other = try await store.createService(named: "other", at: .at(0)).id
        for number in 1...4 as ClosedRange<Int64> { try await make("\(number)", at: .at(number)) }
        let one = try await SharedFenceCache(store).fences(of: service, atLeast: 1)
        let fences = SharedFenceCache(store, mostBytes: one.bytes + 1)
        for _ in 1...3 { _ = try await fences.fences(of: service, atLeast: 1) }
        #expect(await fences.count == 1)
        _ = try await fences.fences(of: other, atLeast: 1)
        #expect(await fences.count == 2)
        let tight = SharedFenceCache(store, mostBytes: one.bytes - 1)
        _ = store.takeCount()
        for _ in 1...3 { #expect(try await tight.fences(of: service, atLeast: 1).fences.count == 4) }
        #expect(await tight.count == 0)
        #expect(store.takeCount() == 12)
    }
}
