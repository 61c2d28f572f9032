package import TrackModel

/// A key's right to one service.
package struct AccessKeyRecord: Sendable {
    package var hash: AccessKeyHash
    package var service: ServiceID
    /// The `sk` of a key whose requests must be signed, as it was given to ``KeyGrant/secret``.
    package var secret: String?
    package var isDisabled: Bool
    /// The app code of the service: see ``ServiceRecord/appCode``.
    package var appCode: String?
    package var rights: KeyRights

    package init(
        hash: AccessKeyHash, service: ServiceID, secret: String?, isDisabled: Bool, appCode: String? = nil,
        rights: KeyRights
    ) {
        self.hash = hash
        self.service = service
        self.secret = secret
        self.isDisabled = isDisabled
        self.appCode = appCode
        self.rights = rights
    }

    /// True when the service has no app code, or when this is it. Compares bytes, in a time that does not tell where they
    /// differ.
    package func accepts(appCode given: String) -> Bool {
        guard let appCode else { return true }
        let (given, wanted) = (Array(given.utf8), Array(appCode.utf8))
        guard given.count == wanted.count else { return false }
        return zip(given, wanted).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
