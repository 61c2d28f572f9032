import SQLDatabase
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import TrackStoreSQLite

@Suite struct MergingTests {
    private let bench: Workbench

    init() throws {
        bench = try Workbench()
    }

    private func makeStore() async throws -> (store: SQLiteTrackStore, service: ServiceID) {
        let store = try await bench.open()
        return (store, try await store.createService(named: "fleet", at: .at(0)).id)
    }

    private func merge(_ store: SQLiteTrackStore, at now: Timestamp = .at(0)) async throws {
        while try await store.mergeChunks(limit: 100, at: now) > 0 {}
    }

    private func sizes(_ store: SQLiteTrackStore) async throws -> [Int] {
        try await store.database.read { try $0.values(Int.self, "SELECT count FROM chunk ORDER BY entity, first_time") }
    }

    @Test func liveBatchesBecomeLargeChunksAndKeepTheirReceiveTimes() async throws {
        let (store, service) = try await makeStore()
        for start in stride(from: Int64(0), to: 30_000, by: 6) {
            _ = await store.ingest([
                upload((0..<6).map { point((start + $0) * 5) }, to: service, received: .at(start * 5 + 30))
            ])
        }
        let before = try await everything(store, service)
        try await merge(store)
        #expect(try await everything(store, service) == before)
        let sizes = try await sizes(store)
        #expect(sizes.reduce(0, +) == 30_000)
        #expect(sizes.allSatisfy { (512...4096).contains($0) }, "\(sizes)")
        #expect(try await store.checkIntegrity() == [])
    }

    @Test func chunksThatGrowWhileTheyAreMergedBecomeLargeToo() async throws {
        let (store, service) = try await makeStore()
        for start in stride(from: Int64(0), to: 12_000, by: 6) {
            _ = await store.ingest([upload((0..<6).map { point(start + $0) }, to: service)])
            if start % 300 == 0 { try await merge(store) }
        }
        let sizes = try await sizes(store)
        let small = sizes.filter { $0 < 512 }
        #expect(sizes.filter { $0 >= 3500 }.count >= 2, "\(sizes)")
        #expect(small.reduce(0, +) < 1024, "\(sizes)")
        #expect(try await everything(store, service).map(\.point) == (0..<12_000).map { point($0) })
    }

    @Test func fewPointsWaitForMoreOrForAnHour() async throws {
        let (store, service) = try await makeStore()
        for start in stride(from: Int64(0), to: 60, by: 6) {
            _ = await store.ingest([upload((0..<6).map { point(start + $0) }, to: service, received: .at(10))])
        }
        #expect(try await store.mergeChunks(limit: 100, at: .at(10 + 3599)) == 0)
        #expect(try await sizes(store).count == 10)
        #expect(try await store.mergeChunks(limit: 100, at: .at(10 + 3600)) == 10)
        #expect(try await sizes(store) == [60])
        #expect(try await store.mergeChunks(limit: 100, at: .at(10 + 3600)) == 0)
    }

    @Test func supersededPointsVanishAndTheLaterUploadWins() async throws {
        let (store, service) = try await makeStore()
        let first = (0..<3000).map { point($0, speed: 1) }
        let second = (1000..<2000).map { point($0, speed: 2) }
        _ = await store.ingest([upload(first, to: service, received: .at(1))])
        _ = await store.ingest([upload(second, to: service, received: .at(2))])
        try await merge(store)
        #expect(try await store.counts().points == 3000)
        #expect(try await sizes(store).count == 1)
        for point in try await everything(store, service) {
            let isSecond = (1_700_001_000..<1_700_002_000).contains(point.point.fix.time.seconds)
            #expect(point.point.fix.speed == (isSecond ? 2 : 1))
            #expect(point.received == .at(isSecond ? 2 : 1))
        }
    }

