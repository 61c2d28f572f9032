/// A fix as one point of an entity's track, with the values of the service's track columns.
package struct TrackPoint: Hashable, Sendable {
    package var fix: Fix
    /// The datum of `fix.coordinate`; points gathered from a receiver are always WGS 84.
    package var coordinateType: CoordinateType
    /// Name of an attached object (the Web API's `object_name`), at most 128 bytes of UTF-8.
    package var objectName: String?
    /// Values by track column key. At most ``AttributeValue/maximumCount`` entries.
    package var attributes: [String: AttributeValue]
    /// The vehicle was parked: the place is that of the whole stay, not one fix's, and few such points stand for many fixes.
    package var isParked: Bool
    /// What the agent says about the time before the point; nil when no agent gathered the point, or an older one did.
    package var continuity: Continuity?

    package init(
        _ fix: Fix, coordinateType: CoordinateType = .wgs84, objectName: String? = nil,
        attributes: [String: AttributeValue] = [:], isParked: Bool = false, continuity: Continuity? = nil
    ) {
        self.fix = fix
        self.coordinateType = coordinateType
        self.objectName = objectName
        self.attributes = attributes
        self.isParked = isParked
        self.continuity = continuity
    }
}

/// The value of one custom attribute, typed as its track column is.
package enum AttributeValue: Hashable, Sendable {
    case integer(Int64)
    /// Finite.
    case double(Double)
    /// At most ``maximumStringBytes`` bytes of UTF-8.
    case string(String)

    /// Attributes a point may carry.
    package static let maximumCount = 64
    /// Longest string value and longest key, bytes of UTF-8.
    package static let maximumStringBytes = 1024
    package static let maximumKeyBytes = 128
}
