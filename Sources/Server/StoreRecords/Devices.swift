package import SQLDatabase
package import TrackModel
package import TrackStore

extension SQLRecordStore {
    package func addDevice(_ device: DeviceRecord) async throws(TrackStoreError) {
        try await writing { database in
            try self.check(device.service, database)
            let taken = try database.value(
                Int.self, "SELECT 1 FROM device WHERE id = ? OR key_hash = ?",
                [device.id.bytes, device.keyHash])
            guard taken == nil else {
                throw TrackStoreError(.deviceExists, "there is a device with this number or this key already")
            }
            try Self.checkEntity(of: device, database)
            try Self.insert(device, database)
        }
    }

    /// In the transaction of the change: somebody else may make another device this entity meanwhile.
    private static func checkEntity(of device: DeviceRecord, _ database: any SQLConnection) throws {
        guard device.state == .active else { return }
        let other = try database.value(
            [UInt8].self,
            """
            SELECT id FROM device WHERE service = ? AND entity = ? AND state = 0 AND pending = 0 AND id <> ?
            LIMIT 1
            """,
            [device.service.rawValue, device.entity, device.id.bytes])
        if let other, let id = DeviceID(bytes: other) {
            throw TrackStoreError.entityTaken(device.entity, by: id)
        }
    }

    /// Its id and its key are those of no other device.
    static func insert(_ device: DeviceRecord, _ database: any SQLConnection) throws {
        try database.execute(
            """
            INSERT INTO device (\(DeviceTable.columns))
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, NULL, ?, ?, ?, ?, ?, ?, ?, NULL, ?)
            """,
            [
                device.id.bytes, device.service.rawValue, device.entity, text(device.formerEntities),
                device.name, state(device.state), device.keyHash, device.created.milliseconds,
                device.certificateEnd.milliseconds, device.state == .pending, device.claim?.token,
                device.claim?.serial, device.claim?.model, device.claim?.address, device.issued?.milliseconds,
                device.machine, device.proves,
            ])
        try ChangeTable.noteDevice(device.id.bytes, database)
    }

    package func device(_ id: DeviceID) async throws(TrackStoreError) -> DeviceRecord? {
        try await reading { database in try Self.device(id, database) }
    }

    package func devices(
        matching filter: DeviceFilter, page: Page
    ) async throws(TrackStoreError) -> (total: Int, devices: [DeviceRecord]) {
        try await reading { database in try Self.devices(matching: filter, page: page, database) }
    }

    package static func devices(
        matching filter: DeviceFilter, page: Page, _ database: any SQLConnection
    ) throws -> (total: Int, devices: [DeviceRecord]) {
        var condition = "state <> \(DeviceTable.forgotten) AND \(DeviceTable.isOfServiceInUse)"
        var wanted = SQLParameters()
        if let service = filter.service {
            condition += " AND service = ?"
            wanted += [service.rawValue]
        }
        if let state = filter.state {
            condition += " AND state = ? AND pending = ?"
            wanted += [Self.state(state), state == .pending]
        }
        if let token = filter.token {
            condition += " AND token = ?"
            wanted += [token]
        }
        if let entity = filter.entity {
            condition += " AND entity = ?"
            wanted += [entity]
        }
        if let selector = filter.selector {
            let digits = filter.digits
            let id = database.dialect.hexadecimal("id")
            condition += digits == nil ? " AND entity = ?" : " AND (entity = ? OR \(id) LIKE ?)"
            wanted += [selector] + (digits.map { ["\($0)%"] } ?? [])
        }
        let total = try database.value(Int.self, "SELECT COUNT(*) FROM device WHERE \(condition)", wanted)
        let devices = try database.rows(
            "SELECT \(DeviceTable.columns) FROM device WHERE \(condition) ORDER BY created, id LIMIT ? OFFSET ?",
            wanted + [page.limit, page.offset], Self.record)
        return (total ?? 0, devices)
    }

    package func changeDevice(_ id: DeviceID, _ change: DeviceChange) async throws(TrackStoreError) -> DeviceRecord {
        try await writing { database in
            guard var device = try Self.device(id, database) else { throw Self.unknown(id) }
            switch change {
            case .name(let name): device.name = name
            case .entity(let entity): device.move(to: entity)
            case .state(let state): device.enter(state)
            case .certificate(let keyHash, let end):
                let other = try database.value(
                    Int.self, "SELECT 1 FROM device WHERE key_hash = ? AND id <> ?",
                    [keyHash, id.bytes])
                guard other == nil else {
                    throw TrackStoreError(.deviceExists, "another device has this key")
                }
                (device.keyHash, device.certificateEnd) = (keyHash, end)
            }
            switch change {
            case .entity, .state: try Self.checkEntity(of: device, database)
            case .name, .certificate: break
            }
            try database.execute(
                """
                UPDATE device SET entity = ?, former_entities = ?, name = ?, state = ?, pending = ?, key_hash = ?,
                    certificate_end = ?, cloned = ?
                WHERE id = ?
                """,
                [
                    device.entity, Self.text(device.formerEntities), device.name, Self.state(device.state),
                    device.state == .pending, device.keyHash, device.certificateEnd.milliseconds,
                    device.cloned?.milliseconds, id.bytes,
                ])
            try ChangeTable.noteDevice(id.bytes, database)
            return device
        }
    }