    @Test func aThousandUploadsOfOneInstantBecomeOnePoint() async throws {
        let (store, service) = try await makeStore()
        for round in 0..<20 as Range<Int32> {
            _ = await store.ingest(
                (0..<1000).map { upload([point(5, speed: round * 1000 + $0)], to: service) })
        }
        try await merge(store)
        #expect(try await everything(store, service).map(\.point.fix.speed) == [19_999])
        let sizes = try await sizes(store)
        #expect(sizes.reduce(0, +) < 20, "\(sizes)")
    }

    @Test func manyEntitiesAreMergedInTurns() async throws {
        let (store, service) = try await makeStore()
        for start in stride(from: Int64(0), to: 40, by: 4) {
            _ = await store.ingest(
                (0..<600).map { upload((0..<4).map { point(start + $0) }, to: service, entity: "e\($0)") })
        }
        var replaced = 0
        while true {
            let count = try await store.merge(limit: 25)
            if count == 0 { break }
            #expect((25...35).contains(count) || replaced + count == 6000)
            replaced += count
        }
        #expect(replaced == 6000)
        #expect(try await sizes(store) == Array(repeating: 40, count: 600))
    }

    @Test func sparsePointsStayWithinSevenDaysAChunk() async throws {
        let (store, service) = try await makeStore()
        for day in 0..<60 as Range<Int64> {
            _ = await store.ingest([upload([point(day * 86_400)], to: service, received: .at(day * 86_400))])
            try await merge(store, at: .at(day * 86_400 + 7200))
        }
        #expect(try await everything(store, service).count == 60)
        #expect(try await sizes(store).count <= 60 / 7 + 2)
        #expect(try await store.checkIntegrity() == [])
    }

    @Test func longTextsDoNotMakeAChunkThatCannotBeRead() async throws {
        let (store, service) = try await makeStore()
        let long = String(repeating: "long text ", count: 100)
        for start in 0..<15 {
            let points = (0..<40).map { index in
                var point = point(Int64(start * 40 + index))
                for key in 0..<20 { point.attributes["key \(start % 5) \(key)"] = .string("\(index * key)" + long) }
                return point
            }
            var batch = upload(points, to: service)
            batch.payload = nil
            _ = await store.ingest([batch])
        }
        let before = try await everything(store, service)
        #expect(before.count == 600)
        try await merge(store)
        #expect(try await everything(store, service) == before)
        #expect(try await store.checkIntegrity() == [])
    }

    @Test func aChunkThatCannotBeReadDoesNotHoldUpTheOthers() async throws {
        let (store, service) = try await makeStore()
        for entity in ["broken", "sound"] {
            for start in stride(from: Int64(0), to: 1200, by: 6) {
                _ = await store.ingest([
                    upload((0..<6).map { point(start + $0) }, to: service, entity: entity)
                ])
            }
        }
        try await store.database.write { try $0.execute("UPDATE chunk SET payload = X'00' WHERE id = 7") }
        try await merge(store)
        let sizes = try await sizes(store)
        #expect(sizes.count == 201)
        #expect(sizes.last == 1200)
        #expect(try await store.checkIntegrity().contains { $0.contains("chunk 7 ") })
        let error = await #expect(throws: TrackStoreError.self) { try await everything(store, service, "broken") }
        #expect(error?.code == .corrupt)
    }

    @Test func severalCallersMergeOneAfterTheOther() async throws {
        let (store, service) = try await makeStore()
        for start in stride(from: Int64(0), to: 6000, by: 6) {
            _ = await store.ingest([upload((0..<6).map { point(start + $0) }, to: service)])
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 { group.addTask { try await store.merge(limit: 10) } }
            for start in stride(from: Int64(6000), to: 7200, by: 6) {
                _ = await store.ingest([upload((0..<6).map { point(start + $0) }, to: service)])
            }
            try await group.waitForAll()
        }
        try await merge(store)
        #expect(try await everything(store, service).map(\.point) == (0..<7200).map { point($0) })
    }
}
