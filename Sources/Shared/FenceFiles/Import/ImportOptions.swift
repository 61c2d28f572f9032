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
    package var usualWatch = FenceWatch.nobody
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
    package var stay: StayRule?
    package var settle: Int?
    package var isInitialTold: Bool?
    package var through: Bool?
    package var crossingGap: Int?
    package var denoise: Int32?
    package var altitude: AltitudeRange?
    package var watch: FenceWatch?
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
