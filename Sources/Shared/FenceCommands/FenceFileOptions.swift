package import ArgumentParser
package import FenceFiles
package import GeoPackageFile
internal import Geodesy
package import Geofencing
internal import Terminal
internal import TrackModel

/// Which features of a file become fences, and how.
package struct FenceFileOptions: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The layer of a GeoPackage that has several.", valueName: "name"))
    package var layer: String?

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "Only features whose attributes keep this condition, as in \"kind = 'depot' AND size > 2\".",
            valueName: "condition"))
    package var condition: String?

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp(
            "Only features in this area: two places are the south-west and north-east corner of a box, more are a polygon.",
            valueName: "places"))
    package var within: String?

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp(
            "Metres around each feature; lines become corridors, points circles (default: the property buffer).",
            valueName: "m"))
    package var buffer: Double?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The attribute that tells features apart (default: the feature's id, or its number in the file).",
            valueName: "column"))
    package var idColumn: String?

    @Option(name: .long, help: ArgumentHelp("The attribute with the fence's name.", valueName: "column"))
    package var nameColumn = "name"

    @Option(
        name: .long,
        help: ArgumentHelp("The attribute with the floor on which the fence counts.", valueName: "column"))
    package var floorColumn: String?

    @Option(help: "The datum of the file's coordinates and of --within.")
    package var datum: DatumArgument = .wgs84

    package init() {}

    package func validate() throws { _ = try options(file: "x", layer: nil) }

    /// Whether any of them is given.
    package var isGiven: Bool {
        layer != nil || condition != nil || within != nil || buffer != nil || idColumn != nil || nameColumn != "name"
            || floorColumn != nil || datum != .wgs84
    }

    /// What the options say. `file`: the name under which a second import finds the fences. Limits, and whom a fence watches of
    /// which nothing is said, are the caller's.
    ///
    /// - Throws: `ValidationError` that names the option, its value and what is needed.
    package func options(file: String, layer: String?) throws -> ImportOptions {
        var options = ImportOptions(file: file)
        options.layer = layer
        (options.idColumn, options.nameColumn, options.floorColumn) = (idColumn, nameColumn, floorColumn)
        options.datum = datum.datum
        if let buffer {
            guard buffer >= 0, buffer <= ShapeDraft.mostBuffer else {
                throw ValidationError("--buffer \(buffer) is not allowed: give 0 to 100000 metres")
            }
            options.buffer = buffer
        }
        do throws(FenceFileError) {
            options.condition = try condition.map { (text) throws(FenceFileError) in try WhereClause(text) }
        } catch {
            throw ValidationError(TerminalText.safe("--where: \(error)"))
        }
        guard let within else { return options }
        let places = try PlaceText.places(within, "--within")
        do throws(FenceFileError) {
            switch places.count {
            case 1: throw FenceFileError("one place is no area: give two corners of a box, or a polygon")
            case 2:
                options.area = try ImportArea(
                    south: places[0].latitude, west: places[0].longitude, north: places[1].latitude,
                    east: places[1].longitude)
            default: options.area = try ImportArea(polygon: places)
            }
        } catch {
            throw ValidationError("--within: \(error)")
        }
        return options
    }
}

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
