/// Why bytes from a peer or a disk cannot be used.
package struct WireError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// The bytes break the grammar: too short, too long, or contradictory.
        case malformed
        /// A length or count exceeds its limit. No memory was allocated for it.
        case tooLarge
        /// The program does not know this format version.
        case unsupportedVersion
    }

    package let code: Code
    /// For people: the value, the rule, and where the value was. Holds no position and no secret.
    package let detail: String

    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    package var description: String { detail }
}
