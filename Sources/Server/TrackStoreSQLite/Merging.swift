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
        points >= ChunkLimits.smallPoints || now.milliseconds(since: oldest) >= ChunkLimits.smallChunkAge
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

/// The chunks that one transaction exchanges. They belong to many entities, so that few transactions wait for the disk,
/// and have few points, so that ingest does not wait long.
struct MergeWorks: Sendable {
    private(set) var all: [MergeWork] = []
    private(set) var chunks = 0
    private var points = 0

    var isFull: Bool { all.count >= 64 || points >= MergePlan.plannedPoints }

    mutating func add(_ work: MergeWork) {
        all.append(work)
        chunks += work.chunks
        points += work.points
    }
}

/// The chunks that one transaction exchanges in one entity.
struct MergeWork: Sendable {
    /// Rows of one look at an entity: bounds memory.
    static let window = 16_384

    private struct Exchange: Sendable {
        var old: [ChunkOutline]
        var new: [NewChunk]
    }

    private let entity: Int64
    /// True when nothing of the entity is left for a further look.
    let isWhole: Bool
    private var exchanges: [Exchange] = []
    private var settled: [Int64] = []

    /// Chunks that it replaces.
    var chunks: Int { exchanges.reduce(0) { $0 + $1.old.count } }
    var points: Int { exchanges.reduce(0) { $0 + $1.old.reduce(0) { $0 + $1.count } } }

    /// Nil when the entity has no unsettled chunk.
    init?(_ entity: Int64, _ database: any SQLConnection) throws {
        self.entity = entity
        guard try Self.isKept(entity, database) else { return nil }
        guard
            let start = try database.value(
                Int64.self,
                """
                SELECT MIN(first_time) FROM chunk INDEXED BY chunk_unsettled WHERE settled = 0 AND entity = ?
                """, [entity])
        else { return nil }
        let outlines = try Self.outlines(of: entity, around: start, database)
        let plan = MergePlan(outlines, isComplete: Self.completeness(outlines, start: start))
        isWhole = !plan.isFull && outlines.count < Self.window
        settled = plan.settled
        for group in plan.groups {
            if let exchange = try Self.exchange(group, database) {
                exchanges.append(exchange)
            } else {
                settled += group.filter { !$0.isSettled }.map(\.id)
            }
        }
        // Nothing can be said about any of them: give up on these until a neighbour comes, instead of looking forever.
        if settled.isEmpty && exchanges.isEmpty { settled = outlines.filter { !$0.isSettled }.map(\.id) }
    }

    /// Returns how many chunks it replaced.
    func commit(_ database: any SQLConnection) throws -> Int {
        // The entity may have been deleted since the look; its number is never used again.
        guard try Self.isKept(entity, database) else { return 0 }
        let deletion = try database.statement(
            "DELETE FROM chunk WHERE id = ? AND first_time = ? AND last_time = ? AND count = ?")
        let insertion = try database.statement(NewChunk.insertion)
        var replaced = 0
        for exchange in exchanges {
            for old in exchange.old {
                try deletion.execute([old.id, old.firstTime, old.lastTime, old.count])
                guard database.changes == 1 else {
                    throw TrackStoreError(.failed, "another process merges chunks of this store: only one may")
                }
            }
            for (new, id) in zip(exchange.new, exchange.old.map(\.id)) {
                try new.insert(as: id, entity: entity, isSettled: true, with: insertion)
            }
            replaced += exchange.old.count
        }
        let settling = try database.statement("UPDATE chunk SET settled = 1 WHERE id = ?")
        for id in settled { try settling.execute([id]) }
        return replaced
    }

    /// False for an entity that was deleted, or whose service was: its chunks go one after the other, by another process too.
    private static func isKept(_ entity: Int64, _ database: any SQLConnection) throws -> Bool {
        let selection = try database.statement(
            "SELECT s.deletion IS NULL FROM entity e JOIN service s ON s.id = e.service WHERE e.id = ?")
        return try selection.value(Bool.self, [entity]) ?? false
    }

    private static func outlines(
        of entity: Int64, around start: Int64, _ database: any SQLConnection
    ) throws -> [ChunkOutline] {
        try database.rows(
            """
            SELECT id, first_time, last_time, count, settled FROM chunk INDEXED BY chunk_by_time
            WHERE entity = ? AND first_time >= ? ORDER BY first_time, id LIMIT \(window)
            """,
            [
                entity, Timestamp(milliseconds: start).adding(milliseconds: -2 * ChunkLimits.span).milliseconds,
            ]
        ) {
            try ChunkOutline(id: $0[0], firstTime: $0[1], lastTime: $0[2], count: $0[3], isSettled: $0[4] == 1)
        }
    }

    private static func completeness(_ outlines: [ChunkOutline], start: Int64) -> (ChunkOutline) -> Bool {
        let earliest = Timestamp(milliseconds: start).adding(milliseconds: -ChunkLimits.span).milliseconds
        // What was cut off begins later than the last row, or with it and has a greater id.
        let end = outlines.count < window ? nil : outlines.last
        return { chunk in
            guard chunk.firstTime >= earliest else { return false }
            guard let end else { return true }
            return chunk.lastTime < end.firstTime || (chunk.lastTime == end.firstTime && chunk.id <= end.id)
        }
    }

    /// Nil when merging would not help, or a payload cannot be read (which the integrity check reports).
    private static func exchange(_ group: [ChunkOutline], _ database: any SQLConnection) throws -> Exchange? {
        let selection = try database.statement(
            "SELECT \(StoredChunk.columns) FROM chunk WHERE id = ?")
        var merger = PointMerger()
        let always = Timestamp(milliseconds: .min)...Timestamp(milliseconds: .max)
        for outline in group {
            guard let chunk = try selection.row([outline.id], { try? StoredChunk($0) }) ?? nil else { return nil }
            merger.add(chunk, in: always)
        }
        let points = merger.finish()
        let pieces = max(1, (points.count + ChunkLimits.points - 1) / ChunkLimits.points)
        let new = NewChunk.cut(points, size: (points.count + pieces - 1) / pieces)
        guard !new.isEmpty, new.count <= group.count else { return nil }
        return Exchange(old: group, new: new)
    }
}
