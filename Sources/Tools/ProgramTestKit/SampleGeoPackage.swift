import CSQLite

/// Writes GeoPackages for tests, and SQLite files that are none.
package enum SampleGeoPackage {
    /// The tables that every GeoPackage has, without a layer.
    package static let tables = """
        PRAGMA application_id = 1196444487;
        CREATE TABLE gpkg_spatial_ref_sys (
            srs_name TEXT, srs_id INTEGER PRIMARY KEY, organization TEXT, organization_coordsys_id INTEGER, definition TEXT);
        INSERT INTO gpkg_spatial_ref_sys VALUES ('WGS 84', 4326, 'EPSG', 4326, ''), ('Mercator', 3857, 'EPSG', 3857, '');
        CREATE TABLE gpkg_contents (table_name TEXT PRIMARY KEY, data_type TEXT, identifier TEXT, srs_id INTEGER);
        CREATE TABLE gpkg_geometry_columns (
            table_name TEXT, column_name TEXT, geometry_type_name TEXT, srs_id INTEGER, z INTEGER, m INTEGER);
        """

    /// Statements for an empty layer with a geometry, a name and a size.
    package static func layer(_ name: String, system: Int = 4326) -> String {
        """
        CREATE TABLE "\(name)" (fid INTEGER PRIMARY KEY, geom BLOB, name TEXT, size REAL);
        \(registered(name, system: system))
        """
    }

    /// Statements that tell the file of a table or a view.
    package static func registered(_ name: String, system: Int = 4326) -> String {
        """
        INSERT INTO gpkg_contents VALUES ('\(name)', 'features', '\(name)', \(system));
        INSERT INTO gpkg_geometry_columns VALUES ('\(name)', 'geom', 'GEOMETRY', \(system), 0, 0);
        """
    }

    /// A point as a blob literal.
    package static func point(_ latitude: Double, _ longitude: Double) -> String {
        literal([1, 1, 0, 0, 0], [(latitude, longitude)])
    }

    /// A polygon without holes as a blob literal. The ring is closed: its last place is the first.
    package static func polygon(_ ring: [(latitude: Double, longitude: Double)]) -> String {
        literal([1, 3, 0, 0, 0, 1, 0, 0, 0, UInt8(ring.count), 0, 0, 0], ring)
    }

    /// The header of a GeoPackage's geometry without its box, in WGS 84; well-known binary.
    private static func literal(_ head: [UInt8], _ places: [(latitude: Double, longitude: Double)]) -> String {
        var bytes = Array("GP".utf8) + [0, 1, 0xE6, 0x10, 0, 0] + head
        for number in places.flatMap({ [$0.longitude, $0.latitude] }) {
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: number.bitPattern >> UInt64(8 * $0)) }
        }
        return "x'" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
    }

    /// Runs statements on a file, which is made when it is not there.
    package static func write(_ path: String, _ statements: String...) throws {
        var database: OpaquePointer?
        defer { sqlite3_close_v2(database) }
        let opened = sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
        for statement in statements {
            guard opened == SQLITE_OK, sqlite3_exec(database, statement, nil, nil, nil) == SQLITE_OK else {
                throw Trouble("SQLite: \(String(cString: sqlite3_errmsg(database)))")
            }
        }
    }
}
