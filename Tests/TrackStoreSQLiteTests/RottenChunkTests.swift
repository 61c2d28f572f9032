import SQLDatabase
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import TrackStoreSQLite

/// A chunk whose bytes have changed on the medium: what is beside it is answered, and the hole is told.
@Suite struct RottenChunkTests {
    private let bench: Workbench

    init() throws {
        bench = try Workbench()
    }

    /// Three chunks: points 0 ..< 10, 10 ..< 20 and 20 ..< 30; the one in the middle is spoiled.
    private func spoiled(_ damage: String) async throws -> (store: SQLiteTrackStore, service: ServiceID) {
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        for start in [0, 10, 20] as [Int64] {
            _ = await store.ingest([upload((start..<(start + 10)).map { point($0) }, to: service)])
        }
        try await store.database.write { database in
            try database.execute("UPDATE chunk SET \(damage) WHERE first_time = \(Timestamp.at(10).milliseconds)")
            #expect(database.changes == 1)
        }
        return (store, service)
    }

    @Test(arguments: [
        "payload = X'00'", "payload = zeroblob(length(payload))", "payload = substr(payload, 1, length(payload) - 1)",
        "encoding = 1 - encoding", "count = 9", "runs = X'05'",
        // Readable, but not what the columns say.
        "payload = (SELECT payload FROM chunk ORDER BY first_time LIMIT 1)",
    ])
    func whatIsBesideItIsAnswered(_ damage: String) async throws {
        let (store, service) = try await spoiled(damage)
        func track(_ from: Int64, _ through: Int64, limit: Int = 100) async throws -> StoredTrack {
            try await store.track(of: "truck", in: service, from: .at(from), through: .at(through), limit: limit)
        }
        let all = try await track(0, 99)
        #expect(all.points.map(\.point) == (Array(0..<10) + Array(20..<30)).map { point($0) })
        let hole = try #require(all.holes.first)
        #expect(all.holes.count == 1)
        #expect(hole.from == .at(10))
        #expect(hole.through == .at(19))
        #expect(hole.count == (damage == "count = 9" ? 9 : 10))
        #expect(hole.reason.contains("chunk "))
        let clipped = try await track(12, 15)
        #expect(clipped.points.isEmpty)
        #expect(clipped.holes.map(\.from) == [.at(12)])
        #expect(clipped.holes.map(\.through) == [.at(15)])
        // Beside it nothing is missing.
        #expect(try await track(0, 9).holes == [])
        #expect(try await track(20, 99).holes == [])
        #expect(try await track(0, 99, limit: 20).points.count == 20)
        let error = await #expect(throws: TrackStoreError.self) {
            try await store.points(of: "truck", in: service, from: .at(0), through: .at(99), limit: 100)
        }
        #expect(error?.code == .corrupt)
        #expect(try await store.checkIntegrity().contains { $0.contains("chunk ") })
    }

    /// What is stored later for the same time is readable, and merging leaves the hole where it is.
    @Test func pointsOfTheSameTimeAreAnsweredBesideTheHole() async throws {
        let (store, service) = try await spoiled("payload = X'00'")
        _ = await store.ingest([upload((12..<15).map { point($0, speed: 7) }, to: service)])
        while try await store.merge(limit: 100) > 0 {}
        let track = try await store.track(of: "truck", in: service, from: .at(0), through: .at(99), limit: 100)
        #expect(
            track.points.map(\.point.fix.time.seconds)
                == (Array(0..<10) + Array(12..<15) + Array(20..<30)).map { Timestamp.at($0).seconds })
        #expect(track.holes.map(\.count) == [10])
    }
}
