package import TrackModel

/// Tokens, and the devices that are claimed with them.
package protocol EnrolmentStore: Sendable {
    /// Adds a token, and returns it with its number. Throws `.unknownService`, and `.tokenExists` when there is one of this hash.
    func addToken(_ token: NewToken, at now: Timestamp) async throws(TrackStoreError) -> TokenRecord
    /// Nil when there is no such token.
    func token(matching hash: TokenHash) async throws(TrackStoreError) -> TokenRecord?
    /// In the order of their numbers, ended ones too.
    func tokens(in service: ServiceID?) async throws(TrackStoreError) -> [TokenRecord]
    /// Ends a token, and returns it. Again it changes nothing. Throws `.unknownToken`.
    func revokeToken(_ number: Int64, at now: Timestamp) async throws(TrackStoreError) -> TokenRecord
    /// Revokes devices that were claimed with a token, pending ones too, in one transaction: the oldest, at most `limit`. Returns
    /// them as they are then; empty when none is left.
    func revokeDevices(ofToken number: Int64, limit: Int) async throws(TrackStoreError) -> [DeviceRecord]
    /// Decides a claim by ``ClaimRules`` and does what follows, in one transaction: counts the use, makes the device, and makes
    /// its entity when a certificate is issued and there is none.
    func claim(_ request: ClaimRequest, at now: Timestamp) async throws(TrackStoreError) -> ClaimOutcome
    /// Decides a renewal by ``RenewalRules``, and notes the end of the new certificate.
    func renew(_ request: RenewalRequest, at now: Timestamp) async throws(TrackStoreError) -> RenewalOutcome
    /// How many devices are in each state.
    func deviceCensus() async throws(TrackStoreError) -> DeviceCensus
}

/// The devices of a store in numbers.
package struct DeviceCensus: Hashable, Sendable {
    package var active = 0
    package var pending = 0
    package var revoked = 0
    /// When the device was made that has been pending for longest.
    package var oldestPending: Timestamp?

    package init(active: Int = 0, pending: Int = 0, revoked: Int = 0, oldestPending: Timestamp? = nil) {
        self.active = active
        self.pending = pending
        self.revoked = revoked
        self.oldestPending = oldestPending
    }
}

extension EnrolmentStore {
    /// Whether somebody shows an enrolment token where an access key belongs.
    package func isToken(_ key: AccessKeyHash) async throws(TrackStoreError) -> Bool {
        try await token(matching: TokenHash(bytes: key.bytes)) != nil
    }
}
