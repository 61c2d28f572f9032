import Foundation
import GRDB
import Synchronization
package import TrackModel
package import TrackStore

extension SQLiteTrackStore {
    package func createService(
        named name: String, numbered number: ServiceID?, at now: Timestamp
    ) async throws(TrackStoreError) -> ServiceRecord {
        try await writing { database in
            if let number {
                let isFormer = try Bool.fetchOne(
                    database, sql: "SELECT deletion IS NOT NULL FROM service WHERE id = ?", arguments: [number.rawValue]
                )
                if let isFormer {
                    throw TrackStoreError(
                        .serviceExists,
                        isFormer
                            ? "a service \(number.rawValue) was deleted, and its number does not come again: choose another one"
                            : "there is a service \(number.rawValue) already")
                }
            }
            let last = try Int64.fetchOne(database, sql: "SELECT MAX(id) FROM service") ?? 0
            guard let id = number ?? ServiceID(rawValue: last + 1) else {
                throw TrackStoreError(.failed, "every service number up to \(last) is taken")
            }
            try database.execute(
                sql: "INSERT INTO service (id, name, created) VALUES (?, ?, ?)",
                arguments: [id.rawValue, name, now.milliseconds])
            return ServiceRecord(id: id, name: name, created: now)
        }
    }

    package func services() async throws(TrackStoreError) -> [ServiceRecord] {
        try await reading { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT id, name, created, app_code, retention, \(AnswerForms.columns) FROM service
                    WHERE deletion IS NULL ORDER BY id
                    """
            ).compactMap { row in
                ServiceID(rawValue: row[0]).map {
                    ServiceRecord(
                        id: $0, name: row[1], created: Timestamp(milliseconds: row[2]), appCode: row[3],
                        retention: Retention(stored: row[4]), answers: AnswerForms(row, from: 5))
                }
            }
        }
    }

    package func addKey(
        _ key: KeyGrant, to service: ServiceID, replacing: Bool, at now: Timestamp
    ) async throws(TrackStoreError) {
        try await writing { database in
            try self.check(service, database)
            if replacing {
                try database.execute(
                    sql: "UPDATE access_key SET disabled = 1 WHERE service = ?", arguments: [service.rawValue])
            }
            try database.execute(
                sql: """
                    INSERT INTO access_key (hash, service, secret, disabled, created, \(KeyRights.columns))
                    VALUES (?, ?, ?, 0, ?, ?, ?, ?, ?)
                    ON CONFLICT (hash, service) DO UPDATE SET
                        secret = excluded.secret, disabled = 0, created = excluded.created, scopes = excluded.scopes,
                        ends = excluded.ends, addresses = excluded.addresses, referers = excluded.referers
                    """,
                arguments: [Data(key.hash.bytes), service.rawValue, key.secret, now.milliseconds]
                    + key.rights.arguments)
        }
    }

    package func keys(matching hash: AccessKeyHash) async throws(TrackStoreError) -> [AccessKeyRecord] {
        try await reading { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT k.service, k.secret, k.disabled, s.app_code, k.hash, \(KeyRights.columns) FROM access_key k
                    JOIN service s ON s.id = k.service WHERE k.hash = ? ORDER BY k.service
                    """,
                arguments: [Data(hash.bytes)]
            ).compactMap(Self.key)
        }
    }

    package func signingKeys() async throws(TrackStoreError) -> [AccessKeyRecord] {
        try await reading { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT k.service, k.secret, k.disabled, s.app_code, k.hash, \(KeyRights.columns) FROM access_key k
                    JOIN service s ON s.id = k.service WHERE k.secret IS NOT NULL ORDER BY k.service, k.hash
                    """
            ).compactMap(Self.key)
        }
    }

    package func replaceSecret(with secret: String, of use: AccessKeyUse) async throws(TrackStoreError) {
        try await writing { database in
            // The former text is overwritten where it stood.
            try database.execute(sql: "PRAGMA secure_delete = ON")
            defer { try? database.execute(sql: "PRAGMA secure_delete = OFF") }
            try database.execute(
                sql: "UPDATE access_key SET secret = ? WHERE hash = ? AND service = ? AND secret IS NOT NULL",
                arguments: [secret, Data(use.hash.bytes), use.service.rawValue])
        }
    }

    /// Columns: service, secret, disabled, app code, hash, and those of the rights.
    private static func key(_ row: Row) throws(TrackStoreError) -> AccessKeyRecord? {
        guard let service = ServiceID(rawValue: row[0]) else { return nil }
        return AccessKeyRecord(
            hash: AccessKeyHash(bytes: [UInt8](row[4] as Data)), service: service, secret: row[1], isDisabled: row[2],
            appCode: row[3], rights: try KeyRights(row, from: 5))
    }

    package func endedKeys(
        among uses: Set<AccessKeyUse>, at now: Timestamp
    ) async throws(TrackStoreError) -> Set<AccessKeyUse> {
        guard !uses.isEmpty else { return [] }
        return try await reading { database in
            let valid = try database.cachedStatement(
                sql: """
                    SELECT 1 FROM access_key
                    WHERE hash = ? AND service = ? AND disabled = 0 AND (ends IS NULL OR ends > ?)
                    """)
            return try uses.filter {
                try Int.fetchOne(valid, arguments: [Data($0.hash.bytes), $0.service.rawValue, now.milliseconds]) == nil
            }
        }
    }

    package func keys(of service: ServiceID) async throws(TrackStoreError) -> [KeyListing] {
        try await reading { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT hash, created, secret IS NOT NULL, disabled, \(KeyRights.columns) FROM access_key
                    WHERE service = ? ORDER BY created, hash
                    """,
                arguments: [service.rawValue]
            ).map { row in
                KeyListing(
                    hash: AccessKeyHash(bytes: [UInt8](row[0] as Data)), created: Timestamp(milliseconds: row[1]),
                    isSigned: row[2], isDisabled: row[3], rights: try KeyRights(row, from: 4))
            }
        }
    }

    package func setKey(_ use: AccessKeyUse, isDisabled: Bool) async throws(TrackStoreError) {
        try await writing { database in
            try database.execute(
                sql: "UPDATE access_key SET disabled = ? WHERE hash = ? AND service = ?",
                arguments: [isDisabled, Data(use.hash.bytes), use.service.rawValue])
        }
    }

    package func renameService(_ service: ServiceID, to name: String) async throws(TrackStoreError) {
        try await writing { database in
            try self.check(service, database)
            try database.execute(
                sql: "UPDATE service SET name = ? WHERE id = ?", arguments: [name, service.rawValue])
        }
    }

    package func setAppCode(_ appCode: String?, of service: ServiceID) async throws(TrackStoreError) {
        try await writing { database in
            try self.check(service, database)
            try database.execute(
                sql: "UPDATE service SET app_code = ? WHERE id = ?", arguments: [appCode, service.rawValue])
        }
    }

    /// Throws `.unknownService`.
    func check(_ service: ServiceID, _ database: Database) throws {
        if known.withLock({ $0.services.contains(service) }) { return }
        let exists = try database.cachedStatement(sql: "SELECT 1 FROM service WHERE id = ? AND deletion IS NULL")
        guard try Int.fetchOne(exists, arguments: [service.rawValue]) != nil else {
            throw TrackStoreError(.unknownService, "there is no service \(service.rawValue)")
        }
        // Services are made in transactions of their own, so this row is committed.
        known.withLock { $0.remember(service) }
    }
}
