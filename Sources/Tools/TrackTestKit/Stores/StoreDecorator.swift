package import SQLDatabase
package import StoreRecords
package import TrackModel
package import TrackStore

/// A store as the server has it: the point half by its engine, the record half over transactions of SQL.
package typealias EngineStore = SQLRecordStore & TrackStore

/// A store that adds something to the calls of another store: a delay, a fault, a count.
///
/// A decorator implements ``passing(_:)``, which every call of the point half and every transaction of the record half goes
/// through, or a method that it treats in its own way, or both. A new method of a record protocol changes nothing here.
package protocol StoreDecorator: EngineStore {
    var inner: any EngineStore { get }

    /// Makes a call of the inner store.
    func passing<Value: Sendable>(
        _ call: (any EngineStore) async throws(TrackStoreError) -> Value
    ) async throws(TrackStoreError) -> Value
}

extension StoreDecorator {
    package func passing<Value: Sendable>(
        _ call: (any EngineStore) async throws(TrackStoreError) -> Value
    ) async throws(TrackStoreError) -> Value {
        try await call(inner)
    }

    // MARK: SQLRecordStore

    package var records: RecordState { inner.records }

    package func checkOpen() throws(TrackStoreError) { try inner.checkOpen() }

    package func reading<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws(TrackStoreError) -> Value {
        try await passing { store async throws(TrackStoreError) in try await store.reading(body) }
    }

    package func writing<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws(TrackStoreError) -> Value {
        try await passing { store async throws(TrackStoreError) in try await store.writing(body) }
    }

    // MARK: PointStore

    package func openStream(
        _ stream: StreamID, of entity: String, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) -> StreamClaim {
        try await passing { store async throws(TrackStoreError) in
            try await store.openStream(stream, of: entity, in: service, at: now)
        }
    }

    package func ingest(_ batches: [IngestBatch]) async -> [IngestOutcome] {
        do throws(TrackStoreError) {
            return try await passing { store async throws(TrackStoreError) in await store.ingest(batches) }
        } catch {
            return batches.map { _ in .failed(error) }
        }
    }

    package func lastReceived() async throws(TrackStoreError) -> Timestamp? {
        try await passing { store async throws(TrackStoreError) in
            try await store.lastReceived()
        }
    }

    package func version(of entity: String, in service: ServiceID) async throws(TrackStoreError) -> Int64 {
        try await passing { store async throws(TrackStoreError) in
            try await store.version(of: entity, in: service)
        }
    }

    package func track(
        of entity: String, in service: ServiceID, from: Timestamp, through: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> StoredTrack {
        try await passing { store async throws(TrackStoreError) in
            try await store.track(of: entity, in: service, from: from, through: through, limit: limit)
        }
    }

    package func lastPoints(
        of entity: String, in service: ServiceID, count: Int
    ) async throws(TrackStoreError) -> StoredTrack {
        try await passing { store async throws(TrackStoreError) in
            try await store.lastPoints(of: entity, in: service, count: count)
        }
    }

    // MARK: StoreMaintenance

    package func mergeChunks(limit: Int, at now: Timestamp) async throws(TrackStoreError) -> Int {
        try await passing { store async throws(TrackStoreError) in
            try await store.mergeChunks(limit: limit, at: now)
        }
    }

    package func removePoints(
        of service: ServiceID, before time: Timestamp, after cursor: RemovalCursor?, limit: Int
    ) async throws(TrackStoreError) -> PointRemoval {
        try await passing { store async throws(TrackStoreError) in
            try await store.removePoints(of: service, before: time, after: cursor, limit: limit)
        }
    }

    package func checkIntegrity() async throws(TrackStoreError) -> [String] {
        try await passing { store async throws(TrackStoreError) in
            try await store.checkIntegrity()
        }
    }

    package func counts() async throws(TrackStoreError) -> StoreCounts {
        try await passing { store async throws(TrackStoreError) in
            try await store.counts()
        }
    }

    package func size() async throws(TrackStoreError) -> StoreSize {
        try await passing { store async throws(TrackStoreError) in
            try await store.size()
        }
    }

    package func probe() async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.probe()
        }
    }

    package func close() async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.close()
        }
    }
}
