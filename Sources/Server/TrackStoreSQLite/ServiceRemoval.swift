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
        for rows in Self.rowsBeforeEntities where left > 0 { try remove(rows) }
        try removeEntities(forgetting)
        for rows in Self.rowsAfterEntities where left > 0 { try remove(rows) }
        guard left > 0 else { return }
        try database.execute(
            sql: "UPDATE service SET deletion = 2, name = '', app_code = NULL, retention = NULL WHERE id = ?",
            arguments: [service.rawValue])
        removed += 1
    }

    /// Rows of one table. `key`: the columns that name a row; `condition`: which are of the service `?1`.
    private struct Rows {
        let table: String
        let key: String
        var condition = "service = ?1"
    }

    private static let rowsBeforeEntities = [
        Rows(table: "callback", key: "service, alarm"),
        Rows(table: "callback_target", key: "service"),
        Rows(table: "alarm", key: "id"),
        Rows(
            table: "token_serial", key: "token, serial",
            condition: "token IN (SELECT number FROM token WHERE service = ?1)"),
        Rows(table: "token", key: "number"),
        Rows(table: "push", key: "id", condition: "message IN (SELECT id FROM push_message WHERE service = ?1)"),
        Rows(table: "push_message", key: "id"),
        Rows(table: "fence_watch", key: "service, entity, fence"),
        Rows(table: "former_watch", key: "service, entity, fence, until"),
        Rows(table: "fence", key: "service, id"),
        Rows(table: "former_fence", key: "service, fence, version"),
        Rows(table: "fence_news", key: "version"),
        Rows(table: "fence_counter", key: "service"),
        Rows(table: "export_job", key: "id"),
    ]

    private static let rowsAfterEntities = [
        Rows(table: "attribute_column", key: "id"),
        Rows(table: "former_stream", key: "service, stream"),
    ]

    private mutating func remove(_ rows: Rows) throws {
        let deletion = try database.cachedStatement(
            sql: """
                DELETE FROM \(rows.table) WHERE (\(rows.key)) IN (
                    SELECT \(rows.key) FROM \(rows.table) WHERE \(rows.condition) LIMIT ?2)
                """)
        try deletion.execute(arguments: [service.rawValue, left])
        removed += database.changesCount
    }

    /// Their rows stay without content: whoever follows the changes of devices must hear that they are gone.
    private mutating func removeDevices() throws {
        let devices = try Data.fetchAll(
            try database.cachedStatement(
                sql: "SELECT id FROM device WHERE service = ? AND state <> \(SQLiteTrackStore.forgotten) LIMIT ?"),
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
