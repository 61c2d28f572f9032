/// A table of features in a GeoPackage.
package struct GeoPackageLayer: Hashable, Sendable {
    package let table: String
    package let geometryColumn: String
    /// The number of the layer's reference system in the file.
    package let system: Int32

    /// "GPKG", and what versions before 1.2 have in its place.
    private static let applications: Set<Int64> = [0x4750_4B47, 0x4750_3130, 0x4750_3131]

    static let application = GeoPackageQuery("PRAGMA application_id")
    static let layers = GeoPackageQuery(
        """
        SELECT g.table_name, g.column_name, g.srs_id, s.organization, s.organization_coordsys_id
        FROM gpkg_geometry_columns AS g
        JOIN gpkg_contents AS c ON c.table_name = g.table_name AND c.data_type = 'features'
        LEFT JOIN gpkg_spatial_ref_sys AS s ON s.srs_id = g.srs_id
        ORDER BY g.table_name
        """)

    var features: GeoPackageQuery { GeoPackageQuery("SELECT * FROM \(GeoPackageQuery.quoted(table))") }
    var key: GeoPackageQuery {
        GeoPackageQuery("SELECT name FROM pragma_table_info(?) WHERE pk = 1", [.text(table)])
    }

    /// The layer of a file: the named one, or the only one.
    ///
    /// - Throws: ``FenceFileError`` for a file that is no GeoPackage, for a layer that is not there or not in WGS 84, and when
    ///   one of several layers must be named.
    package static func layer(
        named name: String?, of database: some GeoPackageDatabase
    ) throws(FenceFileError) -> GeoPackageLayer {
        var application = try database.rows(of: Self.application)
        guard case .integer(let number)? = try application.next()?.first, applications.contains(number) else {
            throw FenceFileError("it is an SQLite file and no GeoPackage: its application id is not GPKG")
        }
        var rows = try database.rows(of: layers)
        var found: [(layer: GeoPackageLayer, system: String)] = []
        while let row = try rows.next() {
            guard row.count == 5, case .text(let table) = row[0], case .text(let column) = row[1],
                case .integer(let system) = row[2], let system = Int32(exactly: system)
            else { throw FenceFileError("its table gpkg_geometry_columns holds what it must not: the file is damaged") }
            found.append((GeoPackageLayer(table: table, geometryColumn: column, system: system), Self.name(of: row)))
        }
        let names = found.map(\.layer.table).joined(separator: ", ")
        guard !found.isEmpty else { throw FenceFileError("it has no layer of features") }
        guard name != nil || found.count == 1 else {
            throw FenceFileError("it has several layers, choose one with --layer: \(names)")
        }
        guard let chosen = name == nil ? found.first : found.first(where: { $0.layer.table == name }) else {
            throw FenceFileError("it has no layer \(FenceFileError.quoted(name ?? "")); there are \(names)")
        }
        guard chosen.system == "EPSG:4326" || chosen.system == "OGC:CRS84" else {
            throw FenceFileError(
                "the layer \(chosen.layer.table) is in \(chosen.system): only WGS 84 is read; convert the file with ogr2ogr"
                    + " -t_srs EPSG:4326")
        }
        return chosen.layer
    }

    private static func name(of row: [GeoPackageValue]) -> String {
        switch (row[3], row[4]) {
        case (.text(let organization), .integer(let number)): "\(organization.uppercased()):\(number)"
        case (.text(let organization), .text(let code)): "\(organization.uppercased()):\(code.uppercased())"
        default: "an unknown system"
        }
    }
}
