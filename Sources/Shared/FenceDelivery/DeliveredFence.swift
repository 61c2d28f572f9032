package import Geofencing
package import TrackModel

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

    init(_ fence: Fence, since: Timestamp, group: GroupCode?) {
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
