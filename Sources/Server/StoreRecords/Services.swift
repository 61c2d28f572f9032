package import SQLDatabase
import Synchronization
package import TrackModel
package import TrackStore

extension SQLRecordStore {
    package func createService(
        named name: String, numbered number: ServiceID?, at now: Timestamp
    ) async throws(TrackStoreError) -> ServiceRecord {
        try await writing { database in
            if let number {
                let isFormer = try database.value(
                    Bool.self, "SELECT deletion IS NOT NULL FROM service WHERE id = ?", [number.rawValue]
                )
                if let isFormer {
                    throw TrackStoreError(
                        .serviceExists,
                        isFormer
                            ? "a service \(number.rawValue) was deleted, and its number does not come again: choose another one"
                            : "there is a service \(number.rawValue) already")
                }
            }
            let last = try database.value(Int64.self, "SELECT MAX(id) FROM service") ?? 0
            guard let id = number ?? ServiceID(rawValue: last + 1) else {
                throw TrackStoreError(.failed, "every service number up to \(last) is taken")
            }
            try database.execute(
                "INSERT INTO service (id, name, created) VALUES (?, ?, ?)",
                [id.rawValue, name, now.milliseconds])
            return ServiceRecord(id: id, name: name, created: now)
        }
    }

    package func services() async throws(TrackStoreError) -> [ServiceRecord] {
        try await reading { database in
            try database.rows(
                """
                SELECT id, name, created, app_code, retention, \(AnswerForms.columns) FROM service
                WHERE deletion IS NULL ORDER BY id
                """
            ) { row in
                try ServiceID(rawValue: row[0]).map {
                    try ServiceRecord(
                        id: $0, name: row[1], created: Timestamp(milliseconds: row[2]), appCode: row[3],
                        retention: Retention(stored: row[4]), answers: AnswerForms(row, from: 5))
                }
            }.compactMap(\.self)
        }
    }

    package func addKey(
        _ key: KeyGrant, to service: ServiceID, replacing: Bool, at now: Timestamp
    ) async throws(TrackStoreError) {
        let secret = try key.secret.map { secret throws(TrackStoreError) in
            try records.secrets.sealed(secret, of: AccessKeyUse(service: service, hash: key.hash))
        }
        try await writing { database in
            try self.check(service, database)
            if replacing {
                try database.execute(
                    "UPDATE access_key SET disabled = 1 WHERE service = ?", [service.rawValue])
            }
            try database.execute(
                """
                INSERT INTO access_key (hash, service, secret, disabled, created, \(KeyRights.columns))
                VALUES (?, ?, ?, 0, ?, ?, ?, ?, ?)
                ON CONFLICT (hash, service) DO UPDATE SET
                    secret = excluded.secret, disabled = 0, created = excluded.created, scopes = excluded.scopes,
                    ends = excluded.ends, addresses = excluded.addresses, referers = excluded.referers
                """,
                [key.hash.bytes, service.rawValue, secret, now.milliseconds]
                    + key.rights.arguments)
            try ChangeTable.noteKeys(of: service, database)
        }
    }

    package func keys(matching hash: AccessKeyHash) async throws(TrackStoreError) -> [AccessKeyRecord] {
        let keys = try await reading { database in
            try database.rows(
                """
                SELECT k.service, k.secret, k.disabled, s.app_code, k.hash, \(KeyRights.columns) FROM access_key k
                JOIN service s ON s.id = k.service WHERE k.hash = ? ORDER BY k.service
                """,
                [hash.bytes], Self.key
            ).compactMap(\.self)
        }
        return try opened(keys)
    }

    package func signingKeys() async throws(TrackStoreError) -> [AccessKeyRecord] {
        try opened(try await storedSigningKeys())
    }

    /// As the table has them.
    private func storedSigningKeys() async throws(TrackStoreError) -> [AccessKeyRecord] {
        try await reading { database in
            try database.rows(
                """
                SELECT k.service, k.secret, k.disabled, s.app_code, k.hash, \(KeyRights.columns) FROM access_key k
                JOIN service s ON s.id = k.service WHERE k.secret IS NOT NULL ORDER BY k.service, k.hash
                """, [], Self.key
            ).compactMap(\.self)
        }
    }

