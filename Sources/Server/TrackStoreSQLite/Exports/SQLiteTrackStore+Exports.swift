import GRDB
package import TrackModel
package import TrackStore

extension SQLiteTrackStore {
    package func addExport(
        _ order: ExportOrder, token: String, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) -> ExportRecord {
        try await writing { database in
            try self.check(service, database)
            let unfinished = try Int.fetchOne(
                database, sql: "SELECT COUNT(*) FROM export_job WHERE service = ? AND state < 2",
                arguments: [service.rawValue])
            guard unfinished ?? 0 < ExportRules.mostUnfinished else {
                throw TrackStoreError(
                    .tooManyExports, "the service has \(ExportRules.mostUnfinished) jobs that are not done")
            }
            try database.execute(
                sql: """
                    INSERT INTO export_job (service, from_time, through_time, coordinate_type, token, created, modified, state)
                    VALUES (?, ?, ?, ?, ?, ?, ?, 0)
                    """,
                arguments: [
                    service.rawValue, order.from.milliseconds, order.through.milliseconds,
                    order.coordinateType.rawValue, token, now.milliseconds, now.milliseconds,
                ])
            return ExportRecord(
                number: database.lastInsertedRowID, service: service, order: order, token: token, created: now,
                modified: now, state: .waiting)
        }
    }

    package func exports(
        in service: ServiceID, doneSince: Timestamp
    ) async throws(TrackStoreError) -> [ExportRecord] {
        try await reading { database in
            try self.check(service, database)
            return try Row.fetchAll(
                database,
                sql: """
                    SELECT \(ExportRecord.selection) FROM export_job
                    WHERE service = ? AND (state < 2 OR modified >= ?) ORDER BY id
                    """, arguments: [service.rawValue, doneSince.milliseconds]
            ).map { try ExportRecord($0) }
        }
    }

    package func export(token: String) async throws(TrackStoreError) -> ExportRecord? {
        try await reading { database in
            try Row.fetchOne(
                database, sql: "SELECT \(ExportRecord.selection) FROM export_job WHERE token = ?", arguments: [token]
            ).map { try ExportRecord($0) }
        }
    }

    package func deleteExport(_ number: Int64, in service: ServiceID) async throws(TrackStoreError) {
        try await writing { database in
            try database.execute(
                sql: "DELETE FROM export_job WHERE id = ? AND service = ?", arguments: [number, service.rawValue])
            guard database.changesCount > 0 else {
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
            return try Row.fetchOne(
                database, sql: "SELECT \(ExportRecord.selection) FROM export_job WHERE id = ?", arguments: [number]
            ).map { try ExportRecord($0) }
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
        try await reading { database in try String.fetchSet(database, sql: "SELECT token FROM export_job") }
    }

    package func exportUses() async throws(TrackStoreError) -> [ServiceID: ExportUse] {
        try await reading { database in
            var uses: [ServiceID: ExportUse] = [:]
            let rows = try Row.fetchAll(
                database,
                sql: "SELECT service, COUNT(*), SUM(bytes) FROM export_job WHERE state = 2 GROUP BY service")
            for row in rows {
                ServiceID(rawValue: row[0]).map { uses[$0] = ExportUse(files: row[1], bytes: row[2]) }
            }
            return uses
        }
    }

    package func exportCounts() async throws(TrackStoreError) -> [ExportRecord.State: Int] {
        try await reading { database in
            var counts: [ExportRecord.State: Int] = [:]
            let rows = try Row.fetchAll(database, sql: "SELECT state, COUNT(*) FROM export_job GROUP BY state")
            for row in rows { ExportRecord.State(rawValue: row[0]).map { counts[$0] = row[1] } }
            return counts
        }
    }

    package func exportedEntities(
        in service: ServiceID, from: Timestamp, through: Timestamp, after: Int64, limit: Int
    ) async throws(TrackStoreError) -> [ExportedEntity] {
        try await reading { database in
            let select = try database.cachedStatement(
                sql: """
                    SELECT e.id, e.name FROM entity e
                    WHERE e.service = ?1 AND e.id > ?2 AND EXISTS (
                        SELECT 1 FROM chunk c
                        WHERE c.entity = e.id AND c.first_time BETWEEN ?3 AND ?4 AND c.last_time >= ?5)
                    ORDER BY e.id LIMIT ?6
                    """)
            // No chunk is longer than the span, so none that begins earlier reaches into the range.
            return try Row.fetchAll(
                select,
                arguments: [
                    service.rawValue, after, from.adding(milliseconds: -ChunkLimits.span).milliseconds,
                    through.milliseconds, from.milliseconds, max(0, limit),
                ]
            ).map { ExportedEntity(number: $0[0], name: $0[1]) }
        }
    }
}

extension ExportRecord {
    fileprivate static let selection =
        "id, service, from_time, through_time, coordinate_type, token, created, modified, state, points, bytes"

    fileprivate init(_ row: Row) throws(TrackStoreError) {
        let number: Int64 = row[0]
        guard let service = ServiceID(rawValue: row[1]), let type = CoordinateType(rawValue: row[4]),
            let state = State(rawValue: row[8])
        else { throw TrackStoreError(.corrupt, "the export job \(number) cannot be read") }
        let points: Int64? = row[9]
        let bytes: Int64? = row[10]
        self.init(
            number: number, service: service,
            order: ExportOrder(
                from: Timestamp(milliseconds: row[2]), through: Timestamp(milliseconds: row[3]), coordinateType: type),
            token: row[5], created: Timestamp(milliseconds: row[6]), modified: Timestamp(milliseconds: row[7]),
            state: state,
            result: points.flatMap { points in bytes.map { ExportResult(points: points, bytes: $0) } })
    }
}
