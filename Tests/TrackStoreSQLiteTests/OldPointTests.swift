import SQLDatabase
import StoreRecords
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

    private func chunks(_ store: SQLiteTrackStore) async throws -> Int {
        try await store.database.read { try $0.value(Int.self, "SELECT COUNT(*) FROM chunk") ?? -1 }
    }

    /// The points that each call has removed.
    private func steps(
        _ store: SQLiteTrackStore, _ service: ServiceID, before time: Timestamp = .at(100_000), limit: Int
    ) async throws -> [Int] {
        var (steps, cursor): ([Int], RemovalCursor?) = ([], nil)
        repeat {
            let step = try await store.removePoints(of: service, before: time, after: cursor, limit: limit)
            steps.append(step.removed)
            cursor = step.cursor
        } while cursor != nil && steps.count < 1000
        return steps
    }

    /// One vehicle whose old track is in many chunks must not keep the writers waiting.
    @Test func oneCallRemovesNoMoreChunksThanItMay() async throws {
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        // The chunk of the latest point is the first in the index: it overlaps all others, and goes last.
        _ = await store.ingest([upload([point(0), point(5000)], to: service)])
        for start in Int64(1)...49 { _ = await store.ingest([upload([point(start * 10)], to: service)]) }
        try #require(try await chunks(store) == 50)
        #expect(try await steps(store, service, limit: 5) == [4] + [Int](repeating: 5, count: 9) + [2])
        #expect(try await store.entity(named: "truck", in: service)?.latest == nil)
        #expect(try await store.checkIntegrity() == [])
    }

    @Test func aLimitOfOneRemovesEverythingInTheEnd() async throws {
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        for start in (Int64(1)...4).reversed() { _ = await store.ingest([upload([point(start * 10)], to: service)]) }
        #expect(try await steps(store, service, limit: 1) == [1, 1, 1, 0, 1, 0])
        #expect(try await store.counts().points == 0)
    }

    /// Old tracks that were imported lately stay, and so does the first chunk behind them: a call looks at no more of them
    /// than it may, and the next one not at the same again.
    @Test func whatStaysIsLookedAtOnceAndInManyCalls() async throws {
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        for start in Int64(0)..<40 {
            _ = await store.ingest([upload([point(start * 10)], to: service, received: .at(200_000))])
        }
        for entity in ["a", "z"] { _ = await store.ingest([upload([point(5)], to: service, entity: entity)]) }
        let looks = Looks()
        try await store.database.write { database in
            (database as? SQLiteConnection)?.observer = { if $0.contains("SELECT received, runs") { looks.count += 1 } }
        }
        var (counts, removed, cursor): ([Int], Int, RemovalCursor?) = ([], 0, nil)
        repeat {
            let before = looks.count
            let step = try await store.removePoints(of: service, before: .at(100_000), after: cursor, limit: 5)
            counts.append(looks.count - before)
            removed += step.removed
            cursor = step.cursor
        } while cursor != nil && counts.count < 1000
        // 39 of the truck, without the chunk of its latest point, and one of each other.
        #expect(counts.allSatisfy { $0 <= 6 } && counts.reduce(0, +) == 41, "\(counts)")
        #expect(removed == 2)
        #expect(try await chunks(store) == 40)
    }

    @Test func anEntityThatGoesBetweenTwoCallsIsPassedOver() async throws {
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        for entity in ["a", "b", "c"] {
            for start in Int64(0)..<6 {
                _ = await store.ingest([upload([point(start * 10)], to: service, entity: entity)])
            }
        }
        let first = try await store.removePoints(of: service, before: .at(100_000), after: nil, limit: 8)
        #expect(first.removed == 8 && first.cursor?.entity == "b" && first.cursor?.chunk != nil)
        try await store.deleteEntity(named: "b", in: service, at: .at(0))
        let second = try await store.removePoints(of: service, before: .at(100_000), after: first.cursor, limit: 100)
        #expect(second == PointRemoval(removed: 6))
        #expect(try await chunks(store) == 0)
    }
}

/// Set on the store's writing connection, read while it rests.
private final class Looks: @unchecked Sendable {
    var count = 0
}
