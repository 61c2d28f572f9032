import SQLDatabase
import StoreRecords
import Synchronization
import TrackModel
package import TrackStore

/// The batches of one transaction.
///
/// Every fault of a single batch is found before its first row is written. So a batch that is not stored leaves nothing
/// behind, and a thrown error always concerns the whole transaction.
struct IngestTransaction {
    private struct Stream: Hashable {
        let service: ServiceID
        let stream: StreamID
    }

    private let database: any SQLConnection
    private let store: SQLiteTrackStore
    private var numbers: Numbers
    private var entities: EntityRows
    /// Streams of which a batch was not stored.
    private var broken: Set<Stream> = []

    private let claimSelection: any SQLStatement
    private let claimUpdate: any SQLStatement
    private let stateSelection: any SQLStatement
    private let stateUpdate: any SQLStatement
    private var cells: PlaceCells
    private let chunkInsertion: any SQLStatement
    private let hintUpdate: any SQLStatement
    private let hintRemoval: any SQLStatement
    private let alarms: AlarmTable
    private var reached = ReachedVersions()
    /// Pushes for which there was no room.
    private(set) var leftOut = 0

    init(_ database: any SQLConnection, _ store: SQLiteTrackStore) throws {
        self.database = database
        self.store = store
        numbers = Numbers(database)
        entities = EntityRows(database, store.records)
        claimSelection = try database.statement(
            """
            SELECT epoch, stored_through, (SELECT version FROM state WHERE entity = claim.entity)
            FROM claim WHERE entity = ? AND stream = ?
            """)
        claimUpdate = try database.statement(
            "UPDATE claim SET stored_through = ?, updated = ? WHERE entity = ? AND stream = ?")
        stateSelection = try database.statement(EntityState.selection)
        stateUpdate = try database.statement(EntityState.update)
        cells = try PlaceCells(database, store.records)
        chunkInsertion = try database.statement(NewChunk.insertion)
        let isNewerThanState = EntityState.replaces("?2", "?5", "time", "received", isStrict: true)
        let isNewerThanHint = EntityState.replaces(
            "excluded.time", "excluded.received", "hint.time", "hint.received", isStrict: true)
        hintUpdate = try database.statement(
            """
            INSERT INTO hint (entity, time, latitude, longitude, received, payload, datum, service, cell)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9
            WHERE NOT EXISTS (
                SELECT 1 FROM state WHERE entity = ?1 AND time IS NOT NULL
                    AND NOT \(isNewerThanState))
            ON CONFLICT (entity) DO UPDATE SET
                time = excluded.time, latitude = excluded.latitude, longitude = excluded.longitude,
                received = excluded.received, payload = excluded.payload, datum = excluded.datum,
                cell = excluded.cell
            WHERE \(isNewerThanHint)
            """)
        hintRemoval = try database.statement(
            "DELETE FROM hint WHERE entity = ?1 AND \(EntityState.replaces("?2", "?3", "time", "received"))")
        alarms = try AlarmTable(database)
    }

    /// Call it before the transaction ends.
    func save() throws {
        try numbers.save()
        entities.save()
        cells.save()
    }

    mutating func store(_ batch: PreparedBatch) throws -> IngestOutcome {
        let outcome = try outcome(of: batch)
        reached.ended(outcome, of: batch.entity, isChecked: batch.expectedVersion != nil)
        return outcome
    }

    private mutating func outcome(of batch: PreparedBatch) throws -> IngestOutcome {
        do {
            try store.check(batch.service, database)
        } catch let error as TrackStoreError {
            return .failed(error)
        }
        guard let position = batch.position else { return try storeCustom(batch) }
        let stream = Stream(service: batch.service, stream: position.stream)
        guard !broken.contains(stream) else {
            return .failed(TrackStoreError(.outOfTurn, "an earlier batch of the stream was not stored"))
        }
        let outcome = try storeStreamed(batch, at: position)
        if !outcome.isKept { broken.insert(stream) }
        return outcome
    }

