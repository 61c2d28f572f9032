import SQLDatabase
import StoreRecords
import Synchronization
package import TrackModel
package import TrackStore

extension SQLiteTrackStore {
    package func removePoints(
        of service: ServiceID, before time: Timestamp, after cursor: RemovalCursor?, limit: Int
    ) async throws(TrackStoreError) -> PointRemoval {
        // Merging must find the chunks that it has looked at.
        await merging.enter()
        defer { merging.leave() }
        return try await writing { database in
            try self.check(service, database)
            var work = OldPoints(database, before: time, limit: limit)
            let cursor = try work.remove(of: service, after: cursor) { entity in
                self.records.known.withLock { $0.forgetCell(of: entity) }
            }
            return PointRemoval(removed: work.removed, cursor: cursor)
        }
    }
}

/// The removal of old chunks in one transaction.
///
/// A chunk goes when its last point was measured before the time, and the server received all its points before the time. The
/// second rule keeps points with a wrong date, and those that a vehicle brings after a long time off, for as long as others.
/// So a fleet whose old tracks were imported has many chunks that are old and stay: what is bounded is how many are looked at.
private struct OldPoints {
    private let database: any SQLConnection
    private let time: Int64
    private let limit: Int
    private var chunksLeft: Int
    private(set) var removed = 0

    init(_ database: any SQLConnection, before time: Timestamp, limit: Int) {
        self.database = database
        self.time = time.milliseconds
        self.limit = max(1, limit)
        chunksLeft = self.limit
    }

    /// Returns how far it came; nil: everything was looked at. `lostPlace`: an entity has no position any more.
    mutating func remove(
        of service: ServiceID, after start: RemovalCursor?, lostPlace: (Int64) -> Void
    ) throws -> RemovalCursor? {
        var cursor = start
        for _ in 0..<limit {
            guard let entity = try entity(of: service, at: cursor) else { return nil }
            let last = try remove(entity, after: entity.isThat(of: cursor) ? cursor?.chunk : nil, lostPlace)
            cursor = RemovalCursor(entity: entity.name, chunk: last)
            if chunksLeft <= 0 { break }
        }
        return cursor
    }

    private struct Entity {
        let id: Int64
        let name: String
        /// When the latest point was measured, and received.
        let latest: Int64?
        let received: Int64?

        /// Points that are dated ahead of the server's clock may stand behind the latest one.
        func hasLatest(in first: Int64, _ last: Int64) -> Bool { latest.map { $0 >= first && $0 <= last } ?? false }

        func isThat(of cursor: RemovalCursor?) -> Bool { cursor?.entity.utf8.elementsEqual(name.utf8) == true }
    }

    /// That of the cursor when it is not done and is still there, otherwise the next one.
    private func entity(of service: ServiceID, at cursor: RemovalCursor?) throws -> Entity? {
        let comparison = cursor == nil || cursor?.chunk != nil ? ">=" : ">"
        let select = try database.statement(
            """
            SELECT e.id, e.name, s.time, s.received FROM entity e LEFT JOIN state s ON s.entity = e.id
            WHERE e.service = ? AND e.name \(comparison) ? ORDER BY e.name LIMIT 1
            """)
        return try select.row([service.rawValue, cursor?.entity ?? ""]) {
            try Entity(id: $0[0], name: $0[1], latest: $0[2], received: $0[3])
        }
    }

