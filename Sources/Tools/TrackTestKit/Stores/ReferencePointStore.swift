import TrackModel
import TrackStore

/// The point half of the storage contract in the plainest form: everything in memory, nothing clever, nothing kept after the
/// process. An oracle for what every other store does with points, streams and the latest position; it shares no code with
/// them.
actor ReferencePointStore: PointStore {
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
        var version: Int64 = 0
        var fences: [UInt8]?
    }

    private let services: Set<ServiceID>
    private var entityTable: [EntityKey: Entity] = [:]
    private var claims: [ClaimKey: Claim] = [:]
    private var lastStored: Timestamp?
    /// The last number that a claim or a version got.
    private var counter: Int64 = 0

    init(services: Set<ServiceID>) { self.services = services }

    // MARK: Entities

    /// In the order of their names.
    func entities(in service: ServiceID) -> [EntityRecord] {
        entityTable.filter { $0.key.service == service }
            .sorted { $0.key.name.utf8.lexicographicallyPrecedes($1.key.name.utf8) }
            .map(\.value.record)
    }

    // MARK: Points

    func openStream(
        _ stream: StreamID, of entity: String, in service: ServiceID, at now: Timestamp
    ) throws(TrackStoreError) -> StreamClaim {
        try check(service)
        let key = EntityKey(service: service, name: entity)
        if entityTable[key] == nil { insert(key, at: now) }
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

    func ingest(_ batches: [IngestBatch]) -> [IngestOutcome] {
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
        claims[ClaimKey(entity: key, stream: position.stream)]?.storedThrough = last
        return .stored(through: last, version: entityTable[key]?.version ?? 0)
    }

    func lastReceived() -> Timestamp? {
        lastStored
    }

    func version(of entity: String, in service: ServiceID) throws(TrackStoreError) -> Int64 {
        guard let found = entityTable[EntityKey(service: service, name: entity)] else {
            throw TrackStoreError(.unknownEntity, "the service has no entity of this name")
        }
        return found.version
    }

    func track(
        of entity: String, in service: ServiceID, from: Timestamp, through: Timestamp, limit: Int
    ) throws(TrackStoreError) -> StoredTrack {
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

    func lastPoints(
        of entity: String, in service: ServiceID, count: Int
    ) throws(TrackStoreError) -> StoredTrack {
        let all = try track(
            of: entity, in: service, from: Timestamp(milliseconds: .min), through: Timestamp(milliseconds: .max),
            limit: .max)
        return StoredTrack(points: StoredPoints(all.points.suffix(max(0, count))))
    }

    // MARK: Shared steps

    private func check(_ service: ServiceID) throws(TrackStoreError) {
        guard services.contains(service) else {
            throw TrackStoreError(.unknownService, "there is no service \(service.rawValue)")
        }
    }

    private func insert(_ key: EntityKey, at now: Timestamp) {
        entityTable[key] = Entity(
            record: EntityRecord(name: key.name, description: "", created: now, modified: now, latest: nil))
    }

    private func store(_ points: [TrackPoint], _ batch: IngestBatch) {
        guard !points.isEmpty || batch.fences != nil else { return }
        let key = EntityKey(service: batch.service, name: batch.entity)
        if entityTable[key] == nil { insert(key, at: batch.received) }
        guard var entity = entityTable.removeValue(forKey: key) else { return }
        entity.points += points.map { StoredPoint($0, received: batch.received) }
        if let latest = Recency.latest(of: points, received: batch.received) {
            let stored = StoredPoint(latest, received: batch.received)
            if entity.record.latest.map({ Recency(stored) >= Recency($0) }) ?? true { entity.record.latest = stored }
        }
        if !points.isEmpty {
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
