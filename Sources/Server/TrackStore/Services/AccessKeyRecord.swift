package import TrackModel

/// A key's right to one service.
package struct AccessKeyRecord: Sendable {
    package var hash: AccessKeyHash
    package var service: ServiceID
    /// The `sk` of a key whose requests must be signed; kept readable because verifying needs it.
    package var secret: String?
    package var isDisabled: Bool

    package init(hash: AccessKeyHash, service: ServiceID, secret: String?, isDisabled: Bool) {
        self.hash = hash
        self.service = service
        self.secret = secret
        self.isDisabled = isDisabled
    }
}
