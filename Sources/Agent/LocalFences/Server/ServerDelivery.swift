package import Geofencing
package import TrackModel

/// Server fences as they came: all that concern the entity, or the difference to a version that the box has.
package struct ServerDelivery: Hashable, Sendable {
    package var version: UInt64
    /// 0: the fences replace all that there are.
    package var base: UInt64
    package var fences: [ServerFence]
    package var removed: [Int32]
    package var reach: ServerReach?
    /// What the time zones of the fences stand for, by their names.
    package var zones: [String: ZoneOffsets]

    package init(
        version: UInt64, base: UInt64 = 0, fences: [ServerFence], removed: [Int32] = [], reach: ServerReach? = nil,
        zones: [String: ZoneOffsets] = [:]
    ) {
        self.version = version
        self.base = base
        self.fences = fences
        self.removed = removed
        self.reach = reach
        self.zones = zones
    }
}

/// The circle in which a set has every fence that concerns the entity.
package struct ServerReach: Hashable, Sendable {
    package var center: Coordinate
    package var metres: UInt32

    package init(center: Coordinate, metres: UInt32) {
        self.center = center
        self.metres = metres
    }
}

/// Points that are later than `after` were judged by this version, up to the next use.
package struct VersionUse: Hashable, Sendable {
    package var version: UInt64
    package var after: Timestamp
    /// The version that judged the points before; 0: none did.
    package var base: UInt64

    package init(version: UInt64, after: Timestamp, base: UInt64 = 0) {
        self.version = version
        self.after = after
        self.base = base
    }
}
