/// Why bytes from a peer or a disk are not what they should be.
package struct WireError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// The bytes break the grammar: truncated, trailing, contradicting.
        case malformed
        /// A length or count exceeds its limit; nothing was allocated for it.
        case tooLarge
        /// A format version this program does not know.
        case unsupportedVersion
    }

    package let code: Code
    /// For people: the value, the rule and where it was seen. Holds no position and no secret.
    package let detail: String

    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    package var description: String { detail }
}
