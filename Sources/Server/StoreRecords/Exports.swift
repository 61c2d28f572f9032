import SQLDatabase
package import TrackModel
package import TrackStore

extension SQLRecordStore {
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

/// A table of jobs that the workers of servers take one after the other: exports, and frequent routes.
///
/// A worker claims a job for some time, and prolongs its claim while it works. `modified` is when a job was claimed, when it ended, or
/// since when it waits. `claimed_through` is NULL for a job that nobody has tried since it began to wait, and a time in the past for
/// one that was given back.
struct JobTable: Sendable {
    let name: String

    static let exports = JobTable(name: "export_job")
    static let routes = JobTable(name: "route_job")

    /// Whether no job waits and none is being done. It needs no right to write.
    func isIdle(_ database: any SQLConnection) throws -> Bool {
        let statement = try database.statement("SELECT EXISTS (SELECT 1 FROM \(name) WHERE state < 2)")
        return try !(statement.value(Bool.self) ?? false)
    }

    /// Gives a worker the job that has been due for longest; nil when there is none.
    ///
    /// A job is due when it begins to wait, or when its service last had a worker, whichever is later. So the services share the workers,
    /// however many jobs each has, and no job waits for more than one job of each other service.
    func claim(
        by worker: Int64, at now: Timestamp, through end: Timestamp, _ database: any SQLConnection
    ) throws -> Int64? {
        try database.value(
            Int64.self,
            """
            UPDATE \(name) SET modified = ?1, state = 1, worker = ?2, claimed_through = ?3
            WHERE id = (
                SELECT j.id FROM \(name) j LEFT JOIN (
                    SELECT service, MAX(modified) AS last FROM \(name)
                    WHERE state > 0 OR claimed_through IS NOT NULL GROUP BY service
                ) s ON s.service = j.service
                WHERE j.state < 2 AND (j.claimed_through IS NULL OR j.claimed_through < ?1 OR j.worker = ?2)
                ORDER BY \(database.dialect.greater("j.modified", "COALESCE(s.last, j.modified)")), j.modified, j.id LIMIT 1)
            RETURNING id
            """, [now.milliseconds, worker, end.milliseconds])
    }

    /// Prolongs a claim. False: the worker does not have the job any more.
    func keep(_ job: Int64, by worker: Int64, through end: Timestamp, _ database: any SQLConnection) throws -> Bool {
        try database.execute(
            "UPDATE \(name) SET claimed_through = ? WHERE id = ? AND worker = ?",
            [end.milliseconds, job, worker])
        return database.changes > 0
    }

    /// Ends a claim: the job is done, or waits again. `results`: the columns that the end sets, with their values. False: the worker does
    /// not have the job any more.
    func settle(
        _ job: Int64, by worker: Int64, isDone: Bool, at now: Timestamp,
        results: [(column: String, value: (any SQLConvertible)?)], _ database: any SQLConnection
    ) throws -> Bool {
        let columns = results.map { "\($0.column) = ?, " }.joined()
        try database.execute(
            """
            UPDATE \(name) SET \(columns)state = ?, modified = ?, worker = NULL, claimed_through = 0
            WHERE id = ? AND worker = ?
            """,
            SQLParameters(results.map(\.value)) + [isDone ? 2 : 0, now.milliseconds, job, worker])
        return database.changes > 0
    }

    /// Returns how many were removed.
    func remove(doneBefore: Timestamp, _ database: any SQLConnection) throws -> Int {
        try database.execute(
            "DELETE FROM \(name) WHERE state = 2 AND modified < ?", [doneBefore.milliseconds])
        return database.changes
    }
}
