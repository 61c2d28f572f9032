import SQLDatabase
package import TrackModel
package import TrackStore

extension SQLiteTrackStore {
    package func addExport(
        _ order: ExportOrder, token: String, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) -> ExportRecord {
        try await writing { database in
            try self.check(service, database)
            let unfinished = try database.value(
                Int.self, "SELECT COUNT(*) FROM export_job WHERE service = ? AND state < 2",
                [service.rawValue])
            guard unfinished ?? 0 < ExportRules.mostUnfinished else {
                throw TrackStoreError(
                    .tooManyExports, "the service has \(ExportRules.mostUnfinished) jobs that are not done")
            }
            let number = try database.value(
                Int64.self,
                """
                INSERT INTO export_job (service, from_time, through_time, coordinate_type, token, created, modified, state)
                VALUES (?, ?, ?, ?, ?, ?, ?, 0) RETURNING id
                """,
                [
                    service.rawValue, order.from.milliseconds, order.through.milliseconds,
                    order.coordinateType.rawValue, token, now.milliseconds, now.milliseconds,
                ])
            guard let number else { throw TrackStoreError(.corrupt, "the store did not number an export job") }
            return ExportRecord(
                number: number, service: service, order: order, token: token, created: now,
                modified: now, state: .waiting)
        }
    }

    package func exports(
        in service: ServiceID, doneSince: Timestamp
    ) async throws(TrackStoreError) -> [ExportRecord] {
        try await reading { database in
            try self.check(service, database)
            return try database.rows(
                """
                SELECT \(ExportRecord.selection) FROM export_job
                WHERE service = ? AND (state < 2 OR modified >= ?) ORDER BY id
                """, [service.rawValue, doneSince.milliseconds]
            ) { try ExportRecord($0) }
        }
    }

    package func export(token: String) async throws(TrackStoreError) -> ExportRecord? {
        try await reading { database in
            try database.row(
                "SELECT \(ExportRecord.selection) FROM export_job WHERE token = ?", [token]
            ) { try ExportRecord($0) }
        }
    }

    package func deleteExport(_ number: Int64, in service: ServiceID) async throws(TrackStoreError) {
        try await writing { database in
            try database.execute(
                "DELETE FROM export_job WHERE id = ? AND service = ?", [number, service.rawValue])
            guard database.changes > 0 else {
                throw TrackStoreError(.unknownExport, "the service has no job of this number")
            }
        }
    }

    // MARK: Workers

    package func claimExport(
        by worker: Int64, at now: Timestamp, through end: Timestamp
    ) async throws(TrackStoreError) -> ExportRecord? {
        guard try await reading({ database in try !JobTable.exports.isIdle(database) }) else { return nil }
        return try await writing { database in
            guard let number = try JobTable.exports.claim(by: worker, at: now, through: end, database) else {
                return nil
            }
            return try database.row(
                "SELECT \(ExportRecord.selection) FROM export_job WHERE id = ?", [number]
            ) { try ExportRecord($0) }
        }
    }

    package func keepExport(
        _ number: Int64, by worker: Int64, through end: Timestamp
    ) async throws(TrackStoreError) -> Bool {
        try await writing { database in try JobTable.exports.keep(number, by: worker, through: end, database) }
    }

    package func settleExport(
        _ number: Int64, by worker: Int64, _ result: ExportResult?, at now: Timestamp
    ) async throws(TrackStoreError) -> Bool {
        try await writing { database in
            try JobTable.exports.settle(
                number, by: worker, isDone: result != nil, at: now,
                results: [("points", result?.points), ("bytes", result?.bytes)], database)
        }
    }

    // MARK: Upkeep

    package func removeExports(doneBefore: Timestamp) async throws(TrackStoreError) -> Int {
        try await writing { database in try JobTable.exports.remove(doneBefore: doneBefore, database) }
    }

    package func exportTokens() async throws(TrackStoreError) -> Set<String> {
        try await reading { database in Set(try database.values(String.self, "SELECT token FROM export_job")) }
    }

    package func exportUses() async throws(TrackStoreError) -> [ServiceID: ExportUse] {
        try await reading { database in
            var uses: [ServiceID: ExportUse] = [:]
            try database.forEach(
                "SELECT service, COUNT(*), SUM(bytes) FROM export_job WHERE state = 2 GROUP BY service"
            ) { row in
                guard let service = try ServiceID(rawValue: row[0]) else { return }
                uses[service] = try ExportUse(files: row[1], bytes: row[2])
            }
            return uses
        }
    }

    package func exportCounts() async throws(TrackStoreError) -> [ExportRecord.State: Int] {
        try await reading { database in
            var counts: [ExportRecord.State: Int] = [:]
            try database.forEach("SELECT state, COUNT(*) FROM export_job GROUP BY state") { row in
                if let state = try ExportRecord.State(rawValue: row[0]) { counts[state] = try row[1] }
            }
            return counts
        }
    }

    package func exportedEntities(
        in service: ServiceID, from: Timestamp, through: Timestamp, after: Int64, limit: Int
    ) async throws(TrackStoreError) -> [ExportedEntity] {
        try await reading { database in
            let select = try database.statement(
                """
                SELECT e.id, e.name FROM entity e
                WHERE e.service = ?1 AND e.id > ?2 AND EXISTS (
                    SELECT 1 FROM chunk c
                    WHERE c.entity = e.id AND c.first_time BETWEEN ?3 AND ?4 AND c.last_time >= ?5)
                ORDER BY e.id LIMIT ?6
                """)
            // No chunk is longer than the span, so none that begins earlier reaches into the range.
            return try select.rows(
                [
                    service.rawValue, after, from.adding(milliseconds: -ChunkLimits.span).milliseconds,
                    through.milliseconds, from.milliseconds, max(0, limit),
                ]
            ) { try ExportedEntity(number: $0[0], name: $0[1]) }
        }
    }
}

extension ExportRecord {
    fileprivate static let selection =
        "id, service, from_time, through_time, coordinate_type, token, created, modified, state, points, bytes"

    fileprivate init(_ row: SQLRow) throws {
        let number: Int64 = try row[0]
        guard let service = try ServiceID(rawValue: row[1]), let type = try CoordinateType(rawValue: row[4]),
            let state = try State(rawValue: row[8])
        else { throw TrackStoreError(.corrupt, "the export job \(number) cannot be read") }
        let points: Int64? = try row[9]
        let bytes: Int64? = try row[10]
        try self.init(
            number: number, service: service,
            order: ExportOrder(
                from: Timestamp(milliseconds: row[2]), through: Timestamp(milliseconds: row[3]), coordinateType: type),
            token: row[5], created: Timestamp(milliseconds: row[6]), modified: Timestamp(milliseconds: row[7]),
            state: state,
            result: points.flatMap { points in bytes.map { ExportResult(points: points, bytes: $0) } })
    }
}
