import FenceDelivery
import Geodesy
import Geofencing
import TrackModel
import TrackStore
import TrackWire

/// Reads the server fences of an entity for its vehicle.
enum FenceReading {
    /// Fences of one question to the store.
    private static let page = 5000

    /// What the agent must hear of when it has a version; 0: everything. Nil: nothing.
    static func update(
        of entity: EntityKey, since version: Int64, around place: Coordinate?, in store: any FenceStore
    ) async throws(TrackStoreError) -> FenceFeed.Update? {
        guard version > 0 else { return try await whole(of: entity, around: place, in: store) }
        let difference = try await store.fenceDifference(of: entity, since: version)
        guard let changes = difference.changes else { return try await whole(of: entity, around: place, in: store) }
        guard !changes.isEmpty else { return nil }
        let fences = changes.compactMap(\.present).map {
            DeliveredFence($0.record.fence, since: $0.since, of: entity.name)
        }
        let removed = changes.filter { $0.present == nil }.map(\.fence)
        let delivery = FenceDelivery(
            version: UInt64(difference.version), base: UInt64(version), fences: fences, removed: removed)
        // More than a message may have: then the vehicle gets the nearest ones.
        guard let parts = try? delivery.updates() else { return try await whole(of: entity, around: place, in: store) }
        return FenceFeed.Update(version: difference.version, parts: parts)
    }

    private static func whole(
        of entity: EntityKey, around place: Coordinate?, in store: any FenceStore
    ) async throws(TrackStoreError) -> FenceFeed.Update {
        var fences: [WatchedFence] = []
        var version: Int64 = 0
        while true {
            let found = try await store.fences(watching: entity, page: Page(offset: fences.count, limit: page))
            // A change between two pages: what it brings comes with the difference to the earlier version.
            version = version == 0 ? found.version : min(version, found.version)
            fences += found.fences
            if found.fences.count < page { break }
        }
        return update(fences, version: version, of: entity, around: place)
    }

    /// All fences, or as many of the nearest as a vehicle takes.
    static func update(
        _ fences: [WatchedFence], version: Int64, of entity: EntityKey, around place: Coordinate?
    ) -> FenceFeed.Update {
        func parts(_ fences: some Sequence<WatchedFence>, _ reach: FenceDelivery.Reach?) -> [FenceUpdate]? {
            let delivered = fences.map { DeliveredFence($0.record.fence, since: $0.since, of: entity.name) }
            return try? FenceDelivery(version: UInt64(version), fences: delivered, reach: reach).updates()
        }
        if fences.count <= FenceDelivery.mostFences, let parts = parts(fences, nil) {
            return FenceFeed.Update(version: version, parts: parts)
        }
        // Without a place the vehicle gets none, and asks for those around it: any place is beyond this reach.
        let nowhere = Coordinate(latitudeE7: 0, longitudeE7: 0).map { FenceDelivery.Reach(center: $0, metres: 0) }
        guard let place else { return FenceFeed.Update(version: version, parts: parts([], nowhere) ?? []) }
        let byDistance = fences.map { (fence: $0, metres: $0.record.fence.shape.signedDistance(to: place)) }
            .sorted { $0.metres < $1.metres }
        var count = min(byDistance.count, FenceDelivery.mostFences)
        while count > 0 {
            let metres = count < byDistance.count ? max(0, byDistance[count].metres) : 1e9
            let reach = FenceDelivery.Reach(center: place, metres: UInt32(metres))
            if let parts = parts(byDistance.prefix(count).lazy.map(\.fence), reach) {
                return FenceFeed.Update(version: version, parts: parts)
            }
            count /= 2
        }
        return FenceFeed.Update(version: version, parts: parts([], nowhere) ?? [])
    }
}
