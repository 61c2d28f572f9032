import Foundation
import GRDB
import Synchronization
package import TrackModel
package import TrackStore

extension SQLiteTrackStore {
    package func setRetention(_ retention: Retention, of service: ServiceID) async throws(TrackStoreError) {
        try await writing { database in
            try self.check(service, database)
            try database.execute(
                sql: "UPDATE service SET retention = ? WHERE id = ?", arguments: [retention.stored, service.rawValue])
        }
    }

    package func removePoints(
        of service: ServiceID, before time: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> Int {
        // Merging must find the chunks that it has looked at.
        await mergeTurn.take()
        let result: Result<Int, TrackStoreError>
        do throws(TrackStoreError) {
            result = .success(
                try await writing { database in
                    try self.check(service, database)
                    return try OldPoints(database, before: time, limit: limit).remove(of: service) { entity in
                        self.known.withLock { $0.forgetCell(of: entity) }
                    }
                })
        } catch {
            result = .failure(error)
        }
        await mergeTurn.end()
        return try result.get()
    }
}

/// The removal of old chunks in one transaction.
///
/// A chunk goes when its last point was measured before the time, and the server received all its points before the time. The
/// second rule keeps points with a wrong date, and those that a vehicle brings after a long time off, for as long as others.
private struct OldPoints {
    private let database: Database
    private let time: Int64
    private let limit: Int

    init(_ database: Database, before time: Timestamp, limit: Int) {
        self.database = database
        self.time = time.milliseconds
        self.limit = limit
    }

    /// Returns how many points it removed. `lostPlace`: an entity has no position any more.
    func remove(of service: ServiceID, lostPlace: (Int64) -> Void) throws -> Int {
        let entities = try Row.fetchAll(
            database,
            sql: """
                SELECT e.id, s.time FROM entity e LEFT JOIN state s ON s.entity = e.id
                WHERE e.service = ? AND EXISTS (
                    SELECT 1 FROM chunk INDEXED BY chunk_by_time
                    WHERE entity = e.id AND first_time < ?2 AND last_time < ?2)
                """, arguments: [service.rawValue, time])
        var (points, chunks) = (0, 0)
        for row in entities where chunks < limit {
            let entity: Int64 = row[0]
            let (old, isAll) = try oldChunks(of: entity, latest: row[1], limit: limit - chunks)
            for chunk in old {
                try database.cachedStatement(sql: "DELETE FROM chunk WHERE id = ?").execute(arguments: [chunk.id])
                points += chunk.count
                chunks += 1
            }
            if isAll {
                try forgetPlace(of: entity)
                lostPlace(entity)
            }
        }
        try database.cachedStatement(sql: "DELETE FROM hint WHERE service = ?1 AND time < ?2 AND received < ?2")
            .execute(arguments: [service.rawValue, time])
        return points
    }

    private struct Chunk {
        let id: Int64
        let count: Int
    }

    /// At most `limit` chunks that go. `latest`: the time of the latest point; its chunk goes last. `isAll`: none is left then.
    private func oldChunks(of entity: Int64, latest: Int64?, limit: Int) throws -> (chunks: [Chunk], isAll: Bool) {
        var (others, last): ([Chunk], [Chunk]) = ([], [])
        // Read one by one: a vehicle may have many old chunks, and writers wait.
        let rows = try Row.fetchCursor(
            try database.cachedStatement(
                sql: """
                    SELECT id, last_time, count, received, runs FROM chunk INDEXED BY chunk_by_time
                    WHERE entity = ?1 AND first_time < ?2 AND last_time < ?2
                    """), arguments: [entity, time])
        while others.count < limit, let row = try rows.next() {
            let (count, received): (Int, Int64) = (row[2], row[3])
            let times = ReceiveRuns.decode(
                (row[4] as Data?).map { [UInt8]($0) }, first: Timestamp(milliseconds: received), count: count)
            // What cannot be read is for the integrity check to name.
            guard let times, times.allSatisfy({ $0.milliseconds < time }) else { continue }
            let isLast = row[1] as Int64 == latest
            if isLast {
                last.append(Chunk(id: row[0], count: count))
            } else {
                others.append(Chunk(id: row[0], count: count))
            }
        }
        // The rest comes in the next transaction, and the latest point with it.
        guard others.count < limit, others.isEmpty || others.count + last.count <= limit else { return (others, false) }
        let count = try Int.fetchOne(
            try database.cachedStatement(sql: "SELECT COUNT(*) FROM chunk WHERE entity = ?"), arguments: [entity])
        let isAll = count == others.count + last.count
        return (isAll ? others + last : others, isAll && count != 0)
    }

    /// The version and the fences' memory stay: a session may be open.
    private func forgetPlace(of entity: Int64) throws {
        try database.cachedStatement(
            sql: """
                UPDATE state SET time = NULL, latitude = NULL, longitude = NULL, received = NULL, payload = NULL,
                    datum = NULL, cell = NULL WHERE entity = ?
                """
        ).execute(arguments: [entity])
    }
}

extension Retention {
    /// Null: as the configuration says. 0: for ever.
    fileprivate var stored: Int? {
        switch self {
        case .standard: nil
        case .forever: 0
        case .days(let days): days
        }
    }

    init(stored: Int?) {
        self =
            switch stored {
            case nil: .standard
            case 0?: .forever
            case let days?: .days(days)
            }
    }
}
