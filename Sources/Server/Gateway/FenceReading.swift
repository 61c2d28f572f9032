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
    let everyones: SharedFenceCache
    /// What the names of time zones stand for, as the server judges by them.
    let zones: Zones
    /// Hears of fences that cannot be read.
    let tell: @Sendable (ServiceID, [UnreadableFence]) -> Void

    /// How often fences are read that somebody changes meanwhile.
    private static let tries = 3

    /// `mostBytes`: see ``SharedFenceCache``.
    init(
        _ store: any FenceStore, mostBytes: Int = 256 << 20, executor: (any TaskExecutor)? = nil,
        zones: @escaping Zones = { _ in nil },
        tell: @escaping @Sendable (ServiceID, [UnreadableFence]) -> Void = { _, _ in }
    ) {
        self.store = store
        self.zones = zones
        self.tell = tell
        everyones = SharedFenceCache(store, mostBytes: mostBytes, executor: executor, tell: tell)
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
            let snapshot = try await everyones.fences(of: entity.service, atLeast: own.version)
            // Both as they were at one version. Who is changed without a pause: what the last change brings comes with the
            // difference to the earlier version.
            guard own.version == snapshot.version || attempt == Self.tries else {
                attempt += 1
                continue
            }
            if !own.unreadable.isEmpty { tell(entity.service, own.unreadable) }
            let named = own.fences.flatMap(\.self)
            let numbers = Set(named.map(\.record.fence.id))
            let fences =
                named.isEmpty
                ? snapshot.fences : snapshot.fences.filter { !numbers.contains($0.record.fence.id) } + named
            return Self.update(
                fences, version: min(own.version, snapshot.version), of: entity, around: place, zones: zones)
        }
    }

    /// All fences, or as many of the nearest as a vehicle takes.
    static func update(
        _ fences: [SubjectFence], version: Int64, of entity: EntityKey, around place: Coordinate?,
        zones: @escaping Zones = { _ in nil }
    ) -> FenceFeed.Update {
        func parts(_ fences: some Sequence<SubjectFence>, _ reach: FenceDelivery.Reach?) -> [FenceUpdate]? {
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

/// The fences over everyone of some services, as the logins of vehicles need them: read once for each of their versions, and
/// shared by all who ask meanwhile.
actor SharedFenceCache {
    /// The fences as they were at a version.
    struct FencesAtVersion: Sendable {
        let version: Int64
        /// In the order of their numbers.
        let fences: [SubjectFence]
        let bytes: Int
    }

    private let store: any FenceStore
    private let most: Int
    /// The one that was asked for last is last.
    private var snapshots: [(service: ServiceID, snapshot: FencesAtVersion)] = []
    private var reading: [ServiceID: Task<Result<FencesAtVersion, TrackStoreError>, Never>] = [:]
    private let tell: @Sendable (ServiceID, [UnreadableFence]) -> Void
    private let executor: (any TaskExecutor)?

    /// `mostBytes`: of all services together, about; the fences of a service with more are read for each question. `tell`
    /// hears of fences that cannot be read.
    init(
        _ store: any FenceStore, mostBytes: Int = 256 << 20, executor: (any TaskExecutor)? = nil,
        tell: @escaping @Sendable (ServiceID, [UnreadableFence]) -> Void = { _, _ in }
    ) {
        self.store = store
        self.executor = executor
        most = mostBytes
        self.tell = tell
    }

    /// The fences of a service over everyone, as they are at this version or at a later one.
    func fences(of service: ServiceID, atLeast version: Int64) async throws(TrackStoreError) -> FencesAtVersion {
        while true {
            let known = snapshot(of: service)
            if let known, known.version >= version { return known }
            let task = reading[service] ?? read(service, after: known)
            let snapshot = try await task.value.get()
            // Somebody else may have begun to read before this version was made.
            if snapshot.version >= version { return snapshot }
        }
    }

    /// It is no part of who asks: others wait for it too.
    private func read(_ service: ServiceID, after known: FencesAtVersion?) -> Task<
        Result<FencesAtVersion, TrackStoreError>, Never
    > {
        let (store, tell) = (store, tell)
        let task = Task(executorPreference: executor) { [self] in
            let result = await Self.read(service, known, store, tell)
            // Before anybody hears of the end, so that nobody waits for it again.
            await ended(result, of: service)
            return result
        }
        reading[service] = task
        return task
    }

    private func ended(_ result: Result<FencesAtVersion, TrackStoreError>, of service: ServiceID) {
        reading[service] = nil
        if case .success(let snapshot) = result { keep(snapshot, of: service) }
    }

    private func snapshot(of service: ServiceID) -> FencesAtVersion? {
        guard let index = snapshots.lastIndex(where: { $0.service == service }) else { return nil }
        snapshots.append(snapshots.remove(at: index))
        return snapshots.last?.snapshot
    }

    private func keep(_ snapshot: FencesAtVersion, of service: ServiceID) {
        snapshots.removeAll { $0.service == service }
        snapshots.append((service, snapshot))
        var bytes = snapshots.reduce(0) { $0 + $1.snapshot.bytes }
        while bytes > most, let oldest = snapshots.first {
            bytes -= oldest.snapshot.bytes
            snapshots.removeFirst()
        }
    }

    /// Services whose fences are kept.
    var count: Int { snapshots.count }

    // MARK: Reading

    private static func read(
        _ service: ServiceID, _ known: FencesAtVersion?, _ store: any FenceStore,
        _ tell: @Sendable (ServiceID, [UnreadableFence]) -> Void
    ) async -> Result<FencesAtVersion, TrackStoreError> {
        do throws(TrackStoreError) {
            let (snapshot, unreadable) = try await snapshot(of: service, after: known, store)
            if !unreadable.isEmpty { tell(service, unreadable) }
            return .success(snapshot)
        } catch {
            return .failure(error)
        }
    }

    private static func snapshot(
        of service: ServiceID, after known: FencesAtVersion?, _ store: any FenceStore
    ) async throws(TrackStoreError) -> (FencesAtVersion, [UnreadableFence]) {
        if let known {
            // No fence names nobody: only fences over everyone concern this entity.
            let nobody = EntityKey(service: service, name: "")
            let difference = try await store.fenceDifference(of: nobody, since: known.version)
            if let changes = difference.changes {
                return (Self.snapshot(known.fences, changes, difference.version), difference.unreadable)
            }
        }
        // What changes while the fences are read has a later version, and comes with the difference to this one.
        let version = try await store.fences(naming: []).version
        let everyones = FenceFilter(watch: .everyone)
        let found = try await store.allReadableFences(in: service, matching: everyones, atOnce: 5000)
        let fences = found.fences.compactMap { record in
            record.everyoneSince.map { SubjectFence(record: record, since: $0) }
        }
        return (snapshot(fences, [], version), found.unreadable)
    }

    private static func snapshot(
        _ fences: [SubjectFence], _ changes: [FenceDifference.Change], _ version: Int64
    ) -> FencesAtVersion {
        var fences = fences
        if !changes.isEmpty {
            let gone = Set(changes.map(\.fence))
            fences.removeAll { gone.contains($0.record.fence.id) }
            fences += changes.compactMap(\.present)
            fences.sort { $0.record.fence.id < $1.record.fence.id }
        }
        return FencesAtVersion(version: version, fences: fences, bytes: fences.reduce(0) { $0 + $1.bytes })
    }
}

extension SubjectFence {
    /// Of memory, about: the fence, its vertices as they were given and as they are judged, its texts.
    fileprivate var bytes: Int {
        let definition = record.fence.definition
        let texts = definition.reactions.reduce(definition.name.utf8.count) { $0 + $1.parameters.utf8.count }
        return 800 + 24 * definition.shape.vertexCount + texts + (definition.origin?.attributes.utf8.count ?? 0)
    }
}