    package func forgetDevice(_ id: DeviceID) async throws(TrackStoreError) {
        try await writing { database in
            guard try DeviceTable.forget(id.bytes, database) else { throw Self.unknown(id) }
        }
    }

    package func noteDevice(_ id: DeviceID, _ sighting: DeviceRecord.Sighting) async throws(TrackStoreError) {
        try await writing { database in
            try database.execute(
                """
                UPDATE device SET seen = ?, address = ?, agent_version = ? WHERE id = ? AND state <> \(DeviceTable.forgotten)
                """,
                [sighting.time.milliseconds, sighting.address, sighting.agentVersion, id.bytes])
        }
    }

    package func noteClone(of id: DeviceID, at now: Timestamp) async throws(TrackStoreError) {
        try await writing { database in
            try database.execute(
                "UPDATE device SET cloned = ? WHERE id = ? AND state <> \(DeviceTable.forgotten)",
                [now.milliseconds, id.bytes])
        }
    }

    // MARK: Rows

    private static func unknown(_ id: DeviceID) -> TrackStoreError {
        TrackStoreError(.unknownDevice, "there is no device \(id)")
    }

    static func device(_ id: DeviceID, _ database: any SQLConnection) throws -> DeviceRecord? {
        let wanted = try database.statement(
            "SELECT \(DeviceTable.columns) FROM device WHERE id = ? AND state <> \(DeviceTable.forgotten) AND \(DeviceTable.isOfServiceInUse)"
        )
        return try wanted.row([id.bytes], record)
    }

    /// What the column `state` has of a state. A pending device is told by its own column: the table is older than it.
    static func state(_ state: DeviceRecord.State) -> Int64 {
        state == .pending ? DeviceRecord.State.active.rawValue : state.rawValue
    }

    static func record(_ row: SQLRow) throws -> DeviceRecord {
        let isPending: Bool = try row[12]
        guard let id = try DeviceID(bytes: row[0]), let service = try ServiceID(rawValue: row[1]),
            let state = isPending ? DeviceRecord.State.pending : try DeviceRecord.State(rawValue: row[5])
        else { throw TrackStoreError(.corrupt, "a device cannot be read") }
        let former: String = try row[3]
        var sighting: DeviceRecord.Sighting?
        if let seen: Int64 = try row[9] {
            sighting = try DeviceRecord.Sighting(
                time: Timestamp(milliseconds: seen), address: row[10] ?? "", agentVersion: row[11] ?? "")
        }
        let claim = try (row[13] as Int64?).map {
            try DeviceRecord.Claim(token: $0, serial: row[14], model: row[15] ?? "", address: row[16] ?? "")
        }
        return try DeviceRecord(
            id: id, service: service, entity: row[2],
            formerEntities: former.isEmpty ? [] : former.split(separator: DeviceTable.separator).map(String.init),
            name: row[4],
            state: state, keyHash: row[6], created: Timestamp(milliseconds: row[7]),
            certificateEnd: Timestamp(milliseconds: row[8]),
            issued: (row[17] as Int64?).map(Timestamp.init(milliseconds:)),
            machine: row[18], claim: claim, sighting: sighting,
            cloned: (row[19] as Int64?).map(Timestamp.init(milliseconds:)), proves: row[20])
    }

    private static func text(_ names: [String]) -> String { names.joined(separator: String(DeviceTable.separator)) }
}

/// The rows of devices.
enum DeviceTable {
    /// The state of a row without content: see `Schema.devices`.
    static let forgotten: Int64 = 2
    static let columns = """
        id, service, entity, former_entities, name, state, key_hash, created, certificate_end, seen, address, agent_version,
        pending, token, serial, model, claimed_from, issued, machine, cloned, proves
        """
    /// Names of entities have no line breaks.
    static let separator: Character = "\n"
    /// Of rows of devices and of tokens.
    static let isOfServiceInUse = "service NOT IN (SELECT id FROM service WHERE deletion IS NOT NULL)"

    /// False: there was no such device.
    static func forget(_ id: [UInt8], _ database: any SQLConnection) throws -> Bool {
        let update = try database.statement(
            """
            UPDATE device SET entity = '', former_entities = '', name = '', state = \(forgotten),
                key_hash = NULL, seen = NULL, address = NULL, agent_version = NULL, pending = 0, token = NULL,
                serial = NULL, model = NULL, claimed_from = NULL, issued = NULL, machine = NULL, cloned = NULL, proves = 0
            WHERE id = ? AND state <> \(forgotten)
            """)
        try update.execute([id])
        guard database.changes == 1 else { return false }
        try ChangeTable.noteDevice(id, database)
        return true
    }
}
