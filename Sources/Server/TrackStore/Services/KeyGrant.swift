/// A key that is about to be added to a service.
package struct KeyGrant: Sendable {
    package var hash: AccessKeyHash
    /// The `sk` of a key whose requests must be signed.
    package var secret: String?
    package var rights: KeyRights

    package init(_ hash: AccessKeyHash, secret: String? = nil, rights: KeyRights) {
        self.hash = hash
        self.secret = secret
        self.rights = rights
    }
}
