/// What keeps a store small and sound.
package protocol StoreUpkeep: Sendable {
    /// Merges small neighbouring chunks of some entities into larger ones; returns how many chunks it replaced.
    ///
    /// Stops soon after `limit`; call again until it returns 0, which means that nothing is due, not that no small
    /// chunk is left. Readers see the same points before, during and after. Cheap when nothing is due.
    func mergeChunks(limit: Int) async throws(TrackStoreError) -> Int
    /// Checks the store's own consistency; an empty list means sound. Each entry is a sentence for an operator.
    func checkIntegrity() async throws(TrackStoreError) -> [String]
    func counts() async throws(TrackStoreError) -> StoreCounts
}

extension StoreDecorator {
    package func mergeChunks(limit: Int) async throws(TrackStoreError) -> Int {
        try await passing { store async throws(TrackStoreError) in
            try await store.mergeChunks(limit: limit)
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
}
