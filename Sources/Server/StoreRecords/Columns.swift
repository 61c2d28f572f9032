import SQLDatabase
package import TrackModel
package import TrackStore

extension SQLRecordStore {
    package func addColumn(
        _ column: ColumnRecord, of kind: ColumnKind, in service: ServiceID
    ) async throws(TrackStoreError) {
        try await writing { database in
            try self.check(service, database)
            let keys = try database.values(
                String.self, "SELECT key FROM attribute_column WHERE service = ? AND kind = ?",
                [service.rawValue, kind.number])
            guard !keys.contains(column.key) else {
                throw TrackStoreError(.columnExists, "the service has a \(kind.rawValue) column of this key already")
            }
            guard keys.count < ColumnRecord.maximumCount else {
                throw TrackStoreError(
                    .tooManyColumns,
                    "the service has \(keys.count) \(kind.rawValue) columns, more are not possible: delete one first")
            }
            try database.execute(
                """
                INSERT INTO attribute_column (service, kind, key, type, description, searchable, created)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    service.rawValue, kind.number, column.key, column.type.number, column.description,
                    column.isSearchable, column.created.milliseconds,
                ])
        }
    }

    package func deleteColumn(
        named key: String, of kind: ColumnKind, in service: ServiceID
    ) async throws(TrackStoreError) {
        try await writing { database in
            let id = try database.value(
                Int64.self, "SELECT id FROM attribute_column WHERE service = ? AND kind = ? AND key = ?",
                [service.rawValue, kind.number, key])
            guard let id else {
                throw TrackStoreError(.unknownColumn, "the service has no \(kind.rawValue) column of this key")
            }
            try database.execute("DELETE FROM entity_value WHERE attribute_column = ?", [id])
            try database.execute("DELETE FROM attribute_column WHERE id = ?", [id])
        }
    }

    package func columns(
        of kind: ColumnKind, in service: ServiceID
    ) async throws(TrackStoreError) -> [ColumnRecord] {
        try await reading { database in
            let select = try database.statement(
                """
                SELECT key, type, description, searchable, created FROM attribute_column
                WHERE service = ? AND kind = ? ORDER BY key
                """)
            return try select.rows([service.rawValue, kind.number]) { row in
                guard let type = try AttributeType(number: row[1]) else {
                    throw TrackStoreError(.corrupt, "a column has a type that does not exist")
                }
                return try ColumnRecord(
                    key: row[0], type: type, description: row[2], isSearchable: row[3],
                    created: Timestamp(milliseconds: row[4]))
            }
        }
    }

    // MARK: Values of entities

    /// Sets the values of an entity's columns; columns that the service does not have are ignored.
    static func setValues(
        _ values: [String: String], of entity: Int64, in service: ServiceID, _ database: any SQLConnection
    ) throws {
        for (key, value) in values {
            try database.execute(
                """
                INSERT INTO entity_value (attribute_column, entity, value)
                SELECT id, ?, ? FROM attribute_column WHERE service = ? AND kind = ? AND key = ?
                ON CONFLICT (attribute_column, entity) DO UPDATE SET value = excluded.value
                """,
                [entity, value, service.rawValue, ColumnKind.entity.number, key])
        }
    }

    /// The values of some entities by their numbers; at most as many as one statement can bind.
    static func values(of entities: [Int64], _ database: any SQLConnection) throws -> [Int64: [String: String]] {
        guard !entities.isEmpty else { return [:] }
        let select = try database.statement(
            """
            SELECT v.entity, c.key, v.value FROM \(database.dialect.numbers()) j
            \(database.dialect.orderedJoin) entity_value v ON v.entity = j.value
            JOIN attribute_column c ON c.id = v.attribute_column
            """)
        let list = "[" + entities.map(String.init).joined(separator: ",") + "]"
        var result: [Int64: [String: String]] = [:]
        try select.forEach([list]) { row in
            let (entity, key, value): (Int64, String, String) = try (row[0], row[1], row[2])
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
