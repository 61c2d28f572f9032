package import TrackModel

/// A key of a service as an operator sees it: everything but the key and its secret.
package struct KeyListing: Hashable, Sendable {
    package var hash: AccessKeyHash
    /// When the key was made, or added again.
    package var created: Timestamp
    /// Requests with this key must be signed.
    package var isSigned: Bool
    package var isDisabled: Bool
    package var rights: KeyRights

    package init(
        hash: AccessKeyHash, created: Timestamp, isSigned: Bool, isDisabled: Bool, rights: KeyRights
    ) {
        self.hash = hash
        self.created = created
        self.isSigned = isSigned
        self.isDisabled = isDisabled
        self.rights = rights
    }
}
