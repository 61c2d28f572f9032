package import TrackModel

/// The URLs of operators, and the alarms that wait to be sent there.
///
/// An alarm is queued in the transaction that stores it, when its service has a URL then. Alarms of a service are sent in
/// the order of their numbers by one sender at a time, which holds a *claim* on the service.
package protocol CallbackStore: Sendable {
    /// Sets the URL of a service. Nil: the service has none from now on, and nothing waits any more. With another URL what
    /// waits goes to the new one, at once. Throws `.unknownService`, and `.failed` for texts beyond
    /// ``CallbackTarget/mostBytes``.
    func setCallback(_ target: CallbackTarget?, of service: ServiceID) async throws(TrackStoreError)
    /// Nil when the service has none. Throws `.unknownService`.
    func callback(of service: ServiceID) async throws(TrackStoreError) -> CallbackTarget?
    /// The services with something to send at this time that nobody has a claim on, at most `limit`. Costs next to nothing
    /// when nothing waits.
    func dueCallbacks(at now: Timestamp, limit: Int) async throws(TrackStoreError) -> [ServiceID]
    /// Claims a service for a sender through a time, and returns its oldest callbacks, at most `limit`. Nil when nothing is
    /// due, or when another sender has a claim. A sender that has the claim claims it anew. An alarm that cannot be read
    /// waits no longer.
    func claimCallbacks(
        of service: ServiceID, by sender: Int64, at now: Timestamp, through end: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> CallbackClaim?
    /// Ends the claim of a sender. False, and nothing is changed, when the sender does not have it any more.
    func settleCallbacks(
        _ settlement: CallbackSettlement, by sender: Int64
    ) async throws(TrackStoreError) -> Bool
}

extension StoreDecorator {
    package func setCallback(_ target: CallbackTarget?, of service: ServiceID) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.setCallback(target, of: service)
        }
    }

    package func callback(of service: ServiceID) async throws(TrackStoreError) -> CallbackTarget? {
        try await passing { store async throws(TrackStoreError) in
            try await store.callback(of: service)
        }
    }

    package func dueCallbacks(at now: Timestamp, limit: Int) async throws(TrackStoreError) -> [ServiceID] {
        try await passing { store async throws(TrackStoreError) in
            try await store.dueCallbacks(at: now, limit: limit)
        }
    }

    package func claimCallbacks(
        of service: ServiceID, by sender: Int64, at now: Timestamp, through end: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> CallbackClaim? {
        try await passing { store async throws(TrackStoreError) in
            try await store.claimCallbacks(of: service, by: sender, at: now, through: end, limit: limit)
        }
    }

    package func settleCallbacks(
        _ settlement: CallbackSettlement, by sender: Int64
    ) async throws(TrackStoreError) -> Bool {
        try await passing { store async throws(TrackStoreError) in
            try await store.settleCallbacks(settlement, by: sender)
        }
    }
}
