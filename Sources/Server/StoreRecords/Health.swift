package import SQLDatabase
package import TrackModel
package import TrackStore
import TrackWire

extension SQLRecordStore {
    package func noteHealth(_ notes: [HealthNote]) async throws(TrackStoreError) {
        guard !notes.isEmpty else { return try checkOpen() }
        try await writing { database in
            var entities = EntityRows(database, self.records)
            let update = try database.statement(
                """
                INSERT INTO health (entity, heard, has_left, agent_version, device, reported, report)
                VALUES (?1, ?2, ?3, ?4, ?5, CASE WHEN ?6 IS NULL THEN NULL ELSE ?2 END, ?6)
                ON CONFLICT (entity) DO UPDATE SET
                    heard = excluded.heard, has_left = excluded.has_left, agent_version = excluded.agent_version,
                    device = excluded.device, reported = COALESCE(excluded.reported, reported),
                    report = COALESCE(excluded.report, report)
                WHERE excluded.heard >= health.heard OR excluded.heard < health.heard - \(HealthNote.lateness)
                """)
            for note in notes {
                guard let entity = try entities.find(note.entity) else { continue }
                try update.execute([
                    entity, note.heard.milliseconds, note.hasLeft, note.agentVersion,
                    note.device.map { $0.bytes }, note.report.map { $0.encoded },
                ])
            }
            entities.save()
        }
    }

    package func health(
        in service: ServiceID?, after cursor: Int64?, limit: Int
    ) async throws(TrackStoreError) -> HealthPage {
        try await reading { database in try Self.health(in: service, after: cursor, limit: limit, database) }
    }

    /// Goes through `health` alone, by its key: a store may have many more entities than vehicles that have told anything.
    static func healthStatement(in service: ServiceID?, _ dialect: SQLDialect) -> String {
        """
        SELECT e.service, e.name,
            \(dialect.greater("h.heard", "COALESCE(t.received, s.received, h.heard)")), h.agent_version,
            h.device, h.report, h.reported, h.has_left, h.entity
        FROM health h \(dialect.orderedJoin) entity e ON e.id = h.entity LEFT JOIN state s ON s.entity = h.entity
            LEFT JOIN hint t ON t.entity = h.entity
        WHERE h.entity > ?1 \(service == nil ? "" : "AND e.service = ?3")
        ORDER BY h.entity LIMIT ?2
        """
    }

    package static func health(
        in service: ServiceID?, after cursor: Int64?, limit: Int, _ database: any SQLConnection
    ) throws -> HealthPage {
        var found: [VehicleHealth] = []
        var (last, count) = (cursor ?? 0, 0)
        let wanted: SQLParameters = [cursor ?? 0, limit] + (service.map { [$0.rawValue] } ?? [])
        try database.forEach(healthStatement(in: service, database.dialect), wanted) { row in
            (last, count) = try (row[8], count + 1)
            guard let service = try ServiceID(rawValue: row[0]) else { return }
            let report = try (row[5] as [UInt8]?).flatMap { HealthReport(encoded: $0) }
            let reported = try (row[6] as Int64?).map { Timestamp(milliseconds: $0) }
            try found.append(
                VehicleHealth(
                    entity: EntityKey(service: service, name: row[1]), heard: Timestamp(milliseconds: row[2]),
                    agentVersion: row[3],
                    device: (row[4] as [UInt8]?).flatMap { DeviceID(bytes: $0) }, report: report,
                    reported: report == nil ? nil : reported, hasLeft: row[7]))
        }
        return HealthPage(found, cursor: count < limit ? nil : last)
    }
}
