import SQLDatabase
import Synchronization
package import TrackModel
package import TrackStore

extension SQLiteTrackStore {
    package func deleteEntity(
        named name: String, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) {
        try await writing { database in
            try self.check(service, database)
            let key = EntityKey(service: service, name: name)
            var entities = EntityRows(database, self)
            guard let id = try entities.find(key) else {
                throw TrackStoreError(.unknownEntity, "the service has no entity of this name")
            }
            let texts = try database.statement("SELECT description FROM entity WHERE id = ?")
            try EntityTexts.remove(
                id, key, description: try texts.value(String.self, [id]) ?? "", database)
            // What still waits ends with the entity; what had ended before stays as it ended.
            try database.execute(
                """
                UPDATE push SET withdrawn = ?1 WHERE entity = ?2 AND acknowledged IS NULL
                    AND EXISTS (SELECT 1 FROM push_message m WHERE m.id = push.message AND m.expires > ?1)
                """, [now.milliseconds, id])
            try database.execute(
                "UPDATE push SET entity = NULL, former_entity = ? WHERE entity = ?", [name, id])
            for table in ["chunk", "hint", "claim", "entity_value", "state", "health", "route_job"] {
                try database.execute("DELETE FROM \(table) WHERE entity = ?", [id])
            }
            try database.execute("DELETE FROM entity WHERE id = ?", [id])
            // Here, on the writing connection: the next transaction must not meet the row. Its number is never used again.
            self.known.withLock { $0.forget(key) }
        }
    }
}