    /// Returns the chunk that it looked at last; nil: the entity is done.
    private mutating func remove(
        _ entity: Entity, after start: RemovalCursor.Chunk?, _ lostPlace: (Int64) -> Void
    ) throws -> RemovalCursor.Chunk? {
        if start == nil {
            try database.statement("DELETE FROM hint WHERE entity = ?1 AND time < ?2 AND received < ?2")
                .execute([entity.id, time])
        }
        var last = start
        var old: [Chunk] = []
        // Read one by one: a vehicle may have many old chunks, and writers wait.
        let chunks = try database.statement(
            """
            SELECT id, first_time, last_time, count FROM chunk INDEXED BY chunk_by_time
            WHERE entity = ?1 AND first_time < ?2 AND (first_time, id) > (?3, ?4) ORDER BY first_time, id
            """)
        // Asked only when there is something left: the first chunk counts too.
        try chunks.run([entity.id, time, start?.firstTime ?? .min, start?.id ?? .min]) { row in
            guard chunksLeft > 0 else { return false }
            chunksLeft -= 1
            let chunk = try Chunk(id: row[0], count: row[3])
            last = try RemovalCursor.Chunk(firstTime: row[1], id: chunk.id)
            let end: Int64 = try row[2]
            // The chunk of the latest point goes after all others.
            if end < time, try !entity.hasLatest(in: row[1], end), try isReceivedBefore(chunk) { old.append(chunk) }
            return chunksLeft > 0
        }
        try delete(old)
        guard chunksLeft > 0 else { return last }
        if try removeLast(of: entity) {
            try forgetPlace(of: entity.id)
            lostPlace(entity.id)
        }
        return nil
    }

    private struct Chunk {
        let id: Int64
        let count: Int
    }

    private func isReceivedBefore(_ chunk: Chunk) throws -> Bool {
        let select = try database.statement("SELECT received, runs FROM chunk WHERE id = ?")
        let row: (Int64, [UInt8]?)? = try select.row([chunk.id]) { row in try (row[0], row[1]) }
        guard let (received, runs) = row, received < time else { return false }
        guard let runs else { return true }
        // What cannot be read is for the integrity check to name.
        let times = ReceiveRuns.decode(runs, first: Timestamp(milliseconds: received), count: chunk.count)
        return times?.allSatisfy { $0.milliseconds < time } == true
    }

    private mutating func delete(_ chunks: [Chunk]) throws {
        let deletion = try database.statement("DELETE FROM chunk WHERE id = ?")
        for chunk in chunks {
            try deletion.execute([chunk.id])
            removed += chunk.count
        }
    }

    /// Chunks that may end at the same time; merging makes one of them.
    private static let mostLast = 64

    /// Removes what ends with the latest point, when it is old and the entity has nothing else. False: it has.
    ///
    /// What is dated behind the latest point was dated ahead of the server's clock when it came (``Recency``): it was made before the
    /// latest point, and goes with it, whatever its date says.
    private mutating func removeLast(of entity: Entity) throws -> Bool {
        guard let latest = entity.latest, latest < time, let received = entity.received, received < time else {
            return false
        }
        let rows = try database.rows(
            """
            SELECT id, count, last_time FROM chunk INDEXED BY chunk_by_time
            WHERE entity = ? AND first_time <= ? ORDER BY first_time, id LIMIT \(Self.mostLast + 1)
            """, [entity.id, latest]
        ) { row in try (chunk: Chunk(id: row[0], count: row[1]), end: row[2] as Int64) }
        guard rows.count <= Self.mostLast else { return false }
        var last: [Chunk] = []
        for (chunk, end) in rows {
            guard end >= latest, end < time, try isReceivedBefore(chunk) else { return false }
            last.append(chunk)
        }
        guard try removeAhead(of: entity, behind: latest) else { return false }
        try delete(last)
        return true
    }

    /// Removes chunks that begin behind the latest point. False: some are left, for the next time or because they cannot be read.
    private mutating func removeAhead(of entity: Entity, behind latest: Int64) throws -> Bool {
        let rows = try database.rows(
            """
            SELECT id, count FROM chunk INDEXED BY chunk_by_time
            WHERE entity = ? AND first_time > ? ORDER BY first_time, id LIMIT ?
            """, [entity.id, latest, chunksLeft + 1]
        ) { row in try Chunk(id: row[0], count: row[1]) }
        let ahead = try rows.prefix(chunksLeft).filter(isReceivedBefore)
        chunksLeft -= ahead.count
        try delete(ahead)
        return ahead.count == rows.count
    }

    /// The version and the fences' memory stay: a session may be open.
    private func forgetPlace(of entity: Int64) throws {
        try database.statement(
            """
            UPDATE state SET time = NULL, latitude = NULL, longitude = NULL, received = NULL, payload = NULL,
                datum = NULL, cell = NULL WHERE entity = ?
            """
        ).execute([entity])
    }
}
