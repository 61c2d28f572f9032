package import TrackModel
package import TrackStore

/// The storage contract in the plainest form: everything in memory, nothing clever, nothing kept after the process.
///
/// The measure for every other store, and a stand-in where a test needs a store but not its disk.
package actor ReferenceTrackStore: TrackStore {
    /// Names are the same when their bytes are: Swift's `String` would take equivalent spellings for one.
    private struct EntityKey: Hashable {
        let service: ServiceID
        let name: [UInt8]

        init(_ name: String, _ service: ServiceID) {
            self.service = service
            self.name = Array(name.utf8)
        }
    }

    private struct StreamKey: Hashable {
        let service: ServiceID
        let stream: StreamID
    }

    private struct Entity {
        var record: EntityRecord
        /// In the order of storing.
        var points: [StoredPoint] = []
        var chunks = 0
    }

    private struct Key {
        var record: AccessKeyRecord
    }

    private struct ColumnTable: Hashable {
        let service: ServiceID
        let kind: ColumnKind
    }

    private var columnTable: [ColumnTable: [ColumnRecord]] = [:]
    private var serviceList: [ServiceRecord] = []
    private var keyList: [Key] = []
    private var entityTable: [EntityKey: Entity] = [:]
    private var streamTable: [StreamKey: UInt64] = [:]
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
            for index in keyList.indices where keyList[index].record.service == service {
                keyList[index].record.isDisabled = true
            }
        }
        keyList.removeAll { $0.record.service == service && $0.record.hash.bytes == hash.bytes }
        keyList.append(
            Key(record: AccessKeyRecord(hash: hash, service: service, secret: secret, isDisabled: false)))
    }

    package func keys(matching hash: AccessKeyHash) -> [AccessKeyRecord] {
        keyList.map(\.record)
            .filter { AccessKeyHash.constantTimeEqual($0.hash, hash) }
            .sorted { $0.service < $1.service }
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
        let key = EntityKey(entity.name, service)
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
        let key = EntityKey(change.name, service)
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
        let key = EntityKey(name, service)
        guard entityTable[key] == nil else { return false }
        insert(NewEntity(name: name), key, at: now)
        return true
    }

    package func entity(named name: String, in service: ServiceID) -> EntityRecord? {
        entityTable[EntityKey(name, service)]?.record
    }

    package func entities(
        in service: ServiceID, matching filter: EntityFilter, page: Page
    ) -> (total: Int, entities: [EntityRecord]) {
        let wanted = filter.names.map { Set($0.map { Array($0.utf8) }) }
        let matches = entityTable.filter { key, entity in
            guard key.service == service else { return false }
            if let wanted, !wanted.contains(key.name) { return false }
            guard filter.values.allSatisfy({ entity.record.values[$0.key] == $0.value }) else { return false }
            let latest = entity.record.latest?.point.fix.time
            if let since = filter.activeSince {
                guard let latest, latest >= since else { return false }
            }
            if let since = filter.inactiveSince, let latest, latest >= since { return false }
            return true
        }
        .sorted { $0.key.name.lexicographicallyPrecedes($1.key.name) }
        let slice = matches.dropFirst(max(0, page.offset)).prefix(max(0, page.limit))
        return (matches.count, slice.map(\.value.record))
    }

    // MARK: Points

    package func storedThrough(_ stream: StreamID, in service: ServiceID) -> UInt64 {
        streamTable[StreamKey(service: service, stream: stream)] ?? 0
    }

    package func ingest(_ batches: [IngestBatch]) -> [IngestOutcome] {
        batches.map { batch in
            do throws(TrackStoreError) {
                return try ingest(batch)
            } catch {
                return .failed(error)
            }
        }
    }

    private func ingest(_ batch: IngestBatch) throws(TrackStoreError) -> IngestOutcome {
        try check(batch.service)
        if let problem = batch.pushes.lazy.compactMap(\.push.problem).first {
            throw TrackStoreError(.failed, problem)
        }
        guard let position = batch.position else {
            store(batch.points, batch)
            if let hint = batch.hint { tell(hint, batch) }
            queue(batch, after: nil)
            return .stored(through: 0)
        }
        guard batch.sequences.count == batch.points.count else {
            throw TrackStoreError(.failed, "a streamed batch needs one sequence a point")
        }
        let (last, overflow) = position.first.addingReportingOverflow(UInt64(position.count) &- 1)
        guard position.count > 0, !overflow else {
            throw TrackStoreError(.failed, "a streamed batch needs at least one sequence and none beyond 64 bits")
        }
        let key = StreamKey(service: batch.service, stream: position.stream)
        guard let stored = streamTable[key] else {
            store(batch.points, batch)
            queue(batch, after: nil)
            streamTable[key] = last
            return .stored(through: last)
        }
        guard last > stored else { return .duplicate(through: stored) }
        store(zip(batch.points, batch.sequences).filter { $0.1 > stored }.map(\.0), batch)
        queue(batch, after: stored)
        streamTable[key] = last
        return .stored(through: last)
    }

    package func points(
        of entity: String, in service: ServiceID, from: Timestamp, through: Timestamp, limit: Int
    ) throws(TrackStoreError) -> [StoredPoint] {
        guard let found = entityTable[EntityKey(entity, service)] else {
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
        guard !points.isEmpty else { return }
        let key = EntityKey(batch.entity, batch.service)
        if entityTable[key] == nil { insert(NewEntity(name: batch.entity), key, at: batch.received) }
        guard var entity = entityTable.removeValue(forKey: key) else { return }
        for point in points {
            let stored = StoredPoint(point, received: batch.received)
            entity.points.append(stored)
            if entity.record.latest.map({ point.fix.time >= $0.point.fix.time }) ?? true {
                entity.record.latest = stored
            }
        }
        entity.chunks += 1
        entityTable[key] = entity
    }

    /// A stored point as late takes its place by itself: see ``store(_:_:)``.
    private func tell(_ hint: TrackPoint, _ batch: IngestBatch) {
        let key = EntityKey(batch.entity, batch.service)
        if entityTable[key] == nil { insert(NewEntity(name: batch.entity), key, at: batch.received) }
        guard entityTable[key]?.record.latest.map({ hint.fix.time > $0.point.fix.time }) ?? true else { return }
        entityTable[key]?.record.latest = StoredPoint(hint, received: batch.received)
    }
}
