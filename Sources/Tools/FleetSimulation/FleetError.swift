/// Why a fleet could not carry out its plan. The first failure ends the run, because a load that lost something
/// measures nothing.
package struct FleetError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// The plan itself, or a file it names.
        case plan
        /// The server cannot be reached, is not trusted, or closed a connection.
        case connection
        /// The server refused a login or a point.
        case refused
        /// The server sent something that the protocol does not allow here.
        case answer
        /// Something exceeded its time limit.
        case timeout
    }

    package let code: Code
    /// For people: names the value and the rule, never a key.
    package let detail: String

    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package var description: String { detail }
}