    package func replaceSecret(with secret: String, of use: AccessKeyUse) async throws(TrackStoreError) {
        let secret = try records.secrets.sealed(secret, of: use)
        try await writing { database in
            try database.overwritingRemoved {
                try database.execute(
                    "UPDATE access_key SET secret = ? WHERE hash = ? AND service = ? AND secret IS NOT NULL",
                    [secret, use.hash.bytes, use.service.rawValue])
            }
        }
    }

    package func sealSecrets() async throws(TrackStoreError) -> String? {
        for key in try await storedSigningKeys() {
            guard let secret = key.secret else { continue }
            let use = AccessKeyUse(service: key.service, hash: key.hash)
            if SecretSeal.isSealed(secret) {
                do throws(TrackStoreError) {
                    _ = try records.secrets.opened(secret, of: use)
                } catch {
                    if !key.isDisabled { return error.detail }
                }
            } else if case .sealed = records.secrets {
                try await replaceSecret(with: secret, of: use)
            }
        }
        return records.secrets.problem
    }

    private func opened(_ keys: [AccessKeyRecord]) throws(TrackStoreError) -> [AccessKeyRecord] {
        var keys = keys
        for index in keys.indices {
            guard let secret = keys[index].secret else { continue }
            let use = AccessKeyUse(service: keys[index].service, hash: keys[index].hash)
            keys[index].secret = try records.secrets.opened(secret, of: use)
        }
        return keys
    }

    /// Columns: service, secret, disabled, app code, hash, and those of the rights.
    private static func key(_ row: SQLRow) throws -> AccessKeyRecord? {
        guard let service = try ServiceID(rawValue: row[0]) else { return nil }
        return try AccessKeyRecord(
            hash: AccessKeyHash(bytes: row[4]), service: service, secret: row[1], isDisabled: row[2],
            appCode: row[3], rights: try KeyRights(row, from: 5))
    }

    package func endedKeys(
        among uses: Set<AccessKeyUse>, at now: Timestamp
    ) async throws(TrackStoreError) -> Set<AccessKeyUse> {
        guard !uses.isEmpty else { return [] }
        return try await reading { database in
            let valid = try database.statement(
                """
                SELECT 1 FROM access_key
                WHERE hash = ? AND service = ? AND disabled = 0 AND (ends IS NULL OR ends > ?)
                """)
            return try uses.filter {
                try valid.value(Int.self, [$0.hash.bytes, $0.service.rawValue, now.milliseconds]) == nil
            }
        }
    }

    package func keys(of service: ServiceID) async throws(TrackStoreError) -> [KeyListing] {
        try await reading { database in
            try database.rows(
                """
                SELECT hash, created, secret IS NOT NULL, disabled, \(KeyRights.columns) FROM access_key
                WHERE service = ? ORDER BY created, hash
                """,
                [service.rawValue]
            ) { row in
                try KeyListing(
                    hash: AccessKeyHash(bytes: row[0]), created: Timestamp(milliseconds: row[1]),
                    isSigned: row[2], isDisabled: row[3], rights: try KeyRights(row, from: 4))
            }
        }
    }

    package func setKey(_ use: AccessKeyUse, isDisabled: Bool) async throws(TrackStoreError) {
        try await writing { database in
            try database.execute(
                "UPDATE access_key SET disabled = ? WHERE hash = ? AND service = ?",
                [isDisabled, use.hash.bytes, use.service.rawValue])
            try ChangeTable.noteKeys(of: use.service, database)
        }
    }

    package func renameService(_ service: ServiceID, to name: String) async throws(TrackStoreError) {
        try await writing { database in
            try self.check(service, database)
            try database.execute(
                "UPDATE service SET name = ? WHERE id = ?", [name, service.rawValue])
        }
    }

