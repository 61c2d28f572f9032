/// Why the gateway could not start.
package struct GatewayError: Error, Equatable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// The address cannot be listened on.
        case bind
        /// It runs already, or has been stopped.
        case state
    }

    package let code: Code
    /// For people: the value, the rule and what to do. Never a secret.
    package let detail: String

    init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    package var description: String { detail }
}
