package import TrackModel
package import TrackStore

extension EntityStore {
    /// Makes the entity when the service does not have it.
    package func haveEntity(
        named name: String, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) {
        do throws(TrackStoreError) {
            try await addEntity(NewEntity(name: name), in: service, at: now)
        } catch {
            guard error.code == .entityExists else { throw error }
        }
    }
}
