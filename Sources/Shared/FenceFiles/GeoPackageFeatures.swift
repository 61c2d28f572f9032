internal import JSON

/// The features of a layer of a GeoPackage, one after the other.
package struct GeoPackageFeatures<Rows: GeoPackageRows>: FeatureReader {
    private let layer: GeoPackageLayer
    private let limits: FenceFileLimits
    private var rows: Rows
    private let geometry: Int
    private let key: Int?
    private var number = 0

    /// - Throws: ``FenceFileError`` with what SQLite says, and for a table without its geometry.
    package init<Database: GeoPackageDatabase>(
        _ layer: GeoPackageLayer, of database: Database, limits: FenceFileLimits = FenceFileLimits()
    ) throws(FenceFileError) where Database.Rows == Rows {
        var keys = try database.rows(of: layer.key)
        var key: String?
        if case .text(let name)? = try keys.next()?.first { key = name }
        rows = try database.rows(of: layer.features)
        guard let geometry = rows.columns.firstIndex(of: layer.geometryColumn) else {
            throw FenceFileError("the layer \(layer.table) has no column \(layer.geometryColumn): the file is damaged")
        }
        self.geometry = geometry
        self.key = key.flatMap(rows.columns.firstIndex(of:))
        self.layer = layer
        self.limits = limits
    }

    package mutating func next() throws(FenceFileError) -> FileFeature? {
        guard let row = try rows.next() else { return nil }
        number += 1
        guard number <= limits.features else {
            throw FenceFileError("more than \(limits.features) features: take the file apart")
        }
        guard row.count == rows.columns.count else {
            throw FenceFileError("row \(number) has \(row.count) values, and there are \(rows.columns.count) columns")
        }
        let id = key.flatMap { Self.attribute(row[$0]) }.flatMap(GeoJSONGeometry.text)
        var properties: [String: JSONValue] = [:]
        for (index, name) in rows.columns.enumerated() where index != geometry {
            properties[name] = Self.attribute(row[index])
        }
        do throws(FenceFileError) {
            let geometry = try geometry(of: row)
            return .feature(FenceFeature(number: number, id: id, geometry: geometry, properties: properties))
        } catch {
            return .refused(
                RefusedFeature(number: number, id: id, reason: error.description, properties: properties))
        }
    }

    private func geometry(of row: [GeoPackageValue]) throws(FenceFileError) -> FeatureGeometry {
        guard case .blob(let bytes) = row[geometry] else {
            throw FenceFileError(
                row[geometry] == .null ? "it has no geometry: a fence needs a place" : "its geometry is no blob")
        }
        guard bytes.count <= limits.featureBytes else {
            throw FenceFileError("its geometry has more than \(limits.featureBytes >> 20) MiB: give it fewer vertices")
        }
        let read = try GeoPackageGeometry(bytes)
        // 0 and -1 say that the system is not known; the layer knows.
        guard [layer.system, 0, -1].contains(read.system) else {
            throw FenceFileError("its geometry is in the system \(read.system), and its layer in \(layer.system)")
        }
        guard !read.geometry.parts.isEmpty else { throw FenceFileError("its geometry is empty: a fence needs a place") }
        return read.geometry
    }

    /// Nil for a blob, which no attribute is.
    private static func attribute(_ value: GeoPackageValue) -> JSONValue? {
        switch value {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number): number.isFinite ? .double(number) : .null
        case .text(let text): .string(text)
        case .blob: nil
        }
    }
}

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

/// A value of a row of SQLite.
package enum GeoPackageValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}

/// A statement that reads, with the values of its question marks.
package struct GeoPackageQuery: Hashable, Sendable {
    package let sql: String
    package let arguments: [GeoPackageValue]

    init(_ sql: String, _ arguments: [GeoPackageValue] = []) {
        self.sql = sql
        self.arguments = arguments
    }

    /// A name of a table or a column inside a statement.
    static func quoted(_ name: String) -> String {
        "\"\(name.replacing("\"", with: "\"\""))\""
    }
}

/// The rows of one query, one after the other. Whoever has SQLite provides it.
package protocol GeoPackageRows {
    /// In the order of the values of a row.
    var columns: [String] { get }

    /// Nil after the last row.
    ///
    /// - Throws: ``FenceFileError`` with what SQLite says.
    mutating func next() throws(FenceFileError) -> [GeoPackageValue]?
}

/// An open GeoPackage, as SQLite sees it: opened to be read only, without trusted schema.
package protocol GeoPackageDatabase {
    associatedtype Rows: GeoPackageRows

    /// - Throws: ``FenceFileError`` with what SQLite says.
    func rows(of query: GeoPackageQuery) throws(FenceFileError) -> Rows
}
