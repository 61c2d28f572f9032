package import TrackModel

/// The tracks: points on their way in, and ranges of them on their way out.
package protocol PointStore: Sendable {
    /// The last stored sequence of a stream, 0 when the store does not know it.
    func storedThrough(_ stream: StreamID, in service: ServiceID) async throws(TrackStoreError) -> UInt64
    /// Stores all batches in one transaction and returns after its commit, one outcome a batch, in order.
    ///
    /// A batch that belongs to a stream is stored exactly once: what its sequences say is stored already is left out.
    /// A hint becomes the entity's latest point when it is later than both the latest stored one and an earlier hint, until a
    /// point as late is stored. It is no point of the track: no range, count or stream knows it.
    ///
    /// A batch whose service is gone fails alone. Throws only when the transaction as a whole failed: nothing is stored.
    func ingest(_ batches: [IngestBatch]) async throws(TrackStoreError) -> [IngestOutcome]
    /// Points with `from <= time <= through`, ascending; of two with the same time the one stored later.
    /// Throws `.unknownEntity`, `.tooManyPoints` when there are more than `limit`.
    func points(
        of entity: String, in service: ServiceID, from: Timestamp, through: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> [StoredPoint]
}

extension StoreDecorator {
    package func storedThrough(_ stream: StreamID, in service: ServiceID) async throws(TrackStoreError) -> UInt64 {
        try await passing { store async throws(TrackStoreError) in
            try await store.storedThrough(stream, in: service)
        }
    }

    package func ingest(_ batches: [IngestBatch]) async throws(TrackStoreError) -> [IngestOutcome] {
        try await passing { store async throws(TrackStoreError) in
            try await store.ingest(batches)
        }
    }

    package func points(
        of entity: String, in service: ServiceID, from: Timestamp, through: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> [StoredPoint] {
        try await passing { store async throws(TrackStoreError) in
            try await store.points(of: entity, in: service, from: from, through: through, limit: limit)
        }
    }
}
