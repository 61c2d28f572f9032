package import TrackModel

/// The services of a store and the access keys that open them.
package protocol ServiceStore: Sendable {
    /// Makes a service with the next free number.
    func createService(named name: String, at now: Timestamp) async throws(TrackStoreError) -> ServiceRecord
    /// All services in the order of their numbers.
    func services() async throws(TrackStoreError) -> [ServiceRecord]
    /// Adds a key to a service; `replacing` true disables all earlier ones in the same transaction.
    /// Throws `.unknownService`.
    func addKey(
        _ hash: AccessKeyHash, secret: String?, to service: ServiceID, replacing: Bool, at now: Timestamp
    ) async throws(TrackStoreError)
    /// Every key with this hash, one a service; empty when the key is unknown.
    func keys(matching hash: AccessKeyHash) async throws(TrackStoreError) -> [AccessKeyRecord]
}

extension StoreDecorator {
    package func createService(named name: String, at now: Timestamp) async throws(TrackStoreError) -> ServiceRecord {
        try await passing { store async throws(TrackStoreError) in
            try await store.createService(named: name, at: now)
        }
    }

    package func services() async throws(TrackStoreError) -> [ServiceRecord] {
        try await passing { store async throws(TrackStoreError) in
            try await store.services()
        }
    }

    package func addKey(
        _ hash: AccessKeyHash, secret: String?, to service: ServiceID, replacing: Bool, at now: Timestamp
    ) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.addKey(hash, secret: secret, to: service, replacing: replacing, at: now)
        }
    }

    package func keys(matching hash: AccessKeyHash) async throws(TrackStoreError) -> [AccessKeyRecord] {
        try await passing { store async throws(TrackStoreError) in
            try await store.keys(matching: hash)
        }
    }
}
