import Geodesy
package import TrackModel
package import TrackStore

/// The storage contract in the plainest form: everything in memory, nothing clever, nothing kept after the process.
///
/// The measure for every other store, and a stand-in where a test needs a store but not its disk.
package actor ReferenceTrackStore: TrackStore {
    /// A stream for one entity of the present, not of a former one with its name.
    private struct ClaimKey: Hashable {
        let entity: EntityKey
        let stream: StreamID
    }

    private struct Claim {
        var epoch: Int64
        var storedThrough: UInt64
    }

    struct Entity {
        let number: Int64
        var record: EntityRecord
        /// In the order of storing.
        var points: [StoredPoint] = []
        var chunks = 0
        var version: Int64 = 0
        var fences: [UInt8]?
    }

    struct ColumnTable: Hashable {
        let service: ServiceID
        let kind: ColumnKind
    }

    var columnTable: [ColumnTable: [ColumnRecord]] = [:]
    var serviceList: [ServiceRecord] = []
    /// Deleted ones: their numbers do not come again.
    var formerServices: Set<ServiceID> = []
    var keyList: [AccessKeyRecord] = []
    var keyTimes: [AccessKeyUse: Timestamp] = [:]
    var deviceList: [DeviceRecord] = []
    /// One entry for each change; a device that was forgotten stays in it.
    var deviceLog: [DeviceID] = []
    var tokenTable = TokenTable()
    var entityTable: [EntityKey: Entity] = [:]
    private var lastEntity: Int64 = 0
    private var claims: [ClaimKey: Claim] = [:]
    private var lastStored: Timestamp?
    /// The last number that a claim or a version got.
    private var counter: Int64 = 0
    var pushList: [QueuedMessage] = []
    var lastMessage: Int64 = 0
    var fenceTable: [ServiceID: ServiceFences] = [:]
    /// The number of the last change of a fence, and of the last one that is not told any more.
    var fenceVersion: Int64 = 1
    var fenceNewsForgotten: Int64 = 1
    var fenceStates: [KeptFences] = []
    var fenceNewsList: [KeptNews] = []
    var alarmList: [KeptAlarm] = []
    var leftOut = 0
    var lastAlarm: Int64 = 0
    var callbackTable: [ServiceID: CallbackQueue] = [:]
    var districtList: [(entry: DistrictEntry, shape: ShapeDraft)] = []
    var districtVersion: Int64 = 0
    var lastDistrict: Int64 = 0
    var exportList: [KeptJob<ExportRecord>] = []
    var lastExport: Int64 = 0
    var routeJobs: [KeptJob<RouteJobRecord>] = []
    var lastRouteJob: Int64 = 0
    var healthList: [VehicleHealth] = []
    private var isClosed = false

    package init() {}

    /// Has what the other store has now, as a backup of it.
    package init(copying other: isolated ReferenceTrackStore) {
        (columnTable, serviceList, formerServices) = (other.columnTable, other.serviceList, other.formerServices)
        (keyList, keyTimes, tokenTable) = (other.keyList, other.keyTimes, other.tokenTable)
        (deviceList, deviceLog) = (other.deviceList, other.deviceLog)
        (entityTable, lastEntity, claims) = (other.entityTable, other.lastEntity, other.claims)
        (lastStored, counter) = (other.lastStored, other.counter)
        (pushList, lastMessage) = (other.pushList, other.lastMessage)
        (fenceTable, fenceVersion, fenceStates) = (other.fenceTable, other.fenceVersion, other.fenceStates)
        (fenceNewsForgotten, fenceNewsList) = (other.fenceNewsForgotten, other.fenceNewsList)
        (alarmList, lastAlarm, callbackTable) = (other.alarmList, other.lastAlarm, other.callbackTable)
        (districtList, districtVersion, lastDistrict) = (other.districtList, other.districtVersion, other.lastDistrict)
        (exportList, lastExport, healthList) = (other.exportList, other.lastExport, other.healthList)
        (routeJobs, lastRouteJob) = (other.routeJobs, other.lastRouteJob)
    }

    // MARK: Entities

    package func addEntity(
        _ entity: NewEntity, in service: ServiceID, at now: Timestamp
    ) throws(TrackStoreError) {
        try check(service)
        let key = EntityKey(service: service, name: entity.name)
        guard entityTable[key] == nil else {
            throw TrackStoreError(.entityExists, "the service has an entity of this name already")
        }
        insert(entity, key, at: now)
        entityTable[key]?.record.values = try known(entity.values, service)
    }

    package func updateEntity(
        _ change: EntityChange, in service: ServiceID, at now: Timestamp
    ) throws(TrackStoreError) {
        try check(service)
        let key = EntityKey(service: service, name: change.name)
        guard entityTable[key] != nil else {
            throw TrackStoreError(.unknownEntity, "the service has no entity of this name")
        }
        if let description = change.description { entityTable[key]?.record.description = description }
        let values = try known(change.values, service)
        entityTable[key]?.record.values.merge(values) { _, new in new }
        entityTable[key]?.record.modified = now
    }

    package func deleteEntity(
        named name: String, in service: ServiceID, at now: Timestamp
    ) throws(TrackStoreError) {
        try check(service)
        let key = EntityKey(service: service, name: name)
        guard entityTable.removeValue(forKey: key) != nil else {
            throw TrackStoreError(.unknownEntity, "the service has no entity of this name")
        }
        forgetTraces(of: key)
        withdrawPushes(of: key, at: now)
    }

    func forgetTraces(of key: EntityKey) {
        claims = claims.filter { $0.key.entity != key }
        healthList.removeAll { $0.entity == key }
        routeJobs.removeAll { $0.record.service == key.service && $0.record.order.entity == ExactName(key.name) }
    }

    package func entity(named name: String, in service: ServiceID) throws(TrackStoreError) -> EntityRecord? {
        try checkOpen()
        return entityTable[EntityKey(service: service, name: name)]?.record
    }

    package func entities(
        in service: ServiceID, matching filter: EntityFilter, page: Page
    ) throws(TrackStoreError) -> (total: Int, entities: [EntityRecord]) {
        let matches = try records(in: service, matching: filter)
        return (matches.count, Array(matches.dropFirst(max(0, page.offset)).prefix(max(0, page.limit))))
    }

    /// In the order of their names.
    func records(
        in service: ServiceID, matching filter: EntityFilter
    ) throws(TrackStoreError) -> [EntityRecord] {
        try checkOpen()
        let wanted = filter.names.map { Set($0.map { EntityKey(service: service, name: $0) }) }
        guard wanted.map({ $0.count <= EntityFilter.maximumNames }) ?? true else {
            throw TrackStoreError(.tooManyNames, "a filter takes at most \(EntityFilter.maximumNames) names")
        }
        let matches = entityTable.filter { key, entity in
            guard key.service == service else { return false }
            if let wanted, !wanted.contains(key) { return false }
            guard filter.values.allSatisfy({ entity.record.values[$0.key] == $0.value }) else { return false }
            let latest = entity.record.latest?.point.fix.time
            if let since = filter.activeSince {
                guard let latest, latest >= since else { return false }
            }
            if let since = filter.inactiveSince, let latest, latest >= since { return false }
            return true
        }
        .sorted { $0.key.name.utf8.lexicographicallyPrecedes($1.key.name.utf8) }
        return matches.map(\.value.record)
    }

    // MARK: Points

    package func openStream(
        _ stream: StreamID, of entity: String, in service: ServiceID, at now: Timestamp
    ) throws(TrackStoreError) -> StreamClaim {
        try check(service)
        let key = EntityKey(service: service, name: entity)
        if entityTable[key] == nil { insert(NewEntity(name: entity), key, at: now) }
        counter += 1
        let claim = Claim(
            epoch: counter, storedThrough: claims[ClaimKey(entity: key, stream: stream)]?.storedThrough ?? 0)
        claims[ClaimKey(entity: key, stream: stream)] = claim
        let own = claims.filter { $0.key.entity == key }.sorted { $0.value.epoch > $1.value.epoch }
        for forgotten in own.dropFirst(StreamClaim.mostStreams) { claims[forgotten.key] = nil }
        return StreamClaim(
            epoch: claim.epoch, storedThrough: claim.storedThrough, version: entityTable[key]?.version ?? 0,
            fences: entityTable[key]?.fences)
    }

    package func ingest(_ batches: [IngestBatch]) -> [IngestOutcome] {
        var outcomes: [IngestOutcome] = []
        var reached = ReachedVersions()
        for (index, batch) in batches.enumerated() {
            let isOutOfTurn = zip(batches[..<index], outcomes).contains { earlier, outcome in
                guard let former = earlier.position, let present = batch.position else { return false }
                return earlier.service == batch.service && former.stream == present.stream && !outcome.isKept
            }
            let key = EntityKey(service: batch.service, name: batch.entity)
            let outcome: IngestOutcome
            do throws(TrackStoreError) {
                try check(batch.service)
                if isOutOfTurn {
                    throw TrackStoreError(.outOfTurn, "an earlier batch of the stream was not stored")
                }
                outcome = try ingest(batch, after: reached.version(of: key))
            } catch {
                outcome = .failed(error)
            }
            reached.ended(outcome, of: key, isChecked: batch.expectedVersion != nil)
            outcomes.append(outcome)
        }
        return outcomes
    }

    private func ingest(_ batch: IngestBatch, after reached: Int64?) throws(TrackStoreError) -> IngestOutcome {
        if let problem = batch.pushProblem {
            throw TrackStoreError(.failed, problem)
        }
        let key = EntityKey(service: batch.service, name: batch.entity)
        let (version, fences) = (entityTable[key]?.version ?? 0, entityTable[key]?.fences)
        let expected = batch.followsBatch ? reached ?? -1 : batch.expectedVersion
        let isStale = expected.map { $0 != version } ?? false
        guard let position = batch.position else {
            if let held = batch.heldClaim, claims[ClaimKey(entity: key, stream: held.stream)]?.epoch != held.epoch {
                return .replaced
            }
            if isStale { return .stale(version: version, fences: fences) }
            if let hint = batch.hint { try tell(hint, batch) }
            store(batch.points, batch)
            try queue(batch, after: nil)
            try keepAlarms(batch)
            return .stored(through: 0, version: entityTable[key]?.version ?? 0)
        }
        guard batch.sequences.count == batch.points.count else {
            throw TrackStoreError(.failed, "a streamed batch needs one sequence a point")
        }
        let (last, overflow) = position.first.addingReportingOverflow(UInt64(position.count) &- 1)
        guard position.count > 0, !overflow else {
            throw TrackStoreError(.failed, "a streamed batch needs at least one sequence and none beyond 64 bits")
        }
        guard let claim = claims[ClaimKey(entity: key, stream: position.stream)], claim.epoch == position.epoch else {
            return .replaced
        }
        let stored = claim.storedThrough
        guard stored >= position.previous else { return .rewound(through: stored) }
        guard last > stored else { return .duplicate(through: stored, version: version) }
        if isStale { return .stale(version: version, fences: fences) }
        store(zip(batch.points, batch.sequences).filter { $0.1 > stored }.map(\.0), batch)
        try queue(batch, after: stored)
        try keepAlarms(batch)
        claims[ClaimKey(entity: key, stream: position.stream)]?.storedThrough = last
        return .stored(through: last, version: entityTable[key]?.version ?? 0)
    }

    package func fenceStates(of entities: [EntityKey]) throws(TrackStoreError) -> [FenceState] {
        try checkOpen()
        return entities.map {
            FenceState(version: entityTable[$0]?.version ?? 0, fences: entityTable[$0]?.fences)
        }
    }

    package func lastReceived() throws(TrackStoreError) -> Timestamp? {
        try checkOpen()
        return lastStored
    }

    package func version(of entity: String, in service: ServiceID) throws(TrackStoreError) -> Int64 {
        try checkOpen()
        guard let found = entityTable[EntityKey(service: service, name: entity)] else {
            throw TrackStoreError(.unknownEntity, "the service has no entity of this name")
        }
        return found.version
    }

    package func track(
        of entity: String, in service: ServiceID, from: Timestamp, through: Timestamp, limit: Int
    ) throws(TrackStoreError) -> StoredTrack {
        try checkOpen()
        guard let found = entityTable[EntityKey(service: service, name: entity)] else {
            throw TrackStoreError(.unknownEntity, "the service has no entity of this name")
        }
        var latestByTime: [Timestamp: StoredPoint] = [:]
        for point in found.points where point.point.fix.time >= from && point.point.fix.time <= through {
            latestByTime[point.point.fix.time] = point
        }
        guard latestByTime.count <= limit else {
            throw TrackStoreError(.tooManyPoints, "the range holds more than \(limit) points: ask for a shorter one")
        }
        return StoredTrack(
            points: StoredPoints(latestByTime.values.sorted { $0.point.fix.time < $1.point.fix.time }))
    }

    // MARK: Upkeep

    package func mergeChunks(limit: Int, at now: Timestamp) throws(TrackStoreError) -> Int {
        try checkOpen()
        return 0
    }

    package func checkIntegrity() throws(TrackStoreError) -> [String] {
        try checkOpen()
        return []
    }

    package func counts() throws(TrackStoreError) -> StoreCounts {
        try checkOpen()
        return StoreCounts(
            services: serviceList.count, entities: entityTable.count,
            chunks: entityTable.values.reduce(0) { $0 + $1.chunks },
            points: entityTable.values.reduce(0) { $0 + $1.points.count })
    }

    /// Of the points alone; memory is not counted.
    package func size() throws(TrackStoreError) -> StoreSize {
        let points = try counts().points
        return StoreSize(bytes: Int64(points * MemoryLayout<StoredPoint>.stride), availableBytes: nil)
    }

    package func probe() throws(TrackStoreError) { try checkOpen() }

    package func close() { isClosed = true }

    // MARK: Shared steps

    func checkOpen() throws(TrackStoreError) {
        if isClosed { throw TrackStoreError(.closed, "the store is closed") }
    }

    func check(_ service: ServiceID) throws(TrackStoreError) {
        try checkOpen()
        guard serviceList.contains(where: { $0.id == service }) else {
            throw TrackStoreError(.unknownService, "there is no service \(service.rawValue)")
        }
    }

    private func insert(_ entity: NewEntity, _ key: EntityKey, at now: Timestamp) {
        lastEntity += 1
        entityTable[key] = Entity(
            number: lastEntity,
            record: EntityRecord(
                name: entity.name, description: entity.description, created: now, modified: now, latest: nil))
    }

    private func store(_ points: [TrackPoint], _ batch: IngestBatch) {
        guard !points.isEmpty || batch.fences != nil else { return }
        let key = EntityKey(service: batch.service, name: batch.entity)
        if entityTable[key] == nil { insert(NewEntity(name: batch.entity), key, at: batch.received) }
        guard var entity = entityTable.removeValue(forKey: key) else { return }
        entity.points += points.map { StoredPoint($0, received: batch.received) }
        if let latest = Recency.latest(of: points, received: batch.received) {
            let stored = StoredPoint(latest, received: batch.received)
            if entity.record.latest.map({ Recency(stored) >= Recency($0) }) ?? true { entity.record.latest = stored }
        }
        if !points.isEmpty {
            entity.chunks += 1
            lastStored = batch.received
        }
        counter += 1
        entity.version = counter
        entity.fences = batch.fences ?? entity.fences
        entityTable[key] = entity
    }

    /// A stored point as late takes its place by itself: see ``store(_:_:)``.
    private func tell(_ hint: TrackPoint, _ batch: IngestBatch) throws(TrackStoreError) {
        let key = EntityKey(service: batch.service, name: batch.entity)
        guard let entity = entityTable[key] else {
            throw TrackStoreError(.unknownEntity, "the service has no entity of this name")
        }
        let stored = StoredPoint(hint, received: batch.received)
        guard entity.record.latest.map({ Recency(stored) > Recency($0) }) ?? true else { return }
        entityTable[key]?.record.latest = stored
    }
}
