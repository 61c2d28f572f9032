import GRDB
import Geodesy
import Geofencing
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
            definition.watch = number % 2 == 0 ? try FenceWatch(["van"]) : .everyone
            _ = try await store.createFence(definition, in: service, at: .at(0))
        }
        try await store.pool.write { database in
            for number in numbers {
                try database.execute(sql: "UPDATE fence SET content = X'FF' WHERE id = \(number)")
                #expect(database.changesCount == 1)
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

    @Test func itCanBeDeletedAndThoseConcernedHearOfIt() async throws {
        let (store, service) = try await spoiled([1, 2], of: 4)
        let mark = try await store.fenceNews(after: nil, limit: 1).through
        #expect(
            try await store.deleteFences(matching: FenceFilter(fences: [1, 2, 3]), in: service, at: .at(9)) == [
                1, 2, 3,
            ])
        let news = try #require(try await store.fenceNews(after: mark, limit: 9).news)
        #expect(news.map(\.fence) == [1, 2, 3])
        #expect(news.map(\.concernsEveryone) == [true, false, true])
        #expect(news.map(\.entities) == [[], ["van"], []])
        #expect(
            try await store.fences(in: service, matching: FenceFilter(), page: Page(offset: 0, limit: 9)).fences
                .map(\.fence.id) == [4])
        #expect(try await store.checkIntegrity() == [])
    }
}
