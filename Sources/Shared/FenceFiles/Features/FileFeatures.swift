package import TrackFiles

/// The features of a file of text, known by how it begins: GeoJSON, GPX or KML.
package struct FileFeatures: FeatureReader {
    private enum Format {
        case geoJSON(GeoJSONFeatures)
        case markup(MarkupFeatures)
    }

    private var format: Format

    /// - Throws: ``FenceFileError`` for a file that is none of these. A GeoPackage needs SQLite: ``GeoPackageFeatures``.
    package init(_ source: ByteSource, limits: FenceFileLimits = FenceFileLimits()) throws(FenceFileError) {
        let first: UInt8?
        do throws(TrackFileError) { first = try source.begin() } catch { throw FenceFileError(error) }
        switch first {
        case UInt8(ascii: "{"): format = .geoJSON(GeoJSONFeatures(source, limits: limits))
        case UInt8(ascii: "<"): format = .markup(MarkupFeatures(source, limits: limits))
        case UInt8(ascii: "P"): throw FenceFileError("it looks like an archive, such as KMZ: unpack it first")
        case nil: throw FenceFileError("it is empty")
        default: throw FenceFileError("neither GeoJSON (begins with {) nor GPX or KML (begin with <)")
        }
    }

    package mutating func next() throws(FenceFileError) -> FileFeature? {
        switch format {
        case .geoJSON(var reader):
            defer { format = .geoJSON(reader) }
            return try reader.next()
        case .markup(var reader):
            defer { format = .markup(reader) }
            return try reader.next()
        }
    }
}
