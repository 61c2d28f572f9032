import Foundation
import GRDB
package import TrackModel
package import TrackStore

extension SQLiteTrackStore {
    private static let tokenColumns = """
        number, hash, service, uses, used, last_name, ends, pattern, approval, note, created, revoked, takes_past
        """

    package func addToken(_ token: NewToken, at now: Timestamp) async throws(TrackStoreError) -> TokenRecord {
        try await writing { database in
            try self.check(token.service, database)
            guard try Self.token(token.hash, database) == nil else {
                throw TrackStoreError(.tokenExists, "there is such a token already")
            }
            let approval = TokenRecord(token, number: 0, created: now).approval
            try database.execute(
                sql: """
                    INSERT INTO token (hash, service, uses, ends, pattern, approval, note, created, takes_past)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    Data(token.hash.bytes), token.service.rawValue, token.uses, token.end?.milliseconds,
                    token.pattern.description, approval.rawValue, token.note, now.milliseconds,
                    token.takesPast,
                ])
            let number = database.lastInsertedRowID
            if case .listed(let serials) = token.approval {
                let insertion = try database.cachedStatement(
                    sql: "INSERT OR IGNORE INTO token_serial (token, serial) VALUES (?, ?)")
                for serial in serials { try insertion.execute(arguments: [number, serial]) }
            }
            return TokenRecord(token, number: number, created: now)
        }
    }

    package func token(matching hash: TokenHash) async throws(TrackStoreError) -> TokenRecord? {
        try await reading { database in try Self.token(hash, database) }
    }

    package func tokens(in service: ServiceID?) async throws(TrackStoreError) -> [TokenRecord] {
        try await reading { database in
            let condition = service == nil ? "" : "AND service = ?"
            return try Row.fetchAll(
                database,
                sql: """
                    SELECT \(Self.tokenColumns) FROM token WHERE \(Self.isOfServiceInUse) \(condition) ORDER BY number
                    """,
                arguments: service.map { [$0.rawValue] } ?? []
            ).map(Self.tokenRecord)
        }
    }

    package func revokeToken(_ number: Int64, at now: Timestamp) async throws(TrackStoreError) -> TokenRecord {
        try await writing { database in
            let row = try Row.fetchOne(
                database,
                sql: """
                    UPDATE token SET revoked = COALESCE(revoked, ?) WHERE number = ? AND \(Self.isOfServiceInUse)
                    RETURNING \(Self.tokenColumns)
                    """,
                arguments: [now.milliseconds, number])
            guard let row else { throw TrackStoreError(.unknownToken, "there is no token \(number)") }
            return try Self.tokenRecord(row)
        }
    }

    package func revokeDevices(
        ofToken number: Int64, limit: Int
    ) async throws(TrackStoreError) -> [DeviceRecord] {
        try await writing { database in
            let devices = try Row.fetchAll(
                database,
                sql: """
                    SELECT \(Self.deviceColumns) FROM device WHERE token = ? AND state = 0 AND \(Self.isOfServiceInUse)
                    ORDER BY created, id LIMIT ?
                    """, arguments: [number, max(0, limit)]
            ).map(Self.record)
            let revocation = try database.cachedStatement(
                sql: "UPDATE device SET state = 1, pending = 0, change = \(Self.nextChange) WHERE id = ?")
            return try devices.map { device in
                try revocation.execute(arguments: [Data(device.id.bytes)])
                var device = device
                device.enter(.revoked)
                return device
            }
        }
    }

    package func claim(_ request: ClaimRequest, at now: Timestamp) async throws(TrackStoreError) -> ClaimOutcome {
        try await writing { database in
            let token = try Self.token(request.token, database)
            let facts = ClaimFacts(
                token: token, known: try Self.device(withKey: request.keyHash, database),
                listing: try token.map { try Self.listing(request.serial, $0, database) } ?? .none)
            var (entities, numbers) = (EntityRows(database, self), Numbers(database))
            let decision = try ClaimRules.decide(request, facts, at: now) { name in
                guard let token else { return .free }
                return try Self.use(EntityKey(service: token.service, name: name), &entities, database)
            }
            let outcome: ClaimOutcome
            switch decision {
            case .refused(let refusal): return .refused(refusal)
            case .again(var device):
                guard device.state == .active else { return .pending(device, isNew: false) }
                let isNew = device.issued == nil
                try Self.endClone(of: &device, database)
                device.proves = device.proves || request.proves
                try Self.issue(&device, until: request.certificateEnd, machine: request.machine, at: now, database)
                outcome = .issued(device, isNew: isNew)
            case .make(let entity, let state, let number):
                guard let token else { throw TrackStoreError(.failed, "a device was made without a token") }
                outcome = try Self.make(request, token, as: entity, state, number: number, at: now, database)
            }
            if case .issued(let device, _) = outcome {
                let key = EntityKey(service: device.service, name: device.entity)
                if try entities.find(key) == nil { _ = try entities.make(key, at: now, &numbers) }
                try numbers.save()
                entities.save()
            }
            return outcome
        }
    }

    package func renew(_ request: RenewalRequest, at now: Timestamp) async throws(TrackStoreError) -> RenewalOutcome {
        try await writing { database in
            let device = try Self.device(withKey: request.keyHash, database)
            switch RenewalRules.decide(request, device, at: now) {
            case .refused(let refusal): return .refused(refusal)
            case .pending(let device): return .pending(device)
            case .again(let device): return .again(device)
            case .issue(var device):
                device.proves = device.proves || request.isProven
                try Self.issue(&device, until: request.certificateEnd, machine: request.machine, at: now, database)
                return .issued(device)
            }
        }
    }

    package func deviceCensus() async throws(TrackStoreError) -> DeviceCensus {
        try await reading { database in
            let row = try Row.fetchOne(
                database,
                sql: """
                    SELECT COUNT(*) FILTER (WHERE state = 0 AND pending = 0), COUNT(*) FILTER (WHERE pending = 1),
                        COUNT(*) FILTER (WHERE state = 1), MIN(created) FILTER (WHERE pending = 1)
                    FROM device WHERE \(Self.isOfServiceInUse)
                    """)
            guard let row else { return DeviceCensus() }
            return DeviceCensus(
                active: row[0], pending: row[1], revoked: row[2],
                oldestPending: (row[3] as Int64?).map(Timestamp.init(milliseconds:)))
        }
    }

    // MARK: Parts of a claim

    private static func make(
        _ request: ClaimRequest, _ token: TokenRecord, as entity: String, _ state: DeviceRecord.State, number: Int64,
        at now: Timestamp, _ database: Database
    ) throws -> ClaimOutcome {
        let device = DeviceRecord(request, token: token, entity: entity, state: state, at: now)
        try insert(device, database)
        try database.execute(
            sql: "UPDATE token SET used = used + 1, last_name = ? WHERE number = ?", arguments: [number, token.number])
        return state == .active ? .issued(device, isNew: true) : .pending(device, isNew: true)
    }

    /// A person claims the device once more and has put it in order.
    private static func endClone(of device: inout DeviceRecord, _ database: Database) throws {
        guard device.cloned != nil else { return }
        device.cloned = nil
        try database.execute(
            sql: "UPDATE device SET cloned = NULL, change = \(nextChange) WHERE id = ?",
            arguments: [Data(device.id.bytes)])
    }

    private static func issue(
        _ device: inout DeviceRecord, until end: Timestamp, machine: [UInt8]?, at now: Timestamp, _ database: Database
    ) throws {
        (device.certificateEnd, device.issued) = (end, now)
        device.machine = machine ?? device.machine
        // No change of the device: nobody has to end its session.
        try database.execute(
            sql: "UPDATE device SET certificate_end = ?, issued = ?, machine = ?, proves = ? WHERE id = ?",
            arguments: [
                end.milliseconds, now.milliseconds, device.machine.map { Data($0) }, device.proves,
                Data(device.id.bytes),
            ])
    }

    private static func listing(
        _ serial: String?, _ token: TokenRecord, _ database: Database
    ) throws -> ClaimFacts.Listing {
        guard token.approval == .listed, let serial else { return .none }
        let listed = try Int.fetchOne(
            database, sql: "SELECT 1 FROM token_serial WHERE token = ? AND serial = ?",
            arguments: [token.number, serial])
        guard listed != nil else { return .none }
        let taken = try Int.fetchOne(
            database, sql: "SELECT 1 FROM device WHERE token = ? AND serial = ?",
            arguments: [token.number, serial])
        return taken == nil ? .listed : .taken
    }

    private static func use(_ key: EntityKey, _ entities: inout EntityRows, _ database: Database) throws -> NameUse {
        let holder = try Row.fetchOne(
            try database.cachedStatement(
                sql: """
                    SELECT id, state FROM device WHERE service = ? AND entity = ? AND state <> \(forgotten) AND pending = 0
                    ORDER BY state LIMIT 1
                    """),
            arguments: [key.service.rawValue, key.name])
        var use = NameUse.free
        if let holder, let id = DeviceID(bytes: [UInt8](holder[0] as Data)) {
            guard holder[1] as Int64 == DeviceRecord.State.revoked.rawValue else { return .device(id) }
            use = .revoked(id)
        } else if let number = try entities.find(key) {
            use = try hasPast(number, key, database) ? .past : .entity
        }
        let waiting = try database.cachedStatement(
            sql:
                "SELECT COUNT(*) FROM device WHERE service = ? AND entity = ? AND state <> \(forgotten) AND pending = 1"
        )
        let count = try Int.fetchOne(waiting, arguments: [key.service.rawValue, key.name]) ?? 0
        return count > 0 ? .waiting(count, use) : use
    }

    /// Whether an entity has points, or an agent logged in as it.
    private static func hasPast(_ entity: Int64, _ key: EntityKey, _ database: Database) throws -> Bool {
        let past = try database.cachedStatement(
            sql: """
                SELECT EXISTS (SELECT 1 FROM chunk WHERE entity = :entity)
                    OR EXISTS (SELECT 1 FROM state WHERE entity = :entity AND time IS NOT NULL)
                    OR EXISTS (SELECT 1 FROM health WHERE entity = :entity)
                """)
        return try Bool.fetchOne(past, arguments: ["entity": entity]) ?? false
    }

    private static func device(withKey hash: [UInt8], _ database: Database) throws -> DeviceRecord? {
        let wanted = try database.cachedStatement(sql: "SELECT \(deviceColumns) FROM device WHERE key_hash = ?")
        guard let device = try Row.fetchOne(wanted, arguments: [Data(hash)]).map(record) else { return nil }
        guard try Self.device(device.id, database) == nil else { return device }
        // Of a deleted service, whose rows are not all gone yet. The box may come again at once, as a device of another one.
        _ = try forget(Data(device.id.bytes), database)
        return nil
    }

    private static func token(_ hash: TokenHash, _ database: Database) throws -> TokenRecord? {
        let wanted = try database.cachedStatement(
            sql: "SELECT \(tokenColumns) FROM token WHERE hash = ? AND \(isOfServiceInUse)")
        return try Row.fetchOne(wanted, arguments: [Data(hash.bytes)]).map(tokenRecord)
    }

    private static func tokenRecord(_ row: Row) throws -> TokenRecord {
        guard let service = ServiceID(rawValue: row[2]), let pattern = try? NamePattern(row[7] as String),
            let approval = TokenRecord.Approval(rawValue: row[8])
        else { throw TrackStoreError(.corrupt, "a token cannot be read") }
        return TokenRecord(
            number: row[0], hash: TokenHash(bytes: [UInt8](row[1] as Data)), service: service, uses: row[3],
            used: row[4], lastName: row[5], end: (row[6] as Int64?).map(Timestamp.init(milliseconds:)),
            pattern: pattern, approval: approval, note: row[9], created: Timestamp(milliseconds: row[10]),
            revoked: (row[11] as Int64?).map(Timestamp.init(milliseconds:)), takesPast: row[12])
    }
}
