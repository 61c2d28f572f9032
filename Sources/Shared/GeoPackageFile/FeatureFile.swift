package import FenceFiles
internal import TrackFiles

/// The features of a file: GeoJSON, GPX, KML, or a layer of a GeoPackage.
package struct FeatureFile: FeatureReader {
    private enum Format {
        case text(FileFeatures)
        case package(GeoPackageFeatures<GeoPackageStatement>)
    }

    private var format: Format
    /// The layer of a GeoPackage, also when it was not named; nil for other files.
    package let layer: String?

    /// `layer` nil: the only one of a GeoPackage. While the features of a GeoPackage are read, SQLite takes at most
    /// `mostHeapBytes` in the whole process.
    ///
    /// - Throws: ``FenceFileError`` without the file's name: for a file of another kind, for a damaged one, for a layer that is
    ///   not there or not in WGS 84, and for a layer of a file that has none.
    package init(
        path: String, layer: String?, limits: FenceFileLimits = FenceFileLimits(), mostHeapBytes: Int64 = 512 << 20
    ) throws(FenceFileError) {
        if GeoPackageFile.isSQLite(path: path) {
            let file = try GeoPackageFile(path: path, mostHeapBytes: mostHeapBytes)
            let chosen = try GeoPackageLayer.layer(named: layer, of: file)
            format = .package(try GeoPackageFeatures(chosen, of: file, limits: limits))
            self.layer = chosen.table
            return
        }
        guard layer == nil else {
            throw FenceFileError("it is no GeoPackage, and only a GeoPackage has layers: leave out --layer")
        }
        let source: ByteSource
        do throws(TrackFileError) {
            source = try ByteSource(path: path)
        } catch {
            throw FenceFileError(error.description)
        }
        format = .text(try FileFeatures(source, limits: limits))
        self.layer = nil
    }

    package mutating func next() throws(FenceFileError) -> FileFeature? {
        switch format {
        case .text(var reader):
            defer { format = .text(reader) }
            return try reader.next()
        case .package(var reader):
            defer { format = .package(reader) }
            return try reader.next()
        }
    }
}
