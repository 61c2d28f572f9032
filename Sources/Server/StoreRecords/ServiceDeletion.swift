import SQLDatabase
import Synchronization
package import TrackModel
package import TrackStore

extension SQLRecordStore {
    package func holdings(of service: ServiceID) async throws(TrackStoreError) -> ServiceHoldings {
        try await reading { database in
            try self.check(service, database)
            return try database.row(
                """
                SELECT (SELECT COUNT(*) FROM entity WHERE service = ?1),
                    (SELECT COALESCE(SUM(c.count), 0) FROM entity e JOIN chunk c\(database.dialect.index("chunk_by_time"))
                        ON c.entity = e.id
                        WHERE e.service = ?1),
                    (SELECT COUNT(*) FROM access_key WHERE service = ?1),
                    (SELECT COUNT(*) FROM device WHERE service = ?1 AND state <> \(DeviceTable.forgotten))
                """, [service.rawValue]
            ) { row in
                try ServiceHoldings(entities: row[0], points: row[1], keys: row[2], devices: row[3])
            } ?? ServiceHoldings()
        }
    }

    package func deleteService(_ service: ServiceID) async throws(TrackStoreError) {
        try await writing { database in
            try self.check(service, database)
            try database.execute("UPDATE service SET deletion = 1 WHERE id = ?", [service.rawValue])
            try database.overwritingRemoved {
                try database.execute("DELETE FROM access_key WHERE service = ?", [service.rawValue])
            }
            try ChangeTable.note(service, database)
            // Here, on the writing connection: the next transaction must not take the service for one in use.
            self.records.known.withLock { $0.forget(service) }
        }
    }

    package func removeDeletedServices(limit: Int) async throws(TrackStoreError) -> Int {
        let isIdle = try await reading { database in try Self.nextDeletion(database) == nil }
        guard !isIdle else { return 0 }
        return try await writing { database in
            guard let number = try Self.nextDeletion(database), let service = ServiceID(rawValue: number) else {
                return 0
            }
            var removal = ServiceRemoval(database, service, limit: max(1, limit))
            try removal.run { key, row in
                self.records.known.withLock {
                    $0.forget(key)
                    $0.forgetCell(of: row)
                }
            }
            return removal.removed
        }
    }

    private static func nextDeletion(_ database: any SQLConnection) throws -> Int64? {
        try database.value(Int64.self, "SELECT id FROM service WHERE deletion = 1 ORDER BY id LIMIT 1")
    }

    package func deletedServices(
        among services: Set<ServiceID>
    ) async throws(TrackStoreError) -> Set<ServiceID> {
        guard !services.isEmpty else { return [] }
        return try await reading { database in
            let deleted = try database.values(Int64.self, "SELECT id FROM service WHERE deletion IS NOT NULL")
            return services.intersection(deleted.compactMap { ServiceID(rawValue: $0) })
        }
    }
}

/// What one transaction removes of a deleted service. The next one goes on with what it finds, so a kill loses nothing.
///
/// What others refer to goes after them. The last step empties the row of the service.
struct ServiceRemoval {
    private let database: any SQLConnection
    private let service: ServiceID
    private let limit: Int
    private(set) var removed = 0

    init(_ database: any SQLConnection, _ service: ServiceID, limit: Int) {
        (self.database, self.service, self.limit) = (database, service, limit)
    }

    private var left: Int { limit - removed }

    /// `forgetting`: an entity goes, and whoever remembers its row must forget it.
    mutating func run(forgetting: (EntityKey, Int64) -> Void) throws {
        try removeDevices()
        for parents in Self.parents where left > 0 { try remove(parents) }
        for rows in Self.rowsBeforeEntities where left > 0 { try remove(rows) }
        try removeEntities(forgetting)
        for rows in Self.rowsAfterEntities where left > 0 { try remove(rows) }
        guard left > 0 else { return }
        try database.execute(
            "UPDATE service SET deletion = 2, name = '', app_code = NULL, retention = NULL WHERE id = ?",
            [service.rawValue])
        removed += 1
    }

    /// Rows of one table with a column `service`. `key`: the columns that name a row.
    private struct Rows {
        let table: String
        let key: String
    }

