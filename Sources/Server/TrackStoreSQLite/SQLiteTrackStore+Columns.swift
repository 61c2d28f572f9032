import GRDB
package import TrackModel
package import TrackStore

extension SQLiteTrackStore {
    package func addColumn(
        _ column: ColumnRecord, of kind: ColumnKind, in service: ServiceID
    ) async throws(TrackStoreError) {
        try await writing { database in
            try self.check(service, database)
            let keys = try String.fetchAll(
                database, sql: "SELECT key FROM attribute_column WHERE service = ? AND kind = ?",
                arguments: [service.rawValue, kind.number])
            guard !keys.contains(column.key) else {
                throw TrackStoreError(.columnExists, "the service has a \(kind.rawValue) column of this key already")
            }
            guard keys.count < ColumnRecord.maximumCount else {
                throw TrackStoreError(
                    .tooManyColumns,
                    "the service has \(keys.count) \(kind.rawValue) columns, more are not possible: delete one first")
            }
            try database.execute(
                sql: """
                    INSERT INTO attribute_column (service, kind, key, type, description, searchable, created)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    service.rawValue, kind.number, column.key, column.type.number, column.description,
                    column.isSearchable, column.created.milliseconds,
                ])
        }
    }

    package func deleteColumn(
        named key: String, of kind: ColumnKind, in service: ServiceID
    ) async throws(TrackStoreError) {
        try await writing { database in
            let id = try Int64.fetchOne(
                database, sql: "SELECT id FROM attribute_column WHERE service = ? AND kind = ? AND key = ?",
                arguments: [service.rawValue, kind.number, key])
            guard let id else {
                throw TrackStoreError(.unknownColumn, "the service has no \(kind.rawValue) column of this key")
            }
            try database.execute(sql: "DELETE FROM entity_value WHERE attribute_column = ?", arguments: [id])
            try database.execute(sql: "DELETE FROM attribute_column WHERE id = ?", arguments: [id])
        }
    }

    package func columns(
        of kind: ColumnKind, in service: ServiceID
    ) async throws(TrackStoreError) -> [ColumnRecord] {
        try await reading { database in
            let select = try database.cachedStatement(
                sql: """
                    SELECT key, type, description, searchable, created FROM attribute_column
                    WHERE service = ? AND kind = ? ORDER BY key
                    """)
            return try Row.fetchAll(select, arguments: [service.rawValue, kind.number]).map { row in
                guard let type = AttributeType(number: row[1]) else {
                    throw TrackStoreError(.corrupt, "a column has a type that does not exist")
                }
                return ColumnRecord(
                    key: row[0], type: type, description: row[2], isSearchable: row[3],
                    created: Timestamp(milliseconds: row[4]))
            }
        }
    }

    // MARK: Values of entities

    /// Sets the values of an entity's columns; columns that the service does not have are ignored.
    static func setValues(
        _ values: [String: String], of entity: Int64, in service: ServiceID, _ database: Database
    ) throws {
        for (key, value) in values {
            try database.execute(
                sql: """
                    INSERT INTO entity_value (attribute_column, entity, value)
                    SELECT id, ?, ? FROM attribute_column WHERE service = ? AND kind = ? AND key = ?
                    ON CONFLICT (attribute_column, entity) DO UPDATE SET value = excluded.value
                    """,
                arguments: [entity, value, service.rawValue, ColumnKind.entity.number, key])
        }
    }

    /// The values of some entities by their numbers; at most as many as one statement can bind.
    static func values(of entities: [Int64], _ database: Database) throws -> [Int64: [String: String]] {
        guard !entities.isEmpty else { return [:] }
        let select = try database.cachedStatement(
            sql: """
                SELECT v.entity, c.key, v.value FROM json_each(?) j CROSS JOIN entity_value v ON v.entity = j.value
                JOIN attribute_column c ON c.id = v.attribute_column
                """)
        let list = "[" + entities.map(String.init).joined(separator: ",") + "]"
        let rows = try Row.fetchCursor(select, arguments: [list])
        var result: [Int64: [String: String]] = [:]
        while let row = try rows.next() {
            let (entity, key, value): (Int64, String, String) = (row[0], row[1], row[2])
            result[entity, default: [:]][key] = value
        }
        return result
    }
}

extension ColumnKind {
    /// As the file keeps it.
    var number: Int {
        switch self {
        case .track: 0
        case .entity: 1
        }
    }
}

extension AttributeType {
    /// As the file keeps it: the Web API's numbers.
    var number: Int {
        switch self {
        case .integer: 1
        case .double: 2
        case .string: 3
        }
    }

    init?(number: Int) {
        guard let type = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = type
    }
}
