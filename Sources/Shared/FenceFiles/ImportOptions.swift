package import Geodesy
package import Geofencing
package import TrackModel

/// Which features of a file become fences, and how.
package struct ImportOptions: Hashable, Sendable {
    /// The name under which a second import finds the fences of the first.
    package var file: String
    /// Of a file with several layers.
    package var layer: String?
    package var condition: WhereClause?
    package var area: ImportArea?
    /// Metres around each feature. Without it, the property `buffer` counts.
    package var buffer: Double?
    /// Points become circles, for readers that know no points.
    package var makesCirclesOfPoints = false
    /// The property that tells features apart; without it the feature's own id does, and else its number in the file.
    package var idColumn: String?
    /// The property with the name.
    package var nameColumn = "name"
    /// The property with the floor.
    package var floorColumn: String?
    /// The datum of the file's coordinates, and of the area's.
    package var datum = Datum.wgs84
    /// Whom a new fence watches, if neither the settings nor the file say so.
    package var usualWatch = FenceSubjects.nobody
    /// Names that a fence may not watch, because nothing has them.
    package var unknownEntities: Set<ExactName> = []
    package var settings = ImportSettings()
    package var limits = FenceFileLimits()

    package init(file: String) {
        self.file = file
    }
}

/// What an import says of each of its fences. What it leaves out stays as it is with a fence that was imported before, and is
/// the usual with a new one.
package struct ImportSettings: Hashable, Sendable {
    package var rule: FenceRule?
    /// Counts when the rule is given.
    package var stay: StayAlarmRule?
    package var settle: Int?
    package var isInitialTold: Bool?
    package var through: Bool?
    package var crossingGap: Int?
    package var denoise: Int32?
    package var altitude: AltitudeRange?
    package var watch: FenceSubjects?
    package var group: String?
    package var validity: FenceValidity?
    package var speedLimit: SpeedLimit?
    /// `{column}` in a text of their parameters stands for the feature's attribute.
    package var reactions: [FenceReaction]?
    package var isReported: Bool?

    package init() {}

    package func apply(to definition: inout FenceDefinition) {
        if let rule { (definition.rule, definition.stay) = (rule, stay) }
        if let settle { definition.settle = settle }
        if let isInitialTold { definition.isInitialTold = isInitialTold }
        if let through { definition.through = through }
        if let crossingGap { definition.crossingGap = crossingGap }
        if let altitude { definition.altitude = altitude }
        if let isReported { definition.isReported = isReported }
        if let denoise { definition.denoise = denoise }
        if let watch { definition.watch = watch }
        if let group { definition.group = group }
        if let validity { definition.validity = validity }
        if let speedLimit { definition.speedLimit = speedLimit }
        if let reactions { definition.reactions = reactions }
    }
}

/// The area in which a feature must lie to become a fence: a box, or a polygon.
package struct ImportArea: Hashable, Sendable {
    package static let mostVertices = 1000

    private let shape: Shape
    private let isBox: Bool
    /// Metres: an edge along the area's own boundary is in it, whatever rounding says.
    private static let tolerance = 0.5

    /// A box in degrees; the western edge may have a greater longitude than the eastern one.
    ///
    /// - Throws: ``FenceFileError`` for a box without an area.
    package init(south: Double, west: Double, north: Double, east: Double) throws(FenceFileError) {
        guard [south, west, north, east].allSatisfy(\.isFinite), south < north, west != east else {
            throw FenceFileError(
                "the area \(south), \(west) to \(north), \(east) is no box: give its south-west corner, then its north-east one"
            )
        }
        let width = east > west ? east - west : east - west + 360
        // Steps of less than half a turn, so that the way round is known.
        let columns = (0...4).map { step in
            let longitude = west + width * Double(step) / 4
            return longitude > 180 ? longitude - 360 : longitude
        }
        let ring =
            columns.map { Degrees(latitude: south, longitude: $0) }
            + columns.reversed().map { Degrees(latitude: north, longitude: $0) }
        try self.init(ring: ring, isBox: true)
    }

    /// - Throws: ``FenceFileError`` for a polygon that breaks a rule of shapes.
    package init(polygon: [Degrees]) throws(FenceFileError) {
        guard polygon.count <= Self.mostVertices else {
            throw FenceFileError("the area has \(polygon.count) vertices: at most \(Self.mostVertices)")
        }
        try self.init(ring: polygon, isBox: false)
    }

    private init(ring: [Degrees], isBox: Bool) throws(FenceFileError) {
        do throws(ShapeError) {
            shape = try ShapeDraft(.polygon([[ring]])).shape()
        } catch {
            throw FenceFileError("the area: \(error)")
        }
        self.isBox = isBox
    }

    /// Whether all of a geometry is in the area. A buffer does not count. A place that is none is not.
    package func contains(_ geometry: FeatureGeometry) -> Bool {
        geometry.parts.allSatisfy { part in
            switch part {
            case .point(let place): contains([place], isRing: false)
            case .line(let line): contains(line, isRing: false)
            case .polygon(let parts): parts.allSatisfy { $0.allSatisfy { contains($0, isRing: true) } }
            }
        }
    }

    private func contains(_ line: [Degrees], isRing: Bool) -> Bool {
        var places: [Coordinate] = []
        for vertex in line {
            guard let place = Coordinate(latitude: vertex.latitude, longitude: vertex.longitude), shape.contains(place)
            else { return false }
            places.append(place)
        }
        // Between two places of a box that is not as wide as the earth there is nothing else.
        if isBox { return true }
        if isRing, let first = places.first { places.append(first) }
        return zip(places, places.dropFirst()).allSatisfy { isInside(Way(from: $0, to: $1)) }
    }

    private func isInside(_ way: Way) -> Bool {
        guard way.start != way.end else { return true }
        var end = 0.0
        for part in shape.passage(of: way).parts {
            guard isInside(way, from: end, to: part.lowerBound) else { return false }
            end = part.upperBound
        }
        return isInside(way, from: end, to: 1)
    }

    private func isInside(_ way: Way, from start: Double, to end: Double) -> Bool {
        end <= start || shape.signedDistance(to: way.place(at: (start + end) / 2)) <= Self.tolerance
    }
}
