import GRDB
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import TrackStoreSQLite

/// How much one call removes.
@Suite struct OldPointTests {
    private let bench: Workbench

    init() throws {
        bench = try Workbench()
    }

    /// One vehicle whose old track is in many chunks must not keep the writers waiting.
    @Test func oneCallRemovesNoMoreChunksThanItMay() async throws {
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        // The chunk of the latest point is the first in the index: it overlaps all others.
        _ = await store.ingest([upload([point(0), point(5000)], to: service)])
        for start in Int64(1)...49 { _ = await store.ingest([upload([point(start * 10)], to: service)]) }
        func chunks() async throws -> Int {
            try await store.pool.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM chunk") ?? -1 }
        }
        try #require(try await chunks() == 50)
        var left = [50]
        var removed = 0
        while true {
            let count = try await store.removePoints(of: service, before: .at(100_000), limit: 5)
            if count == 0 { break }
            removed += count
            left.append(try await chunks())
        }
        #expect(left == [50, 45, 40, 35, 30, 25, 20, 15, 10, 5, 0])
        #expect(removed == 51)
        #expect(try await store.entity(named: "truck", in: service)?.latest == nil)
        #expect(try await store.checkIntegrity() == [])
    }

    @Test func aLimitOfOneRemovesEverythingInTheEnd() async throws {
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        for start in (Int64(1)...4).reversed() { _ = await store.ingest([upload([point(start * 10)], to: service)]) }
        var calls = 0
        while try await store.removePoints(of: service, before: .at(100_000), limit: 1) > 0 { calls += 1 }
        #expect(calls == 4)
        #expect(try await store.counts().points == 0)
    }
}
