import FenceDelivery
import Geodesy
import Geofencing
import TrackModel
import TrackStore
import TrackWire

/// Reads the server fences of an entity for its vehicle.
struct FenceReading: Sendable {
    typealias Zones = @Sendable (String) -> ZoneOffsets?

    let store: any FenceStore
    let everyones: EveryonesFences
    /// What the names of time zones stand for, as the server judges by them.
    let zones: Zones
    /// Hears of fences that cannot be read.
    let tell: @Sendable (ServiceID, [UnreadableFence]) -> Void

    /// How often fences are read that somebody changes meanwhile.
    private static let tries = 3

    /// `mostBytes`: see ``EveryonesFences``.
    init(
        _ store: any FenceStore, mostBytes: Int = 256 << 20, executor: (any TaskExecutor)? = nil,
        zones: @escaping Zones = { _ in nil },
        tell: @escaping @Sendable (ServiceID, [UnreadableFence]) -> Void = { _, _ in }
    ) {
        self.store = store
        self.zones = zones
        self.tell = tell
        everyones = EveryonesFences(store, mostBytes: mostBytes, executor: executor, tell: tell)
    }

    /// What the agent must hear of when it has a version; 0: everything. Nil: nothing.
    func update(
        of entity: EntityKey, since version: Int64, around place: Coordinate?
    ) async throws(TrackStoreError) -> FenceFeed.Update? {
        guard version > 0 else { return try await whole(of: entity, around: place) }
        let difference = try await store.fenceDifference(of: entity, since: version)
        guard let changes = difference.changes else { return try await whole(of: entity, around: place) }
        guard !changes.isEmpty else { return nil }
        if !difference.unreadable.isEmpty { tell(entity.service, difference.unreadable) }
        let fences = changes.compactMap(\.present).map {
            DeliveredFence($0.record.fence, since: $0.since, of: entity.name)
        }
        let removed = changes.filter { $0.present == nil }.map(\.fence)
        let delivery = FenceDelivery(
            version: UInt64(difference.version), base: UInt64(version), fences: fences, removed: removed,
            zones: Self.named(by: fences, zones))
        // More than a message may have: then the vehicle gets the nearest ones.
        guard let parts = try? delivery.updates() else { return try await whole(of: entity, around: place) }
        return FenceFeed.Update(version: difference.version, parts: parts)
    }

    private func whole(
        of entity: EntityKey, around place: Coordinate?
    ) async throws(TrackStoreError) -> FenceFeed.Update {
        var attempt = 1
        while true {
            let own = try await store.fences(naming: [entity])
            let shelf = try await everyones.fences(of: entity.service, atLeast: own.version)
            // Both as they were at one version. Who is changed without a pause: what the last change brings comes with the
            // difference to the earlier version.
            guard own.version == shelf.version || attempt == Self.tries else {
                attempt += 1
                continue
            }
            if !own.unreadable.isEmpty { tell(entity.service, own.unreadable) }
            let named = own.fences.flatMap(\.self)
            let numbers = Set(named.map(\.record.fence.id))
            let fences =
                named.isEmpty
                ? shelf.fences : shelf.fences.filter { !numbers.contains($0.record.fence.id) } + named
            return Self.update(
                fences, version: min(own.version, shelf.version), of: entity, around: place, zones: zones)
        }
    }

    /// All fences, or as many of the nearest as a vehicle takes.
    static func update(
        _ fences: [WatchedFence], version: Int64, of entity: EntityKey, around place: Coordinate?,
        zones: @escaping Zones = { _ in nil }
    ) -> FenceFeed.Update {
        func parts(_ fences: some Sequence<WatchedFence>, _ reach: FenceDelivery.Reach?) -> [FenceUpdate]? {
            let delivered = fences.map { DeliveredFence($0.record.fence, since: $0.since, of: entity.name) }
            return try? FenceDelivery(
                version: UInt64(version), fences: delivered, reach: reach, zones: named(by: delivered, zones)
            ).updates()
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

    /// The zones of the fences' weekly windows, as far as they are known here.
    private static func named(by fences: [DeliveredFence], _ zones: Zones) -> [String: ZoneOffsets] {
        let names = Set(fences.compactMap(\.fence.definition.validity?.zoneName))
        return Dictionary(
            names.compactMap { name in zones(name).map { (name, $0) } }, uniquingKeysWith: { first, _ in first })
    }
}
