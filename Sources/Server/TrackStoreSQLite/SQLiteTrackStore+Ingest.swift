import Foundation
import GRDB
import Synchronization
package import TrackModel
package import TrackStore

extension SQLiteTrackStore {
    package func storedThrough(
        _ stream: StreamID, in service: ServiceID
    ) async throws(TrackStoreError) -> UInt64 {
        try await reading { database in
            let row = try database.cachedStatement(sql: IngestTransaction.selectStream)
            let stored = try Int64.fetchOne(row, arguments: [service.rawValue, Data(stream.bytes)])
            return UInt64(bitPattern: stored ?? 0)
        }
    }

    package func ingest(_ batches: [IngestBatch]) async throws(TrackStoreError) -> [IngestOutcome] {
        guard !batches.isEmpty else { return [] }
        // Encoding happens here, before the one writer is asked for.
        let prepared = batches.map(PreparedBatch.init)
        let (outcomes, found) = try await writing { database in
            var transaction = try IngestTransaction(database, self)
            let outcomes = try prepared.map { try transaction.store($0) }
            return (outcomes, transaction.found)
        }
        known.withLock { $0.remember(found) }
        return outcomes
    }
}

/// The statements of one transaction and the rows it met. A row that it made is remembered by the store only after
/// the commit.
struct IngestTransaction {
    static let selectStream = "SELECT stored_through FROM stream WHERE service = ? AND stream = ?"

    private let database: Database
    private let store: SQLiteTrackStore
    private(set) var found: [EntityKey: Int64] = [:]

    private let streamSelection: Statement
    private let streamUpdate: Statement
    private let entitySelection: Statement
    private let entityInsertion: Statement
    private let chunkInsertion: Statement
    private let latestUpdate: Statement
    private let hintUpdate: Statement
    private let hintRemoval: Statement

    init(_ database: Database, _ store: SQLiteTrackStore) throws {
        self.database = database
        self.store = store
        streamSelection = try database.cachedStatement(sql: Self.selectStream)
        streamUpdate = try database.cachedStatement(
            sql: """
                INSERT INTO stream (service, stream, stored_through, updated) VALUES (?, ?, ?, ?)
                ON CONFLICT (service, stream) DO UPDATE SET
                    stored_through = excluded.stored_through, updated = excluded.updated
                """)
        entitySelection = try database.cachedStatement(sql: "SELECT id FROM entity WHERE service = ? AND name = ?")
        entityInsertion = try database.cachedStatement(
            sql: "INSERT INTO entity (service, name, description, created, modified) VALUES (?, ?, '', ?, ?)")
        chunkInsertion = try database.cachedStatement(sql: NewChunk.insertion)
        latestUpdate = try database.cachedStatement(
            sql: """
                INSERT INTO latest (entity, time, latitude, longitude, received, payload) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (entity) DO UPDATE SET
                    time = excluded.time, latitude = excluded.latitude, longitude = excluded.longitude,
                    received = excluded.received, payload = excluded.payload
                WHERE excluded.time >= latest.time
                """)
        hintUpdate = try database.cachedStatement(
            sql: """
                INSERT INTO hint (entity, time, latitude, longitude, received, payload)
                SELECT ?1, ?2, ?3, ?4, ?5, ?6
                WHERE NOT EXISTS (SELECT 1 FROM latest WHERE entity = ?1 AND time >= ?2)
                ON CONFLICT (entity) DO UPDATE SET
                    time = excluded.time, latitude = excluded.latitude, longitude = excluded.longitude,
                    received = excluded.received, payload = excluded.payload
                WHERE excluded.time > hint.time
                """)
        hintRemoval = try database.cachedStatement(sql: "DELETE FROM hint WHERE entity = ? AND time <= ?")
    }

    /// Everything that can be wrong with one batch alone is found before its first row is written, so that a batch
    /// that fails leaves nothing behind and a thrown error always means the whole transaction.
    mutating func store(_ batch: PreparedBatch) throws -> IngestOutcome {
        do {
            try store.check(batch.service, database)
        } catch let error as TrackStoreError {
            return .failed(error)
        }
        if let problem = batch.problem { return .failed(problem) }
        guard let stream = batch.stream else {
            try add(batch.content, of: batch)
            if let hint = batch.hint { try tell(hint.point, record: hint.record, of: batch) }
            try queue(batch.pushes(after: nil), of: batch)
            return .stored(through: 0)
        }
        let name = Data(stream.id.bytes)
        let row = try Int64.fetchOne(streamSelection, arguments: [batch.service.rawValue, name])
        var content = batch.content
        if let stored = row.map(UInt64.init(bitPattern:)) {
            guard stream.last > stored else { return .duplicate(through: stored) }
            if stream.first <= stored { content = batch.content(after: stored) }
        }
        try add(content, of: batch)
        try queue(batch.pushes(after: row.map(UInt64.init(bitPattern:))), of: batch)
        try streamUpdate.execute(arguments: [
            batch.service.rawValue, name, Int64(bitPattern: stream.last), batch.received.milliseconds,
        ])
        return .stored(through: stream.last)
    }

    private mutating func add(_ content: PreparedBatch.Content, of batch: PreparedBatch) throws {
        guard let latest = content.latest else { return }
        let entity = try row(of: batch)
        for chunk in content.chunks {
            try chunk.insert(as: nil, entity: entity, isSettled: false, with: chunkInsertion)
        }
        let place = latest.fix.coordinate
        try latestUpdate.execute(arguments: [
            entity, latest.fix.time.milliseconds, place.latitudeE7, place.longitudeE7, batch.received.milliseconds,
            Data(content.record),
        ])
        // From here on the track knows as much as was told ahead of it.
        try hintRemoval.execute(arguments: [entity, latest.fix.time.milliseconds])
    }

    private mutating func tell(_ hint: TrackPoint, record: [UInt8], of batch: PreparedBatch) throws {
        let place = hint.fix.coordinate
        try hintUpdate.execute(arguments: [
            try row(of: batch), hint.fix.time.milliseconds, place.latitudeE7, place.longitudeE7,
            batch.received.milliseconds, Data(record),
        ])
    }

    private func queue(_ pushes: [NewPush], of batch: PreparedBatch) throws {
        for push in pushes {
            _ = try PushQueue.add(push, in: batch.service, at: batch.received, missing: .passedOver, database)
        }
    }

    private mutating func row(of batch: PreparedBatch) throws -> Int64 {
        if let id = found[batch.entity] { return id }
        if let id = store.known.withLock({ $0.entities[batch.entity] }) { return id }
        let name = batch.entity.name
        if let id = try Int64.fetchOne(entitySelection, arguments: [batch.service.rawValue, name]) {
            found[batch.entity] = id
            return id
        }
        let now = batch.received.milliseconds
        try entityInsertion.execute(arguments: [batch.service.rawValue, name, now, now])
        found[batch.entity] = database.lastInsertedRowID
        return database.lastInsertedRowID
    }
}
