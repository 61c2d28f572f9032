/// An attribute that points do not carry, and why.
package struct IgnoredAttribute: Hashable, Sendable {
    /// The raw values are names for the control interface.
    package enum Reason: String, Hashable, Sendable, CaseIterable {
        /// The service has no column of this key.
        case unknownKey = "unknown_key"
        /// The column is of another type.
        case wrongType = "wrong_type"
        /// The key or the value breaks a rule for all attributes.
        case invalid
        /// The attributes are more or longer than a point may carry.
        case tooMany = "too_many"
    }

    package let key: String
    package let reason: Reason
    /// A sentence with the rule and what to do.
    package let detail: String

    package init(_ key: String, _ reason: Reason, _ detail: String) {
        self.key = key
        self.reason = reason
        self.detail = detail
    }
}
