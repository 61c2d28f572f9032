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
