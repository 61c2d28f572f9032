/// An attribute that points will not carry, and why.
package struct IgnoredAttribute: Hashable, Sendable {
    /// The raw values are names for the control interface.
    package enum Reason: String, Hashable, Sendable, CaseIterable {
        /// The service has no column of this key.
        case unknownKey = "unknown_key"
        /// The column is of another type.
        case wrongType = "wrong_type"
        /// Key or value breaks a rule that holds for all attributes.
        case invalid
        /// More attributes, or longer ones, than a point may carry.
        case tooMany = "too_many"
    }

    package let key: String
    package let reason: Reason
    /// A sentence: the rule and what to do.
    package let detail: String

    package init(_ key: String, _ reason: Reason, _ detail: String) {
        self.key = key
        self.reason = reason
        self.detail = detail
    }
}
