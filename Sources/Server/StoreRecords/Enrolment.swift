import SQLDatabase
package import TrackModel
package import TrackStore

extension SQLRecordStore {
    private static var tokenColumns: String {
        """
        number, hash, service, uses, used, last_name, ends, pattern, approval, note, created, revoked, takes_past
        """
    }

    package func addToken(_ token: NewToken, at now: Timestamp) async throws(TrackStoreError) -> TokenRecord {
        try await writing { database in
            try self.check(token.service, database)
            guard try Self.token(token.hash, database) == nil else {
                throw TrackStoreError(.tokenExists, "there is such a token already")
            }
            let approval = TokenRecord(token, number: 0, created: now).approval
            let number = try database.value(
                Int64.self,
                """
                INSERT INTO token (hash, service, uses, ends, pattern, approval, note, created, takes_past)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING number
                """,
                [
                    token.hash.bytes, token.service.rawValue, token.uses, token.end?.milliseconds,
                    token.pattern.description, approval.rawValue, token.note, now.milliseconds,
                    token.takesPast,
                ])
            guard let number else { throw TrackStoreError(.corrupt, "the store did not number a token") }
            if case .listed(let serials) = token.approval {
                let insertion = try database.statement(
                    "INSERT INTO token_serial (token, serial) VALUES (?, ?) ON CONFLICT DO NOTHING")
                for serial in serials { try insertion.execute([number, serial]) }
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
            return try database.rows(
                """
                SELECT \(Self.tokenColumns) FROM token WHERE \(DeviceTable.isOfServiceInUse) \(condition) ORDER BY number
                """,
                service.map { [$0.rawValue] } ?? [], Self.tokenRecord)
        }
    }

    package func revokeToken(_ number: Int64, at now: Timestamp) async throws(TrackStoreError) -> TokenRecord {
        try await writing { database in
            let token = try database.row(
                """
                UPDATE token SET revoked = COALESCE(revoked, ?) WHERE number = ? AND \(DeviceTable.isOfServiceInUse)
                RETURNING \(Self.tokenColumns)
                """,
                [now.milliseconds, number], Self.tokenRecord)
            guard let token else { throw TrackStoreError(.unknownToken, "there is no token \(number)") }
            return token
        }
    }

    package func revokeDevices(
        ofToken number: Int64, limit: Int
    ) async throws(TrackStoreError) -> [DeviceRecord] {
        try await writing { database in
            let devices = try database.rows(
                """
                SELECT \(DeviceTable.columns) FROM device WHERE token = ? AND state = 0 AND \(DeviceTable.isOfServiceInUse)
                ORDER BY created, id LIMIT ?
                """, [number, max(0, limit)], Self.record)
            let revocation = try database.statement(
                "UPDATE device SET state = 1, pending = 0 WHERE id = ?")
            return try devices.map { device in
                try revocation.execute([device.id.bytes])
                try ChangeTable.noteDevice(device.id.bytes, database)
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
            var (entities, numbers) = (EntityRows(database, self.records), Numbers(database))
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
            try database.row(
                """
                SELECT COUNT(*) FILTER (WHERE state = 0 AND pending = 0), COUNT(*) FILTER (WHERE pending = 1),
                    COUNT(*) FILTER (WHERE state = 1), MIN(created) FILTER (WHERE pending = 1)
                FROM device WHERE \(DeviceTable.isOfServiceInUse)
                """
            ) { row in
                try DeviceCensus(
                    active: row[0], pending: row[1], revoked: row[2],
                    oldestPending: (row[3] as Int64?).map(Timestamp.init(milliseconds:)))
            } ?? DeviceCensus()
        }
    }

    // MARK: Parts of a claim

    private static func make(
        _ request: ClaimRequest, _ token: TokenRecord, as entity: String, _ state: DeviceRecord.State, number: Int64,
        at now: Timestamp, _ database: any SQLConnection
    ) throws -> ClaimOutcome {
        let device = DeviceRecord(request, token: token, entity: entity, state: state, at: now)
        try insert(device, database)
        try database.execute(
            "UPDATE token SET used = used + 1, last_name = ? WHERE number = ?", [number, token.number])
        return state == .active ? .issued(device, isNew: true) : .pending(device, isNew: true)
    }

    /// A person claims the device once more and has put it in order.
    private static func endClone(of device: inout DeviceRecord, _ database: any SQLConnection) throws {
        guard device.cloned != nil else { return }
        device.cloned = nil
        try database.execute("UPDATE device SET cloned = NULL WHERE id = ?", [device.id.bytes])
        try ChangeTable.noteDevice(device.id.bytes, database)
    }

    private static func issue(
        _ device: inout DeviceRecord, until end: Timestamp, machine: [UInt8]?, at now: Timestamp,
        _ database: any SQLConnection
    ) throws {
        (device.certificateEnd, device.issued) = (end, now)
        device.machine = machine ?? device.machine
        // No change of the device: nobody has to end its session.
        try database.execute(
            "UPDATE device SET certificate_end = ?, issued = ?, machine = ?, proves = ? WHERE id = ?",
            [
                end.milliseconds, now.milliseconds, device.machine, device.proves,
                device.id.bytes,
            ])
    }

    private static func listing(
        _ serial: String?, _ token: TokenRecord, _ database: any SQLConnection
    ) throws -> ClaimFacts.Listing {
        guard token.approval == .listed, let serial else { return .none }
        let listed = try database.value(
            Int.self, "SELECT 1 FROM token_serial WHERE token = ? AND serial = ?",
            [token.number, serial])
        guard listed != nil else { return .none }
        let taken = try database.value(
            Int.self, "SELECT 1 FROM device WHERE token = ? AND serial = ?",
            [token.number, serial])
        return taken == nil ? .listed : .taken
    }

    private static func use(_ key: EntityKey, _ entities: inout EntityRows, _ database: any SQLConnection) throws
        -> NameUse
    {
        let holder: (DeviceID?, state: Int64)? = try database.row(
            """
            SELECT id, state FROM device WHERE service = ? AND entity = ? AND state <> \(DeviceTable.forgotten) AND pending = 0
            ORDER BY state LIMIT 1
            """,
            [key.service.rawValue, key.name]
        ) { row in try (DeviceID(bytes: row[0]), row[1]) }
        var use = NameUse.free
        if case (let id?, let state)? = holder {
            guard state == DeviceRecord.State.revoked.rawValue else { return .device(id) }
            use = .revoked(id)
        } else if let number = try entities.find(key) {
            use = try hasPast(number, key, database) ? .past : .entity
        }
        let waiting = try database.statement(
            "SELECT COUNT(*) FROM device WHERE service = ? AND entity = ? AND state <> \(DeviceTable.forgotten) AND pending = 1"
        )
        let count = try waiting.value(Int.self, [key.service.rawValue, key.name]) ?? 0
        return count > 0 ? .waiting(count, use) : use
    }

    /// Whether an entity has points, or an agent logged in as it.
    private static func hasPast(_ entity: Int64, _ key: EntityKey, _ database: any SQLConnection) throws -> Bool {
        let past = try database.statement(
            """
            SELECT EXISTS (SELECT 1 FROM chunk WHERE entity = ?1)
                OR EXISTS (SELECT 1 FROM state WHERE entity = ?1 AND time IS NOT NULL)
                OR EXISTS (SELECT 1 FROM health WHERE entity = ?1)
            """)
        return try past.value(Bool.self, [entity]) ?? false
    }

    private static func device(withKey hash: [UInt8], _ database: any SQLConnection) throws -> DeviceRecord? {
        let wanted = try database.statement("SELECT \(DeviceTable.columns) FROM device WHERE key_hash = ?")
        guard let device = try wanted.row([hash], record) else { return nil }
        guard try Self.device(device.id, database) == nil else { return device }
        // Of a deleted service, whose rows are not all gone yet. The box may come again at once, as a device of another one.
        _ = try DeviceTable.forget(device.id.bytes, database)
        return nil
    }

    private static func token(_ hash: TokenHash, _ database: any SQLConnection) throws -> TokenRecord? {
        let wanted = try database.statement(
            "SELECT \(tokenColumns) FROM token WHERE hash = ? AND \(DeviceTable.isOfServiceInUse)")
        return try wanted.row([hash.bytes], tokenRecord)
    }

    private static func tokenRecord(_ row: SQLRow) throws -> TokenRecord {
        guard let service = try ServiceID(rawValue: row[2]), let pattern = try? NamePattern(row[7] as String),
            let approval = try TokenRecord.Approval(rawValue: row[8])
        else { throw TrackStoreError(.corrupt, "a token cannot be read") }
        return try TokenRecord(
            number: row[0], hash: TokenHash(bytes: row[1]), service: service, uses: row[3],
            used: row[4], lastName: row[5], end: (row[6] as Int64?).map(Timestamp.init(milliseconds:)),
            pattern: pattern, approval: approval, note: row[9], created: Timestamp(milliseconds: row[10]),
            revoked: (row[11] as Int64?).map(Timestamp.init(milliseconds:)), takesPast: row[12])
    }
}
