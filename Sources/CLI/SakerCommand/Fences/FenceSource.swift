import FenceArguments
import FenceFiles
import GeoPackageFile
import Geofencing
import TrackModel

/// Files of fences, with errors that name the file.
enum FenceSource {
    /// - Throws: ``CommandFailure`` that names the file.
    static func opened(_ path: String, layer: String?) throws(CommandFailure) -> FeatureFile {
        do throws(FenceFileError) {
            return try FeatureFile(path: path, layer: layer)
        } catch {
            throw failure(path, error)
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
        var source = try opened(path, layer: files.layer)
        var options = try files.options(file: name, layer: source.layer)
        (options.limits, options.usualWatch) = (.agent, .everyone)
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
