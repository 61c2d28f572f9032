package import Geofencing
package import TrackModel

/// Server fences on their way to a vehicle: all that concern its entity, or the difference to a version that the vehicle has.
package struct FenceDelivery: Hashable, Sendable {
    /// A circle.
    package struct Reach: Hashable, Sendable {
        package let center: Coordinate
        package let metres: UInt32

        package init(center: Coordinate, metres: UInt32) {
            self.center = center
            self.metres = metres
        }
    }

    /// What the vehicle has afterwards; greater than 0.
    package let version: UInt64
    /// What the vehicle must have before; 0: the delivery replaces everything.
    package let base: UInt64
    package let fences: [DeliveredFence]
    /// Numbers of fences that do not concern the entity any more.
    package let removed: [Int32]
    /// Where the fences are complete; nil: everywhere.
    package let reach: Reach?
    /// What the time zones of the fences stand for at the server, by their names.
    package let zones: [String: ZoneOffsets]

    package init(
        version: UInt64, base: UInt64 = 0, fences: [DeliveredFence], removed: [Int32] = [], reach: Reach? = nil,
        zones: [String: ZoneOffsets] = [:]
    ) {
        self.version = version
        self.base = base
        self.fences = fences
        self.removed = removed
        self.reach = reach
        self.zones = zones
    }

    /// Most fences of a delivery, and on a vehicle.
    package static let mostFences = 10_000
    /// Most bytes of the content before it is compressed: some 200,000 vertices with their fences.
    package static let mostBytes = 8 << 20
    /// Most time zones of a delivery, bytes of a zone's name, and changes of a zone.
    static let (mostZones, mostZoneBytes, mostChanges) = (1000, 64, 10_000)
    /// Most bytes of the content in one message.
    static let partBytes = 128 << 10
    /// The format of fence sets that this program reads and writes.
    package static let format: UInt32 = 1
}