    package func setAppCode(_ appCode: String?, of service: ServiceID) async throws(TrackStoreError) {
        try await writing { database in
            try self.check(service, database)
            try database.execute(
                "UPDATE service SET app_code = ? WHERE id = ?", [appCode, service.rawValue])
        }
    }

    package func setRetention(_ retention: Retention, of service: ServiceID) async throws(TrackStoreError) {
        try await writing { database in
            try self.check(service, database)
            try database.execute(
                "UPDATE service SET retention = ? WHERE id = ?", [retention.stored, service.rawValue])
        }
    }

    /// Throws `.unknownService`.
    package func check(_ service: ServiceID, _ database: any SQLConnection) throws {
        if records.known.withLock({ $0.services.contains(service) }) { return }
        let exists = try database.statement("SELECT 1 FROM service WHERE id = ? AND deletion IS NULL")
        guard try exists.value(Int.self, [service.rawValue]) != nil else {
            throw TrackStoreError(.unknownService, "there is no service \(service.rawValue)")
        }
        // Services are made in transactions of their own, so this row is committed.
        records.known.withLock { $0.remember(service) }
    }
}

extension SQLRecordStore {
    package func setAnswers(_ answers: AnswerForms, of service: ServiceID) async throws(TrackStoreError) {
        try await writing { database in
            try self.check(service, database)
            try database.execute(
                "UPDATE service SET vertexes = ?, unknown_entity = ? WHERE id = ?",
                [
                    answers.vertices.map { $0 == .text }, answers.unknownEntity.map { $0 == .success ? 0 : 3003 },
                    service.rawValue,
                ])
        }
    }

    package func answers(of service: ServiceID) async throws(TrackStoreError) -> AnswerForms {
        try await reading { database in
            let found = try database.row(
                "SELECT \(AnswerForms.columns) FROM service WHERE id = ? AND deletion IS NULL", [service.rawValue]
            ) { try AnswerForms($0, from: 0) }
            guard let found else {
                throw TrackStoreError(.unknownService, "there is no service \(service.rawValue)")
            }
            return found
        }
    }
}

extension AnswerForms {
    /// The columns that ``init(_:from:)`` needs, in its order.
    static let columns = "vertexes, unknown_entity"

    init(_ row: SQLRow, from first: Int) throws {
        let isText: Bool? = try row[first]
        let status: Int64? = try row[first + 1]
        self.init(
            vertices: isText.map { $0 ? .text : .objects }, unknownEntity: status.map { $0 == 0 ? .success : .notFound }
        )
    }
}

extension KeyRights {
    /// What ``init(_:from:)`` reads, and ``arguments`` has, in this order.
    static let columns = "scopes, ends, addresses, referers"

    /// From the columns from `start` on. A list that somebody has changed into nonsense admits nobody.
    init(_ row: SQLRow, from start: Int) throws {
        func list<Item>(_ column: Int, _ read: (String) -> Item?) throws -> [Item] {
            guard let text: String = try row[column] else { return [] }
            let items = text.split(separator: " ").compactMap { read(String($0)) }
            guard items.count == text.split(separator: " ").count, !items.isEmpty else {
                throw TrackStoreError(.corrupt, "the white list of an access key cannot be read")
            }
            return items
        }
        try self.init(
            KeyScopes(rawValue: row[start]), end: (row[start + 1] as Int64?).map(Timestamp.init(milliseconds:)),
            addresses: try list(start + 2) { AddressRange($0) }, referers: try list(start + 3) { RefererPattern($0) })
    }

    var arguments: SQLParameters {
        [
            scopes.rawValue, end?.milliseconds, Self.text(addresses.map(\.description)),
            Self.text(referers.map(\.text)),
        ]
    }

    private static func text(_ items: [String]) -> String? { items.isEmpty ? nil : items.joined(separator: " ") }
}

extension Retention {
    /// Null: as the configuration says. 0: for ever.
    fileprivate var stored: Int? {
        switch self {
        case .standard: nil
        case .forever: 0
        case .days(let days): days
        }
    }

    init(stored: Int?) {
        self =
            switch stored {
            case nil: .standard
            case 0?: .forever
            case let days?: .days(days)
            }
    }
}
