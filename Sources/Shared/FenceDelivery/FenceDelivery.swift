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

/// A server fence as the vehicle has it.
package struct DeliveredFence: Hashable, Sendable {
    /// It watches the vehicle's entity alone: the vehicle does not hear whom else the fence watches.
    package let fence: Fence
    /// Since when the fence watches the entity. Earlier points are not judged.
    package let since: Timestamp
    /// Nil: the fence is in no group. The server makes the code of everybody whom the fence watches.
    package let group: GroupCode?

    package init(_ fence: Fence, since: Timestamp, of entity: String) {
        self.fence = fence.watching((try? FenceSubjects([entity])) ?? .nobody)
        self.since = since
        group = fence.definition.group.map { GroupCode(name: $0, watch: fence.definition.watch.scope) }
    }

    /// `fence`: as the vehicle has it.
    package init(_ fence: Fence, since: Timestamp, group: GroupCode?) {
        self.fence = fence
        self.since = since
        self.group = group
    }

    /// What is judged: on the vehicle the same as at the server.
    ///
    /// - Throws: ``FenceError`` when the weekly windows name a zone and `zone` is nil.
    package func plan(zone: ZoneOffsets? = nil) throws(FenceError) -> FencePlan {
        var plan = try fence.plan(from: since, zone: zone)
        plan.group = group
        return plan
    }

    /// What is judged when the vehicle got the fence after it had judged the points up to a time. `former`: the fence as it
    /// had it before.
    ///
    /// - Throws: as ``plan(zone:)``.
    package func plan(
        takenAfter time: Timestamp, former: DeliveredFence?, zone: ZoneOffsets? = nil
    ) throws(FenceError) -> FencePlan {
        var plan = try plan(zone: zone)
        plan.taken(after: time, former: former.map { ($0.fence, $0.since) })
        return plan
    }
}

/// Why a delivery cannot be used.
package struct FenceDeliveryError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
