import SQLDatabase
import StoreRecords
import TrackModel
package import TrackStore
import TrackWire

extension SQLiteTrackStore {
    /// The list ends here: a broken store would fill it with every row.
    private static let maximumProblems = 100

    /// Reads every page and every payload, in many short looks, so that writing and merging go on beside it.
    package func checkIntegrity() async throws(TrackStoreError) -> [String] {
        var problems = try await checkStructure()
        problems += try await checkLatest(in: "state")
        problems += try await checkLatest(in: "hint")
        var cursor: Int64 = 0
        while problems.count < Self.maximumProblems {
            let (found, next) = try await reading { [cursor] database in
                try Self.checkChunks(after: cursor, database)
            }
            problems += found
            guard let next else { break }
            cursor = next
        }
        return Array(problems.prefix(Self.maximumProblems))
    }

    /// Finds the problems that can be found without decoding payloads.
    func checkStructure() async throws(TrackStoreError) -> [String] {
        try await reading { database in
            let reports = try database.values(String.self, "PRAGMA quick_check(\(Self.maximumProblems))")
            var problems = reports.filter { $0 != "ok" }.map { "the file: \($0)" }
            // A damaged file answers questions about rows with nonsense.
            guard problems.isEmpty else { return problems }
            for (question, sentence) in Self.questions {
                let rows = try database.value(Int.self, question) ?? 0
                if rows > 0 { problems.append("\(rows) \(sentence)") }
            }
            return problems
        }
    }

    private static let questions: [(String, String)] = [
        ("SELECT COUNT(*) FROM pragma_foreign_key_check", "rows refer to a row that is missing"),
        (
            """
            SELECT COUNT(*) FROM chunk
            WHERE last_time < first_time OR last_time > first_time + \(ChunkLimits.span)
            """, "chunks are longer than seven days"
        ),
        (
            "SELECT COUNT(*) FROM chunk WHERE count NOT BETWEEN 1 AND \(ChunkLimits.points)",
            "chunks hold no points or more than \(ChunkLimits.points)"
        ),
        (
            """
            SELECT COUNT(*) FROM (
                SELECT entity, MAX(last_time) AS time,
                    MAX(CASE WHEN runs IS NULL AND last_time <= received THEN last_time END) AS past
                FROM chunk GROUP BY entity) c
            LEFT JOIN state s ON s.entity = c.entity
            WHERE s.time IS NULL OR s.time > c.time OR s.time < c.past AND s.time <= s.received
            """, "entities have a latest point that is not the latest of their chunks"
        ),
        (
            """
            SELECT COUNT(*) FROM hint h JOIN state s ON s.entity = h.entity
            WHERE s.time >= h.time AND s.time <= s.received AND h.time <= h.received
            """,
            "entities have a hint that is not later than their latest point"
        ),
        (
            """
            SELECT COUNT(*) FROM (SELECT entity, MAX(id) AS id FROM chunk GROUP BY entity) c
            JOIN state s ON s.entity = c.entity WHERE c.id > s.version
            """, "entities have a chunk that is newer than their version"
        ),
        (
            """
            WITH c (last) AS (SELECT COALESCE((SELECT value FROM counter), -1))
            SELECT (SELECT COUNT(*) FROM entity WHERE id > last) + (SELECT COUNT(*) FROM state WHERE version > last)
                + (SELECT COUNT(*) FROM claim WHERE epoch > last) FROM c
            """, "numbers are beyond the counter, which may give them out again"
        ),
        (
            "SELECT COUNT(*) FROM entity e LEFT JOIN entity_text_docsize t ON t.id = e.id WHERE t.id IS NULL",
            "entities are missing in the index of names, so no search by text finds them"
        ),
        (
            "SELECT COUNT(*) FROM entity_text_docsize t LEFT JOIN entity e ON e.id = t.id WHERE e.id IS NULL",
            "entries of the index of names belong to no entity"
        ),
    ]

    /// `table`: `state`, or `hint`, which has the same columns of a point.
    private func checkLatest(in table: String) async throws(TrackStoreError) -> [String] {
        try await reading { database in
            var problems: [String] = []
            try database.statement(
                """
                SELECT p.entity, p.time, p.latitude, p.longitude, p.payload, p.datum, p.cell, p.service, e.service
                FROM \(table) p LEFT JOIN entity e ON e.id = p.entity WHERE p.time IS NOT NULL
                """
            ).run([]) { row in
                let entity: Int64 = try row[0]
                guard let point = try? PointRecord.decode(row[4]) else {
                    problems.append("the latest point of entity \(entity) cannot be read")
                    return problems.count < Self.maximumProblems
                }
                let fix = point.fix
                if try row[1] != fix.time.milliseconds || row[2] != Int64(fix.coordinate.latitudeE7)
                    || row[3] != Int64(fix.coordinate.longitudeE7)
                {
                    problems.append("the latest point of entity \(entity) is not what its columns say")
                }
                if try row[5] as Int? != point.coordinateType.number {
                    problems.append("the latest point of entity \(entity) is not in the datum that its row names")
                }
                if try row[6] as Int64? != PlaceCell.number(of: point) {
                    problems.append("entity \(entity) is not in the cell that its row names: searches by place miss it")
                }
                if try row[7] as Int64? != row[8] as Int64? {
                    problems.append("the latest point of entity \(entity) has the service of another entity")
                }
                return problems.count < Self.maximumProblems
            }
            return problems
        }
    }

    /// The problems of the next thousand chunks, and where to go on; nil at the end.
    private static func checkChunks(
        after cursor: Int64, _ database: any SQLConnection
    ) throws -> (problems: [String], next: Int64?) {
        var problems: [String] = []
        var last: Int64?
        try database.forEach(
            "SELECT \(StoredChunk.columns) FROM chunk WHERE id > ? ORDER BY id LIMIT 1000", [cursor]
        ) { row in
            let id: Int64 = try row[0]
            last = id
            do {
                _ = try StoredChunk(row)
            } catch let error as TrackStoreError {
                problems.append(error.detail)
            }
        }
        return (problems, last)
    }

    package func counts() async throws(TrackStoreError) -> StoreCounts {
        try await reading { database in
            try database.row(
                """
                SELECT (SELECT COUNT(*) FROM service WHERE deletion IS NULL), (SELECT COUNT(*) FROM entity),
                    COUNT(*), COALESCE(SUM(count), 0) FROM chunk
                """
            ) { row in
                try StoreCounts(services: row[0], entities: row[1], chunks: row[2], points: row[3])
            } ?? StoreCounts(services: 0, entities: 0, chunks: 0, points: 0)
        }
    }
}
