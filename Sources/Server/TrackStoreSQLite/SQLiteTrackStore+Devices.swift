import Foundation
import GRDB
package import TrackModel
package import TrackStore

extension SQLiteTrackStore {
    /// Of a row without content: see ``Schema/devices``.
    private static let forgotten: Int64 = 2
    private static let columns = """
        id, service, entity, former_entities, name, state, key_hash, created, certificate_end, seen, address, agent_version
        """
    /// Names of entities have no line breaks.
    private static let separator: Character = "\n"
    private static let nextChange = "(SELECT COALESCE(MAX(change), 0) + 1 FROM device)"

    package func addDevice(_ device: DeviceRecord) async throws(TrackStoreError) {
        try await writing { database in
            try self.check(device.service, database)
            let taken = try Int.fetchOne(
                database, sql: "SELECT 1 FROM device WHERE id = ? OR key_hash = ?",
                arguments: [Data(device.id.bytes), Data(device.keyHash)])
            guard taken == nil else {
                throw TrackStoreError(.deviceExists, "there is a device with this number or this key already")
            }
            try database.execute(
                sql: """
                    INSERT INTO device (\(Self.columns), change)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, NULL, \(Self.nextChange))
                    """,
                arguments: [
                    Data(device.id.bytes), device.service.rawValue, device.entity, Self.text(device.formerEntities),
                    device.name, device.state.rawValue, Data(device.keyHash), device.created.milliseconds,
                    device.certificateEnd.milliseconds,
                ])
        }
    }

    package func device(_ id: DeviceID) async throws(TrackStoreError) -> DeviceRecord? {
        try await reading { database in try Self.device(id, database) }
    }

    package func devices(
        in service: ServiceID?, page: Page
    ) async throws(TrackStoreError) -> (total: Int, devices: [DeviceRecord]) {
        try await reading { database in
            let condition = "state <> \(Self.forgotten)" + (service == nil ? "" : " AND service = ?")
            let wanted: StatementArguments = service.map { [$0.rawValue] } ?? []
            let total = try Int.fetchOne(
                database, sql: "SELECT COUNT(*) FROM device WHERE \(condition)", arguments: wanted)
            let rows = try Row.fetchAll(
                database,
                sql: "SELECT \(Self.columns) FROM device WHERE \(condition) ORDER BY created, id LIMIT ? OFFSET ?",
                arguments: wanted + [page.limit, page.offset])
            return (total ?? 0, try rows.map(Self.record))
        }
    }

    package func changeDevice(_ id: DeviceID, _ change: DeviceChange) async throws(TrackStoreError) -> DeviceRecord {
        try await writing { database in
            guard var device = try Self.device(id, database) else { throw Self.unknown(id) }
            switch change {
            case .name(let name): device.name = name
            case .entity(let entity): device.move(to: entity)
            case .state(let state): device.state = state
            case .certificate(let keyHash, let end):
                let other = try Int.fetchOne(
                    database, sql: "SELECT 1 FROM device WHERE key_hash = ? AND id <> ?",
                    arguments: [Data(keyHash), Data(id.bytes)])
                guard other == nil else {
                    throw TrackStoreError(.deviceExists, "another device has this key")
                }
                (device.keyHash, device.certificateEnd) = (keyHash, end)
            }
            try database.execute(
                sql: """
                    UPDATE device SET entity = ?, former_entities = ?, name = ?, state = ?, key_hash = ?,
                        certificate_end = ?, change = \(Self.nextChange)
                    WHERE id = ?
                    """,
                arguments: [
                    device.entity, Self.text(device.formerEntities), device.name, device.state.rawValue,
                    Data(device.keyHash), device.certificateEnd.milliseconds, Data(id.bytes),
                ])
            return device
        }
    }

    package func forgetDevice(_ id: DeviceID) async throws(TrackStoreError) {
        try await writing { database in
            try database.execute(
                sql: """
                    UPDATE device SET entity = '', former_entities = '', name = '', state = \(Self.forgotten),
                        key_hash = NULL, seen = NULL, address = NULL, agent_version = NULL, change = \(Self.nextChange)
                    WHERE id = ? AND state <> \(Self.forgotten)
                    """,
                arguments: [Data(id.bytes)])
            guard database.changesCount == 1 else { throw Self.unknown(id) }
        }
    }

    package func noteDevice(_ id: DeviceID, _ sighting: DeviceRecord.Sighting) async throws(TrackStoreError) {
        try await writing { database in
            try database.execute(
                sql: """
                    UPDATE device SET seen = ?, address = ?, agent_version = ? WHERE id = ? AND state <> \(Self.forgotten)
                    """,
                arguments: [sighting.time.milliseconds, sighting.address, sighting.agentVersion, Data(id.bytes)])
        }
    }

    package func deviceChanges(
        after mark: Int64?, limit: Int
    ) async throws(TrackStoreError) -> (through: Int64, devices: [DeviceID]) {
        try await reading { database in
            guard let mark else {
                return (try Int64.fetchOne(database, sql: "SELECT COALESCE(MAX(change), 0) FROM device") ?? 0, [])
            }
            let changed = try database.cachedStatement(
                sql: "SELECT change, id FROM device WHERE change > ? ORDER BY change LIMIT ?")
            let rows = try Row.fetchAll(changed, arguments: [mark, limit])
            return (rows.last?[0] ?? mark, rows.compactMap { DeviceID(bytes: [UInt8]($0[1] as Data)) })
        }
    }

    // MARK: Rows

    private static func unknown(_ id: DeviceID) -> TrackStoreError {
        TrackStoreError(.unknownDevice, "there is no device \(id)")
    }

    private static func device(_ id: DeviceID, _ database: Database) throws -> DeviceRecord? {
        let wanted = try database.cachedStatement(
            sql: "SELECT \(columns) FROM device WHERE id = ? AND state <> \(forgotten)")
        return try Row.fetchOne(wanted, arguments: [Data(id.bytes)]).map(record)
    }

    private static func record(_ row: Row) throws -> DeviceRecord {
        guard let id = DeviceID(bytes: [UInt8](row[0] as Data)), let service = ServiceID(rawValue: row[1]),
            let state = DeviceRecord.State(rawValue: row[5])
        else { throw TrackStoreError(.corrupt, "a device cannot be read") }
        let former: String = row[3]
        var sighting: DeviceRecord.Sighting?
        if let seen: Int64 = row[9] {
            sighting = DeviceRecord.Sighting(
                time: Timestamp(milliseconds: seen), address: row[10] ?? "", agentVersion: row[11] ?? "")
        }
        return DeviceRecord(
            id: id, service: service, entity: row[2],
            formerEntities: former.isEmpty ? [] : former.split(separator: separator).map(String.init), name: row[4],
            state: state, keyHash: [UInt8](row[6] as Data), created: Timestamp(milliseconds: row[7]),
            certificateEnd: Timestamp(milliseconds: row[8]), sighting: sighting)
    }

    private static func text(_ names: [String]) -> String { names.joined(separator: String(separator)) }
}
