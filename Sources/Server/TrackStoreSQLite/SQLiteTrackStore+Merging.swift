import SQLDatabase
import Synchronization
package import TrackModel
package import TrackStore

extension SQLiteTrackStore {
    /// Stops after the transaction that reaches `limit`; a group of chunks is always replaced whole.
    ///
    /// Reading, decoding and encoding happen in a snapshot beside the writer; the writer is held only to exchange rows.
    package func mergeChunks(limit: Int, at now: Timestamp) async throws(TrackStoreError) -> Int {
        await merging.enter()
        defer { merging.leave() }
        return try await mergeRound(limit: limit, at: now)
    }

    private func mergeRound(limit: Int, at now: Timestamp) async throws(TrackStoreError) -> Int {
        let start = mergeCursor.withLock { $0 }
        var cursor = start
        var hasTurned = false
        var replaced = 0
        while replaced < limit {
            let page = try await reading { [cursor] database in try MergeCandidate.page(after: cursor, database) }
            var works = MergeWorks()
            for candidate in page.prefix(while: { !hasTurned || $0.entity <= start }) {
                var isDone = !candidate.isDue(at: now)
                while !isDone, replaced + works.chunks < limit {
                    let work = try await reading { database in try MergeWork(candidate.entity, database) }
                    guard let work else {
                        isDone = true
                        break
                    }
                    works.add(work)
                    isDone = work.isWhole
                    // The next groups of the same entity must see this exchange.
                    if !isDone || works.isFull { replaced += try await commit(&works) }
                }
                // At the limit the same entity goes on next time.
                guard isDone else { break }
                cursor = candidate.entity
                mergeCursor.withLock { [cursor] in $0 = cursor }
                if replaced + works.chunks >= limit { break }
            }
            replaced += try await commit(&works)
            if replaced >= limit { break }
            let isLast = page.count < MergeCandidate.pageSize
            if hasTurned && (isLast || page.contains { $0.entity > start }) { break }
            if isLast {
                if start == 0 { break }
                hasTurned = true
                cursor = 0
                mergeCursor.withLock { $0 = 0 }
            }
        }
        return replaced
    }

    /// Exchanges the gathered chunks in one transaction.
    private func commit(_ works: inout MergeWorks) async throws(TrackStoreError) -> Int {
        let all = works.all
        works = MergeWorks()
        guard !all.isEmpty else { return 0 }
        return try await writing { database in try all.reduce(0) { try $0 + $1.commit(database) } }
    }
}

/// An entity with unsettled chunks.
private struct MergeCandidate: Sendable {
    static let pageSize = 256

    let entity: Int64
    let points: Int
    let oldest: Timestamp

    func isDue(at now: Timestamp) -> Bool {
        points >= ChunkLimits.smallPoints || now.milliseconds(since: oldest) >= ChunkLimits.patience
    }

    static func page(after entity: Int64, _ database: any SQLConnection) throws -> [MergeCandidate] {
        try database.rows(
            """
            SELECT entity, SUM(count), MIN(received) FROM chunk INDEXED BY chunk_unsettled
            WHERE settled = 0 AND entity > ? GROUP BY entity ORDER BY entity LIMIT \(pageSize)
            """,
            [entity]
        ) { try MergeCandidate(entity: $0[0], points: $0[1], oldest: Timestamp(milliseconds: $0[2])) }
    }
}
