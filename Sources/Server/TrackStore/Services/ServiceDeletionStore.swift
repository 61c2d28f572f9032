package import TrackModel

/// Services that go with everything in them.
///
/// A deletion has two parts. The first is one short transaction, after which nobody finds the service any more. The second
/// removes what the service had, in bounded transactions, and goes on wherever it was cut off.
package protocol ServiceDeletionStore: Sendable {
    /// What a service has. Throws `.unknownService`.
    func holdings(of service: ServiceID) async throws(TrackStoreError) -> ServiceHoldings
    /// From its return on, the service and its keys, tokens and devices open nothing, nothing can be added to it, and no points
    /// are stored. Its number is never given out again: the ring of a vehicle that still has it may hold points of the former
    /// service. Throws `.unknownService`.
    func deleteService(_ service: ServiceID) async throws(TrackStoreError)
    /// Removes rows of deleted services in one transaction, `limit` or a few more; returns how many. 0: nothing is left of any.
    func removeDeletedServices(limit: Int) async throws(TrackStoreError) -> Int
    /// Those of some services that were deleted. Costs next to nothing.
    func deletedServices(among services: Set<ServiceID>) async throws(TrackStoreError) -> Set<ServiceID>
}

/// What goes with a service.
package struct ServiceHoldings: Hashable, Sendable {
    package var entities: Int
    /// As ``StoreCounts/points``.
    package var points: Int
    /// Those that have ended, too.
    package var keys: Int
    package var devices: Int

    package init(entities: Int = 0, points: Int = 0, keys: Int = 0, devices: Int = 0) {
        (self.entities, self.points, self.keys, self.devices) = (entities, points, keys, devices)
    }
}