    private static let rowsBeforeEntities = [
        Rows(table: "callback", key: "service, alarm"),
        Rows(table: "callback_target", key: "service"),
        Rows(table: "alarm", key: "id"),
        Rows(table: "fence_watch", key: "service, entity, fence"),
        Rows(table: "former_watch", key: "service, entity, fence, until"),
        Rows(table: "fence", key: "service, id"),
        Rows(table: "former_fence", key: "service, fence, version"),
        Rows(table: "fence_news", key: "version"),
        Rows(table: "fence_counter", key: "service"),
        Rows(table: "export_job", key: "id"),
        Rows(table: "route_job", key: "id"),
    ]

    private static let rowsAfterEntities = [
        Rows(table: "attribute_column", key: "id"),
        Rows(table: "former_stream", key: "service, stream"),
    ]

    /// Each step runs what earlier ones have done, so it must find nothing at once: with an index, never by reading a table.
    private mutating func remove(_ rows: Rows) throws {
        let deletion = try database.statement(
            """
            DELETE FROM \(rows.table) WHERE (\(rows.key)) IN (
                SELECT \(rows.key) FROM \(rows.table) WHERE service = ?1 LIMIT ?2)
            """)
        try deletion.execute([service.rawValue, left])
        removed += database.changes
    }

    /// Rows of a service with rows of their own, which have no column `service`.
    private struct Parents {
        let table: String
        let key: String
        let child: String
        let childKey: String
        /// The column of the child that names the parent.
        let reference: String
    }

    private static let parents = [
        Parents(table: "token", key: "number", child: "token_serial", childKey: "token, serial", reference: "token"),
        Parents(table: "push_message", key: "id", child: "push", childKey: "id", reference: "message"),
    ]

    /// One parent after the other, so that a step reads none whose children are gone.
    private mutating func remove(_ parents: Parents) throws {
        let next = try database.statement(
            "SELECT \(parents.key) FROM \(parents.table) WHERE service = ? LIMIT 1")
        let children = try database.statement(
            """
            DELETE FROM \(parents.child) WHERE (\(parents.childKey)) IN (
                SELECT \(parents.childKey) FROM \(parents.child) WHERE \(parents.reference) = ?1 LIMIT ?2)
            """)
        let deletion = try database.statement("DELETE FROM \(parents.table) WHERE \(parents.key) = ?")
        while left > 0, let parent = try next.value(Int64.self, [service.rawValue]) {
            try children.execute([parent, left])
            removed += database.changes
            guard left > 0 else { return }
            try deletion.execute([parent])
            removed += 1
        }
    }

    /// Their rows stay without content, because a number never comes again. A row without content has no entity, so the index
    /// passes over those that are done.
    private mutating func removeDevices() throws {
        let devices = try database.values(
            [UInt8].self,
            """
            SELECT id FROM device\(database.dialect.index("device_of_entity"))
            WHERE service = ? AND entity > '' AND state <> \(DeviceTable.forgotten) LIMIT ?
            """,
            [service.rawValue, left])
        for device in devices where try DeviceTable.forget(device, database) { removed += 1 }
    }

    private mutating func removeEntities(_ forgetting: (EntityKey, Int64) -> Void) throws {
        let next = try database.statement(
            "SELECT id, name, description FROM entity WHERE service = ? LIMIT 1")
        func found() throws -> (entity: Int64, name: String, description: String)? {
            try next.row([service.rawValue]) { row in try (row[0], row[1], row[2]) }
        }
        while left > 0, let (entity, name, description) = try found() {
            let chunks = try database.statement(
                """
                DELETE FROM chunk WHERE id IN (
                    SELECT id FROM chunk\(database.dialect.index("chunk_by_time")) WHERE entity = ? LIMIT ?)
                """)
            try chunks.execute([entity, left])
            removed += database.changes
            guard left > 0 else { return }
            let key = EntityKey(service: service, name: name)
            try EntityTexts.remove(entity, key, description: description, database)
            for table in ["hint", "claim", "entity_value", "state", "health"] {
                try database.statement("DELETE FROM \(table) WHERE entity = ?").execute([entity])
                removed += database.changes
            }
            try database.statement("DELETE FROM entity WHERE id = ?").execute([entity])
            removed += 1
            forgetting(key, entity)
        }
    }
}
