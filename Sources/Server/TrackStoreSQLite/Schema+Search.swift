import SQLDatabase
import StoreRecords
import TrackModel
import TrackStore
import TrackWire

extension Schema {
    /// The step from version 9 to 10; ``fillSearch(_:)`` fills what it makes.
    ///
    /// `datum` has no CHECK: a statement that updates a row of a table with a CHECK opens a journal of its own, which would
    /// cost each batch some microseconds. The integrity check looks at the column.
    static let search = """
        ALTER TABLE state ADD COLUMN service INTEGER;
        ALTER TABLE state ADD COLUMN datum INTEGER;
        ALTER TABLE state ADD COLUMN cell INTEGER;
        ALTER TABLE hint ADD COLUMN service INTEGER;
        ALTER TABLE hint ADD COLUMN datum INTEGER;
        ALTER TABLE hint ADD COLUMN cell INTEGER;

        CREATE VIRTUAL TABLE entity_text USING fts5 (
            grams, content = '', detail = none, tokenize = 'ascii'
        );
        """

    /// Throws `.failed` when the system's SQLite lacks what the index of texts needs.
    static func checkLibrary(_ database: any SQLConnection) throws {
        let modules = try database.value(Int.self, "SELECT COUNT(*) FROM pragma_module_list WHERE name = 'fts5'")
        guard modules == 0 else { return }
        throw TrackStoreError(
            .failed,
            "the SQLite library of this system (\(sqliteVersion(database))) was built without FTS5, which the store needs: "
                + "install the distribution's libsqlite3")
    }

    private static func sqliteVersion(_ database: any SQLConnection) -> String {
        (try? database.value(String.self, "SELECT sqlite_version()")) ?? "unknown"
    }

    /// Rows that are read before they are changed.
    private static let rowsAtOnce = 10_000

    static func fillSearch(_ database: any SQLConnection) throws {
        for table in ["state", "hint"] {
            try fillPlaces(of: table, database)
            // Made at the end, because that is faster.
            try database.execute(
                "CREATE INDEX \(table)_by_cell ON \(table) (service, cell) WHERE cell IS NOT NULL")
        }
        var last: Int64 = 0
        while true {
            let rows = try database.rows(
                "SELECT id, service, name, description FROM entity WHERE id > ? ORDER BY id LIMIT \(rowsAtOnce)",
                [last]
            ) { row -> (Int64, EntityKey, String) in
                try (row[0], EntityKey(service: service(row[1]), name: row[2]), row[3])
            }
            for (id, key, description) in rows {
                try EntityTexts.add(id, key, description: description, database)
                last = id
            }
            if rows.count < rowsAtOnce { return }
        }
    }

    private static func fillPlaces(of table: String, _ database: any SQLConnection) throws {
        let update = try database.statement(
            "UPDATE \(table) SET service = ?, datum = ?, cell = ? WHERE entity = ?")
        var last: Int64 = 0
        while true {
            let rows = try database.rows(
                """
                SELECT p.entity, e.service, p.payload, p.latitude, p.longitude
                FROM \(table) p JOIN entity e ON e.id = p.entity
                WHERE p.entity > ? ORDER BY p.entity LIMIT \(rowsAtOnce)
                """, [last]
            ) { row -> (entity: Int64, service: Int64, payload: [UInt8]?, place: Coordinate?) in
                try (row[0], row[1], row[2], Coordinate(storedLatitude: row[3], longitude: row[4]))
            }
            for (entity, service, payload, place) in rows {
                last = entity
                guard let payload else {
                    try update.execute([service, nil, nil, last])
                    continue
                }
                // What cannot be read is where its columns say: the integrity check names it.
                let type = (try? PointRecord.decode(payload))?.coordinateType ?? .wgs84
                let cell = place.map { PlaceCell.number(of: KnownPlace($0, type).wgs84) }
                try update.execute([service, type.number, cell, last])
            }
            if rows.count < rowsAtOnce { return }
        }
    }

    private static func service(_ number: Int64) throws -> ServiceID {
        guard let service = ServiceID(rawValue: number) else {
            throw TrackStoreError(.corrupt, "an entity has the service \(number), which is no number of a service")
        }
        return service
    }
}
