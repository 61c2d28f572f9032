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

    private struct Entity {
        var record: EntityRecord
        /// In the order of storing.
        var points: [StoredPoint] = []
        var chunks = 0
        var version: Int64 = 0
        var fences: [UInt8]?
    }

    private struct ColumnTable: Hashable {
        let service: ServiceID
        let kind: ColumnKind
    }

    private var columnTable: [ColumnTable: [ColumnRecord]] = [:]
    private var serviceList: [ServiceRecord] = []
    private var keyList: [AccessKeyRecord] = []
    private var entityTable: [EntityKey: Entity] = [:]
    private var claims: [ClaimKey: Claim] = [:]
    /// The last number that a claim or a version got.
    private var counter: Int64 = 0
    var pushList: [QueuedMessage] = []
    var lastMessage: Int64 = 0

    package init() {}

    // MARK: Services and keys

    package func createService(named name: String, at now: Timestamp) throws(TrackStoreError) -> ServiceRecord {
        guard let id = ServiceID(rawValue: (serviceList.last?.id.rawValue ?? 0) + 1) else {
            throw TrackStoreError(.failed, "every service number is taken")
        }
        let record = ServiceRecord(id: id, name: name, created: now)
        serviceList.append(record)
        return record
    }

    package func services() -> [ServiceRecord] { serviceList }

    package func addKey(
        _ hash: AccessKeyHash, secret: String?, to service: ServiceID, replacing: Bool, at now: Timestamp
    ) throws(TrackStoreError) {
        try check(service)
        if replacing {
            for index in keyList.indices where keyList[index].service == service {
                keyList[index].isDisabled = true
            }
        }
        keyList.removeAll { $0.service == service && $0.hash.bytes == hash.bytes }
        keyList.append(AccessKeyRecord(hash: hash, service: service, secret: secret, isDisabled: false))
    }

    package func keys(matching hash: AccessKeyHash) -> [AccessKeyRecord] {
        keyList.filter { AccessKeyHash.constantTimeEqual($0.hash, hash) }.sorted { $0.service < $1.service }
    }

    // MARK: Columns

    package func addColumn(
        _ column: ColumnRecord, of kind: ColumnKind, in service: ServiceID
    ) throws(TrackStoreError) {
        try check(service)
        var list = columns(of: kind, in: service)
        guard !list.contains(where: { $0.key == column.key }) else {
            throw TrackStoreError(.columnExists, "the service has a column of this key already")
        }
        guard list.count < ColumnRecord.maximumCount else {
            throw TrackStoreError(.tooManyColumns, "the service has as many columns as it may have")
        }
        list.append(column)
        columnTable[ColumnTable(service: service, kind: kind)] = list.sorted {
            $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
        }
    }

    package func deleteColumn(
        named key: String, of kind: ColumnKind, in service: ServiceID
    ) throws(TrackStoreError) {
        let list = columns(of: kind, in: service)
        guard list.contains(where: { $0.key == key }) else {
            throw TrackStoreError(.unknownColumn, "the service has no column of this key")
        }
        columnTable[ColumnTable(service: service, kind: kind)] = list.filter { $0.key != key }
        guard kind == .entity else { return }
        for entity in entityTable.keys where entity.service == service {
            entityTable[entity]?.record.values[key] = nil
        }
    }

    package func columns(of kind: ColumnKind, in service: ServiceID) -> [ColumnRecord] {
        columnTable[ColumnTable(service: service, kind: kind)] ?? []
    }

    private func known(_ values: [String: String], _ service: ServiceID) -> [String: String] {
        let keys = Set(columns(of: .entity, in: service).map(\.key))
        return values.filter { keys.contains($0.key) }
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
        entityTable[key]?.record.values = known(entity.values, service)
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
        entityTable[key]?.record.values.merge(known(change.values, service)) { _, new in new }
        entityTable[key]?.record.modified = now
    }

    package func ensureEntity(
        named name: String, in service: ServiceID, at now: Timestamp
    ) throws(TrackStoreError) -> Bool {
        try check(service)
        let key = EntityKey(service: service, name: name)
        guard entityTable[key] == nil else { return false }
        insert(NewEntity(name: name), key, at: now)
        return true
    }

    package func deleteEntity(
        named name: String, in service: ServiceID, at now: Timestamp
    ) throws(TrackStoreError) {
        try check(service)
        let key = EntityKey(service: service, name: name)
        guard entityTable.removeValue(forKey: key) != nil else {
            throw TrackStoreError(.unknownEntity, "the service has no entity of this name")
        }
        claims = claims.filter { $0.key.entity != key }
        withdrawPushes(of: key, at: now)
    }

    package func entity(named name: String, in service: ServiceID) -> EntityRecord? {
        entityTable[EntityKey(service: service, name: name)]?.record
    }

    package func entities(
        in service: ServiceID, matching filter: EntityFilter, page: Page
    ) -> (total: Int, entities: [EntityRecord]) {
        let wanted = filter.names.map { Set($0.map { EntityKey(service: service, name: $0) }) }
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
        let slice = matches.dropFirst(max(0, page.offset)).prefix(max(0, page.limit))
        return (matches.count, slice.map(\.value.record))
    }

    // MARK: Points

    package func openStream(
        _ stream: StreamID, of entity: String, in service: ServiceID, at now: Timestamp
    ) throws(TrackStoreError) -> StreamClaim {
        _ = try ensureEntity(named: entity, in: service, at: now)
        let key = EntityKey(service: service, name: entity)
        counter += 1
        let claim = Claim(
            epoch: counter, storedThrough: claims[ClaimKey(entity: key, stream: stream)]?.storedThrough ?? 0)
        claims[ClaimKey(entity: key, stream: stream)] = claim
        return StreamClaim(
            epoch: claim.epoch, storedThrough: claim.storedThrough, version: entityTable[key]?.version ?? 0,
            fences: entityTable[key]?.fences)
    }

    package func ingest(_ batches: [IngestBatch]) -> [IngestOutcome] {
        var outcomes: [IngestOutcome] = []
        for (index, batch) in batches.enumerated() {
            let isOutOfTurn = zip(batches[..<index], outcomes).contains { earlier, outcome in
                guard let former = earlier.position, let present = batch.position else { return false }
                return earlier.service == batch.service && former.stream == present.stream && !outcome.isKept
            }
            do throws(TrackStoreError) {
                try check(batch.service)
                if isOutOfTurn {
                    throw TrackStoreError(.outOfTurn, "an earlier batch of the stream was not stored")
                }
                outcomes.append(try ingest(batch))
            } catch {
                outcomes.append(.failed(error))
            }
        }
        return outcomes
    }

    private func ingest(_ batch: IngestBatch) throws(TrackStoreError) -> IngestOutcome {
        if let problem = batch.pushes.lazy.compactMap(\.push.problem).first {
            throw TrackStoreError(.failed, problem)
        }
        let key = EntityKey(service: batch.service, name: batch.entity)
        let (version, fences) = (entityTable[key]?.version ?? 0, entityTable[key]?.fences)
        let isStale = batch.expectedVersion.map { $0 != version } ?? false
        guard let position = batch.position else {
            if isStale { return .stale(version: version, fences: fences) }
            if let hint = batch.hint { try tell(hint, batch) }
            store(batch.points, batch)
            queue(batch, after: nil)
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
        queue(batch, after: stored)
        claims[ClaimKey(entity: key, stream: position.stream)]?.storedThrough = last
        return .stored(through: last, version: entityTable[key]?.version ?? 0)
    }

    package func points(
        of entity: String, in service: ServiceID, from: Timestamp, through: Timestamp, limit: Int
    ) throws(TrackStoreError) -> [StoredPoint] {
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
        return latestByTime.values.sorted { $0.point.fix.time < $1.point.fix.time }
    }

    // MARK: Upkeep

    package func mergeChunks(limit: Int) -> Int { 0 }

    package func checkIntegrity() -> [String] { [] }

    package func counts() -> StoreCounts {
        StoreCounts(
            services: serviceList.count, entities: entityTable.count,
            chunks: entityTable.values.reduce(0) { $0 + $1.chunks },
            points: entityTable.values.reduce(0) { $0 + $1.points.count })
    }

    // MARK: Shared steps

    func check(_ service: ServiceID) throws(TrackStoreError) {
        guard serviceList.contains(where: { $0.id == service }) else {
            throw TrackStoreError(.unknownService, "there is no service \(service.rawValue)")
        }
    }

    private func insert(_ entity: NewEntity, _ key: EntityKey, at now: Timestamp) {
        entityTable[key] = Entity(
            record: EntityRecord(
                name: entity.name, description: entity.description, created: now, modified: now, latest: nil))
    }

    private func store(_ points: [TrackPoint], _ batch: IngestBatch) {
        guard !points.isEmpty || batch.fences != nil else { return }
        let key = EntityKey(service: batch.service, name: batch.entity)
        if entityTable[key] == nil { insert(NewEntity(name: batch.entity), key, at: batch.received) }
        guard var entity = entityTable.removeValue(forKey: key) else { return }
        for point in points {
            let stored = StoredPoint(point, received: batch.received)
            entity.points.append(stored)
            if entity.record.latest.map({ point.fix.time >= $0.point.fix.time }) ?? true {
                entity.record.latest = stored
            }
        }
        if !points.isEmpty { entity.chunks += 1 }
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
        guard entity.record.latest.map({ hint.fix.time > $0.point.fix.time }) ?? true else { return }
        entityTable[key]?.record.latest = StoredPoint(hint, received: batch.received)
    }
}
