import ArgumentParser
import FenceFiles
import Geodesy
import Geofencing

/// Which features of a file become fences, and how.
struct FenceFileOptions: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The layer of a GeoPackage that has several.", valueName: "name"))
    var layer: String?

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "Only features whose attributes keep this condition, as in \"kind = 'depot' AND size > 2\".",
            valueName: "condition"))
    var condition: String?

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp(
            "Only features in this area: two places are the south-west and north-east corner of a box, more are a polygon.",
            valueName: "places"))
    var within: String?

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp(
            "Metres around each feature; lines become corridors, points circles (default: the property buffer).",
            valueName: "m"))
    var buffer: Double?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The attribute that tells features apart (default: the feature's id, or its number in the file).",
            valueName: "column"))
    var idColumn: String?

    @Option(name: .long, help: ArgumentHelp("The attribute with the fence's name.", valueName: "column"))
    var nameColumn = "name"

    @Option(
        name: .long,
        help: ArgumentHelp("The attribute with the floor on which the fence counts.", valueName: "column"))
    var floorColumn: String?

    @Option(help: "The datum of the file's coordinates and of --within.")
    var datum: DatumArgument = .wgs84

    func validate() throws { _ = try options(file: "x", layer: nil) }

    /// Whether any of them is given.
    var isGiven: Bool {
        layer != nil || condition != nil || within != nil || buffer != nil || idColumn != nil || nameColumn != "name"
            || floorColumn != nil || datum != .wgs84
    }

    func options(file: String, layer: String?) throws -> ImportOptions {
        var options = ImportOptions(file: file)
        options.layer = layer
        (options.idColumn, options.nameColumn, options.floorColumn) = (idColumn, nameColumn, floorColumn)
        (options.datum, options.limits, options.usualWatch) = (datum.datum, .agent, .everyone)
        if let buffer {
            guard buffer >= 0, buffer <= ShapeDraft.mostBuffer else {
                throw ValidationError("--buffer \(buffer) is not allowed: give 0 to 100000 metres")
            }
            options.buffer = buffer
        }
        do throws(FenceFileError) {
            options.condition = try condition.map { (text) throws(FenceFileError) in try WhereClause(text) }
        } catch {
            throw ValidationError("--where: \(error)".printable)
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
