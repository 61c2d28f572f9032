package import ArgumentParser
package import FenceFiles
internal import Geodesy
internal import Terminal

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
