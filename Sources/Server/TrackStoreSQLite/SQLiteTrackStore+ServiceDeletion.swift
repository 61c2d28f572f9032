import SQLDatabase
import Synchronization
package import TrackModel
package import TrackStore

extension SQLiteTrackStore {
    /// A condition on a row with a column `service`. From the deletion of its service on nobody finds the row, although it may
    /// still be there.
    static let isOfServiceInUse = "service NOT IN (SELECT id FROM service WHERE deletion IS NOT NULL)"

    package func holdings(of service: ServiceID) async throws(TrackStoreError) -> ServiceHoldings {
        try await reading { database in
            try self.check(service, database)
            return try database.row(
                """
                SELECT (SELECT COUNT(*) FROM entity WHERE service = ?1),
                    (SELECT COALESCE(SUM(c.count), 0) FROM entity e JOIN chunk c INDEXED BY chunk_by_time ON c.entity = e.id
                        WHERE e.service = ?1),
                    (SELECT COUNT(*) FROM access_key WHERE service = ?1),
                    (SELECT COUNT(*) FROM device WHERE service = ?1 AND state <> \(Self.forgotten))
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
            // The signing keys are overwritten where they stood.
            try database.execute("PRAGMA secure_delete = ON")
            defer { try? database.script("PRAGMA secure_delete = OFF") }
            try database.execute("DELETE FROM access_key WHERE service = ?", [service.rawValue])
            // Here, on the writing connection: the next transaction must not take the service for one in use.
            self.known.withLock { $0.forget(service) }
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
                self.known.withLock {
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
