import FenceFiles
import GeoPackageFile
import Geofencing
import TrackFiles
import TrackModel

/// The features of a file: GeoJSON, GPX, KML, or a layer of a GeoPackage.
struct FenceSource: FeatureReader {
    private enum Format {
        case text(FileFeatures)
        case package(GeoPackageFeatures<GeoPackageStatement>)
    }

    private var format: Format
    /// The layer of a GeoPackage, also when it was not named.
    let layer: String?

    /// - Throws: ``CommandFailure`` that names the file.
    init(_ path: String, layer: String?) throws(CommandFailure) {
        do throws(FenceFileError) {
            if GeoPackageFile.isSQLite(path: path) {
                let file = try GeoPackageFile(path: path, mostHeapBytes: 512 << 20)
                let chosen = try GeoPackageLayer.layer(named: layer, of: file)
                format = .package(try GeoPackageFeatures(chosen, of: file))
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
            format = .text(try FileFeatures(source))
            self.layer = nil
        } catch {
            throw Self.failure(path, error)
        }
    }

    mutating func next() throws(FenceFileError) -> FileFeature? {
        switch format {
        case .text(var reader):
            defer { format = .text(reader) }
            return try reader.next()
        case .package(var reader):
            defer { format = .package(reader) }
            return try reader.next()
        }
    }

    static func failure(_ path: String, _ error: FenceFileError) -> CommandFailure {
        CommandFailure(.failed, "\(path): \(error)".printable)
    }

    /// What a file makes of the fences that are there.
    static func plan(
        _ path: String, _ files: FenceFileOptions, _ rules: FenceRuleOptions, named name: String,
        existing: (String?) async throws -> [Fence], now: Int64
    ) async throws -> (plan: ImportPlan, layer: String?, existing: [Fence]) {
        var source = try FenceSource(path, layer: files.layer)
        var options = try files.options(file: name, layer: source.layer)
        options.settings = try rules.settings(of: nil, now: now)
        let known = try await existing(source.layer)
        do throws(FenceFileError) {
            var work = FenceImport(options, existing: known, at: Timestamp(milliseconds: now))
            try work.add(&source)
            return (try work.finished(), source.layer, known)
        } catch {
            throw failure(path, error)
        }
    }
}