    /// Points of no stream, or a hint.
    private mutating func storeCustom(_ batch: PreparedBatch) throws -> IngestOutcome {
        if let problem = batch.problem { return .failed(problem) }
        let row = try entities.find(batch.entity)
        if let held = batch.heldClaim {
            guard let row, let claim = try claim(on: held.stream, of: row), claim.epoch == held.epoch else {
                return .replaced
            }
        }
        if expectedVersion(of: batch) != nil, !isExpected(try version(of: row), by: batch) { return try stale(row) }
        if let hint = batch.hint {
            guard let row else {
                return .failed(TrackStoreError(.unknownEntity, "the service has no entity of this name"))
            }
            try tell(hint.point, record: hint.record, of: batch, to: row)
        }
        guard batch.content.latest != nil || batch.fences != nil else {
            try cause(batch, after: nil)
            return .stored(through: 0, version: try version(of: row))
        }
        let entity = try row ?? entities.make(batch.entity, at: batch.received, &numbers)
        let version = try add(batch.content, of: batch, to: entity)
        try cause(batch, after: nil)
        return .stored(through: 0, version: version)
    }

    private mutating func storeStreamed(_ batch: PreparedBatch, at position: StreamPosition) throws -> IngestOutcome {
        if let problem = batch.problem { return .failed(problem) }
        // The claim made the entity. If the entity is missing, it was deleted.
        guard let entity = try entities.find(batch.entity) else { return .replaced }
        guard let claim = try claim(on: position.stream, of: entity) else { return .replaced }
        let stored: UInt64
        switch StreamFit(position, epoch: claim.epoch, storedThrough: claim.storedThrough) {
        case .replaced: return .replaced
        case .rewound(let through): return .rewound(through: through)
        case .stored(let through): return .duplicate(through: through, version: try version(of: entity))
        case .next(let after): stored = after
        }
        if !isExpected(claim.version, by: batch) { return try stale(entity) }
        let content = position.first <= stored ? batch.content(after: stored) : batch.content
        let version = try add(content, of: batch, to: entity)
        try cause(batch, after: stored)
        try claimUpdate.execute([
            Int64(bitPattern: position.last), batch.received.milliseconds, entity, position.stream.bytes,
        ])
        return .stored(through: position.last, version: version)
    }

    private struct Claim {
        let epoch: Int64
        let storedThrough: UInt64
        /// The entity's.
        let version: Int64
    }

    /// Nil when nobody has claimed the stream for the entity.
    private func claim(on stream: StreamID, of entity: Int64) throws -> Claim? {
        try claimSelection.row([entity, stream.bytes]) { row in
            try Claim(epoch: row[0], storedThrough: UInt64(bitPattern: row[1]), version: row[2] ?? 0)
        }
    }

    /// The version that the entity must have; nil: any.
    private func expectedVersion(of batch: PreparedBatch) -> Int64? {
        batch.followsBatch ? reached.version(of: batch.entity) ?? -1 : batch.expectedVersion
    }

    private func isExpected(_ version: Int64, by batch: PreparedBatch) -> Bool {
        expectedVersion(of: batch).map { $0 == version } ?? true
    }

    /// `row` nil: there is no such entity.
    private func stale(_ row: Int64?) throws -> IngestOutcome {
        let state = try state(of: row)
        return .stale(version: state.version, fences: state.fences)
    }

    private func version(of row: Int64?) throws -> Int64 { try state(of: row).version }

    private func state(of row: Int64?) throws -> EntityState {
        try row.flatMap { try stateSelection.row([$0], EntityState.init) } ?? EntityState()
    }

    /// Returns the entity's version.
    private mutating func add(
        _ content: PreparedBatch.Content, of batch: PreparedBatch, to entity: Int64
    ) throws -> Int64 {
        guard content.latest != nil || batch.fences != nil else { return try version(of: entity) }
        var version: Int64 = 0
        if content.latest != nil { numbers.stored(at: batch.received) }
        for chunk in content.chunks {
            version = try numbers.next()
            try chunk.insert(as: version, entity: entity, isSettled: false, with: chunkInsertion)
        }
        if content.chunks.isEmpty { version = try numbers.next() }
        let place = content.latest?.fix.coordinate
        try stateUpdate.execute([
            entity, version, batch.fences, content.latest?.fix.time.milliseconds, place?.latitudeE7,
            place?.longitudeE7, content.latest.map { _ in batch.received.milliseconds },
            content.latest.map { _ in content.record }, content.latest?.coordinateType.number,
            batch.service.rawValue,
        ])
        if let latest = content.latest {
            try cells.put(entity, at: latest)
            // From here on the track has reached the time of the hint.
            try hintRemoval.execute([entity, latest.fix.time.milliseconds, batch.received.milliseconds])
        }
        return version
    }

