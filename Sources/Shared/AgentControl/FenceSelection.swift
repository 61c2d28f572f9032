package import TrackModel

/// Which fences a call concerns. A fence must match all conditions.
package struct FenceSelection: Hashable, Sendable {
    /// Whose fences.
    package enum Source: String, Hashable, Sendable, CaseIterable {
        /// The vehicle's own.
        case local
        /// The server's.
        case server
    }

    package var source = Source.local
    package var fences: [Int64]?
    package var name: String?
    package var group: String?
    /// Watched by the fence. `DeleteFences`: by nobody else.
    package var entity: String?
    /// The name of the file from which it was imported, and of the layer.
    package var file: String?
    package var layer: String?
    /// Only greater numbers.
    package var after: Int64
    /// 1 to ``maximumCount``.
    package var limit: Int64

    package static let maximumCount: Int64 = 1000

    package init(
        fences: [Int64]? = nil, name: String? = nil, group: String? = nil, entity: String? = nil, file: String? = nil,
        layer: String? = nil, after: Int64 = 0, limit: Int64 = 100
    ) {
        self.fences = fences
        self.name = name
        self.group = group
        self.entity = entity
        self.file = file
        self.layer = layer
        self.after = after
        self.limit = limit
    }

    /// Every fence matches, but for its number.
    package var hasNoCondition: Bool {
        fences == nil && name == nil && group == nil && entity == nil && file == nil && layer == nil
    }
}

/// One part of an import: see docs/control.md.
package struct FenceImportPart: Hashable, Sendable {
    package var file: String
    package var layer: String?
    package var text: String
    /// The caller's name for an import in several parts.
    package var importID: String?
    /// From 0.
    package var part: Int64
    package var isLast: Bool

    package init(
        file: String, layer: String? = nil, text: String, importID: String? = nil, part: Int64 = 0, isLast: Bool = true
    ) {
        self.file = file
        self.layer = layer
        self.text = text
        self.importID = importID
        self.part = part
        self.isLast = isLast
    }
}

/// A place to ask about, as it was given.
package struct AssumedPlace: Hashable, Sendable {
    /// Degrees.
    package var latitude: Double
    package var longitude: Double
    package var coordinateType: CoordinateType

    package init(latitude: Double, longitude: Double, coordinateType: CoordinateType = .wgs84) {
        self.latitude = latitude
        self.longitude = longitude
        self.coordinateType = coordinateType
    }
}
