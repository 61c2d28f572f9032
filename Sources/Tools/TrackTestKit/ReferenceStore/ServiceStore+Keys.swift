package import TrackModel
package import TrackStore

extension ServiceStore {
    /// Adds a key that may do what keys without scopes could do.
    package func addKey(
        _ hash: AccessKeyHash, secret: String?, to service: ServiceID, replacing: Bool, at now: Timestamp
    ) async throws(TrackStoreError) {
        try await addKey(
            KeyGrant(hash, secret: secret, rights: .former), to: service, replacing: replacing, at: now)
    }
}