    private func tell(_ hint: TrackPoint, record: [UInt8], of batch: PreparedBatch, to entity: Int64) throws {
        let place = hint.fix.coordinate
        try hintUpdate.execute([
            entity, hint.fix.time.milliseconds, place.latitudeE7, place.longitudeE7, batch.received.milliseconds,
            record, hint.coordinateType.number, batch.service.rawValue, PlaceCell.number(of: hint),
        ])
    }

    /// What the points after a sequence number bring about; nil: all points.
    private mutating func cause(_ batch: PreparedBatch, after stored: UInt64?) throws {
        leftOut += try alarms.add(batch.alarms, of: batch.entity.name, in: batch.service, at: batch.received)
        for push in batch.pushes(after: stored) {
            leftOut += try PushQueue.add(
                push, in: batch.service, at: batch.received, missing: .passedOver, database
            ).leftOut
        }
    }
}

/// The part of an entity that changes with its points: the row of the table `state`.
struct EntityState {
    /// The id of its newest chunk, or the number that its newest fence state got; 0 when it never had either.
    var version: Int64 = 0
    var fences: [UInt8]?

    init() {}

    /// A row of ``selection``.
    init(_ row: SQLRow) throws {
        version = try row[0]
        fences = try row[1]
    }

    static let selection = "SELECT version, fences FROM state WHERE entity = ?"

    private static let isLater =
        "time IS NULL OR " + replaces("excluded.time", "excluded.received", "time", "received")

    /// ``Recency`` in SQL, from the times and the times of receipt of a new point and of the latest one.
    static func replaces(
        _ time: String, _ received: String, _ latest: String, _ latestReceived: String, isStrict: Bool = false
    ) -> String {
        let (made, latestMade) = ("MIN(\(time), \(received))", "MIN(\(latest), \(latestReceived))")
        return "(\(made) > \(latestMade) OR \(made) = \(latestMade) AND \(time) \(isStrict ? ">" : ">=") \(latest))"
    }

    /// The latest point changes when the new one is as late; without a new one, and without new fences, they stay.
    ///
    /// The cell stays in any case: see ``PlaceCells``.
    static let update = """
        INSERT INTO state (entity, version, fences, time, latitude, longitude, received, payload, datum, service)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (entity) DO UPDATE SET
            version = excluded.version, fences = COALESCE(excluded.fences, fences),
            time = CASE WHEN \(isLater) THEN excluded.time ELSE time END,
            latitude = CASE WHEN \(isLater) THEN excluded.latitude ELSE latitude END,
            longitude = CASE WHEN \(isLater) THEN excluded.longitude ELSE longitude END,
            received = CASE WHEN \(isLater) THEN excluded.received ELSE received END,
            payload = CASE WHEN \(isLater) THEN excluded.payload ELSE payload END,
            datum = CASE WHEN \(isLater) THEN excluded.datum ELSE datum END
        """
}

extension SQLiteTrackStore {
    package func ingest(_ batches: [IngestBatch]) async -> [IngestOutcome] {
        guard !batches.isEmpty else { return [] }
        // Encoding happens here, before the one writer is asked for.
        let prepared = batches.map(PreparedBatch.init)
        do throws(TrackStoreError) {
            let (outcomes, leftOut) = try await writing { database in
                var transaction = try IngestTransaction(database, self)
                let outcomes = try prepared.map { try transaction.store($0) }
                try transaction.save()
                return (outcomes, transaction.leftOut)
            }
            if leftOut > 0 { self.records.leftOut.withLock { $0 += leftOut } }
            return outcomes
        } catch {
            // One file, one transaction: none of them is stored.
            return batches.map { _ in .failed(error) }
        }
    }
}
