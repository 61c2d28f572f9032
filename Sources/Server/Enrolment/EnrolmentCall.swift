/// A request under ``EnrolmentCall/prefix``, as a listener has it.
package struct EnrolmentCall: Sendable {
    /// What the paths of all calls begin with.
    package static let prefix = "/enrol/"
    package static let claimPath = "/enrol/v1/claim"
    package static let renewalPath = "/enrol/v1/renew"
    /// Most bytes of a body.
    package static let maximumBodyBytes = 16_384

    package var method: String
    /// Without a query.
    package var path: String
    package var body: [UInt8]
    /// The address of the other end; nil when the listener does not know it.
    package var address: String?
    /// Whom limits count it for: see `ClientAddress`.
    package var origin: EnrolmentLimits.Origin

    package init(
        method: String, path: String, body: [UInt8], address: String?, origin: EnrolmentLimits.Origin
    ) {
        self.method = method
        self.path = path
        self.body = body
        self.address = address
        self.origin = origin
    }
}
