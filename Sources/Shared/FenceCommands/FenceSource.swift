package import FenceArguments
package import FenceFiles
package import GeoPackageFile
package import Geofencing
internal import Terminal
internal import TrackModel

/// Files of fences, with errors that name the file.
package enum FenceSource {
    /// - Throws: ``FenceCommandFailure`` that names the file.
    package static func opened(_ path: String, layer: String?) throws(FenceCommandFailure) -> FeatureFile {
        do throws(FenceFileError) {
            return try FeatureFile(path: path, layer: layer)
        } catch {
            throw failure(path, error)
        }
    }

    package static func failure(_ path: String, _ error: FenceFileError) -> FenceCommandFailure {
        FenceCommandFailure(.failed, "\(path): \(error)".printable)
    }

    /// What a file makes of the fences that are there.
    package static func plan(
        _ path: String, _ files: FenceFileOptions, _ rules: FenceRuleOptions, named name: String,
        isReportable: Bool? = nil,
        existing: (String?) async throws -> [Fence], now: Int64
    ) async throws -> (plan: ImportPlan, layer: String?, existing: [Fence]) {
        var source = try opened(path, layer: files.layer)
        var options = try files.options(file: name, layer: source.layer)
        (options.limits, options.usualWatch) = (.agent, .everyone)
        options.settings = try rules.settings(of: nil, now: now, isReportable: isReportable)
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

/// Features of a file that cannot become fences.
package enum RefusedFeatures {
    /// So many are told one by one.
    private static let told = 10

    /// Sentences for standard error.
    package static func lines(_ plan: ImportPlan, of file: String) -> [String] {
        var lines = plan.refusals.prefix(told).map { "\(file): \($0)".printable }
        let rest = Int64(plan.refused - min(plan.refusals.count, told))
        if rest > 0 { lines.append("\(file.printable): and \(Quantity.count(rest, "feature")) more") }
        return lines
    }
}
