import Foundation
import GRDB
import TrackModel
import TrackStore

/// What one transaction removes of a deleted service. The next one goes on with what it finds, so a kill loses nothing.
///
/// What others refer to goes after them. The last step empties the row of the service.
struct ServiceRemoval {
    private let database: Database
    private let service: ServiceID
    private let limit: Int
    private(set) var removed = 0

    init(_ database: Database, _ service: ServiceID, limit: Int) {
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
            sql: "UPDATE service SET deletion = 2, name = '', app_code = NULL, retention = NULL WHERE id = ?",
            arguments: [service.rawValue])
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
        let deletion = try database.cachedStatement(
            sql: """
                DELETE FROM \(rows.table) WHERE (\(rows.key)) IN (
                    SELECT \(rows.key) FROM \(rows.table) WHERE service = ?1 LIMIT ?2)
                """)
        try deletion.execute(arguments: [service.rawValue, left])
        removed += database.changesCount
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
        let next = try database.cachedStatement(
            sql: "SELECT \(parents.key) FROM \(parents.table) WHERE service = ? LIMIT 1")
        let children = try database.cachedStatement(
            sql: """
                DELETE FROM \(parents.child) WHERE (\(parents.childKey)) IN (
                    SELECT \(parents.childKey) FROM \(parents.child) WHERE \(parents.reference) = ?1 LIMIT ?2)
                """)
        let deletion = try database.cachedStatement(sql: "DELETE FROM \(parents.table) WHERE \(parents.key) = ?")
        while left > 0, let parent = try Int64.fetchOne(next, arguments: [service.rawValue]) {
            try children.execute(arguments: [parent, left])
            removed += database.changesCount
            guard left > 0 else { return }
            try deletion.execute(arguments: [parent])
            removed += 1
        }
    }

    /// Their rows stay without content: whoever follows the changes of devices must hear that they are gone. A row without
    /// content has no entity, so the index passes over those that are done.
    private mutating func removeDevices() throws {
        let devices = try Data.fetchAll(
            try database.cachedStatement(
                sql: """
                    SELECT id FROM device INDEXED BY device_of_entity
                    WHERE service = ? AND entity > '' AND state <> \(SQLiteTrackStore.forgotten) LIMIT ?
                    """),
            arguments: [service.rawValue, left])
        for device in devices where try SQLiteTrackStore.forget(device, database) { removed += 1 }
    }

    private mutating func removeEntities(_ forgetting: (EntityKey, Int64) -> Void) throws {
        let next = try database.cachedStatement(
            sql: "SELECT id, name, description FROM entity WHERE service = ? LIMIT 1")
        while left > 0, let row = try Row.fetchOne(next, arguments: [service.rawValue]) {
            let entity: Int64 = row[0]
            let chunks = try database.cachedStatement(
                sql: """
                    DELETE FROM chunk WHERE id IN (
                        SELECT id FROM chunk INDEXED BY chunk_by_time WHERE entity = ? LIMIT ?)
                    """)
            try chunks.execute(arguments: [entity, left])
            removed += database.changesCount
            guard left > 0 else { return }
            let key = EntityKey(service: service, name: row[1])
            try EntityTexts.remove(entity, key, description: row[2], database)
            for table in ["hint", "claim", "entity_value", "state", "health"] {
                try database.cachedStatement(sql: "DELETE FROM \(table) WHERE entity = ?").execute(arguments: [entity])
                removed += database.changesCount
            }
            try database.cachedStatement(sql: "DELETE FROM entity WHERE id = ?").execute(arguments: [entity])
            removed += 1
            forgetting(key, entity)
        }
    }
}
