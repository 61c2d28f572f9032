package import TrackModel

/// Keeps a store small and sound, and closes it.
package protocol StoreMaintenance: Sendable {
    /// Merges small neighbouring chunks of some entities into larger ones; returns how many chunks it replaced. `now` says
    /// how old a chunk is: small ones wait for more until they are ``ChunkLimits/smallChunkAge`` old.
    ///
    /// Stops soon after `limit`; call again until it returns 0, which means that nothing is due, not that no small
    /// chunk is left. Readers see the same points before, during and after. Cheap when nothing is due.
    func mergeChunks(limit: Int, at now: Timestamp) async throws(TrackStoreError) -> Int
    /// Removes points of a service that were measured and received before a time. A store that keeps points
    /// together may keep an old point until its neighbours are as old, and an entity's latest position until all its points
    /// are. Then the entity has no position any more.
    ///
    /// Looks at `limit` chunks or a few more, and goes on after `cursor` of the call before; nil: from the beginning. Call again
    /// until it returns no cursor. Throws `.unknownService`.
    func removePoints(
        of service: ServiceID, before time: Timestamp, after cursor: RemovalCursor?, limit: Int
    ) async throws(TrackStoreError) -> PointRemoval
    /// Checks the store's own consistency; an empty list means sound. Each entry is a sentence for an operator.
    func checkIntegrity() async throws(TrackStoreError) -> [String]
    func counts() async throws(TrackStoreError) -> StoreCounts
    func size() async throws(TrackStoreError) -> StoreSize
    /// Reads something that every commit changes. Calls that run or wait do not hold it up, however many: who asks learns
    /// whether the store itself answers.
    func probe() async throws(TrackStoreError)
    /// Ends the store: waits for the calls that run, and every later call fails with `.closed`. Every commit is safe
    /// without it. Closing again does nothing.
    func close() async throws(TrackStoreError)
}

/// How much room a store takes on its medium.
package struct StoreSize: Hashable, Sendable {
    /// Bytes that the store occupies, its log counted.
    package var bytes: Int64
    /// Bytes that the store may still take; nil when the medium cannot tell.
    package var availableBytes: UInt64?

    package init(bytes: Int64, availableBytes: UInt64?) {
        self.bytes = bytes
        self.availableBytes = availableBytes
    }
}

package struct StoreCounts: Hashable, Sendable {
    package var services: Int
    package var entities: Int
    package var chunks: Int
    /// Points held, those counted that a later one of the same time has superseded and no merging has removed yet.
    package var points: Int

    package init(services: Int, entities: Int, chunks: Int, points: Int) {
        self.services = services
        self.entities = entities
        self.chunks = chunks
        self.points = points
    }
}

/// What one call of ``StoreMaintenance/removePoints(of:before:after:limit:)`` did.
package struct PointRemoval: Hashable, Sendable {
    /// Points that are gone.
    package var removed: Int
    /// Where the next call goes on; nil: everything was looked at.
    package var cursor: RemovalCursor?

    package init(removed: Int, cursor: RemovalCursor? = nil) { (self.removed, self.cursor) = (removed, cursor) }
}

/// How far the removal of old points has looked: entities in the order of their names, and chunks in the order of the store.
package struct RemovalCursor: Hashable, Sendable {
    /// The entity that was looked at last.
    package let entity: String
    /// The last chunk of it that was looked at; nil: all of the entity is done.
    package let chunk: Chunk?

    package struct Chunk: Hashable, Sendable {
        package let firstTime: Int64
        package let id: Int64

        package init(firstTime: Int64, id: Int64) { (self.firstTime, self.id) = (firstTime, id) }
    }

    package init(entity: String, chunk: Chunk? = nil) { (self.entity, self.chunk) = (entity, chunk) }
}
