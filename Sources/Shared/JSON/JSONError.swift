/// Why bytes are not the JSON that a reader takes, and where.
package struct JSONError: Error, Hashable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        case syntax, encoding, number, duplicateKey, tooLarge, tooDeep, tooManyValues
    }
    package let code: Code
    /// Bytes from the beginning of the text.
    package let offset: Int
    package let detail: String

    package var description: String { "not valid JSON at byte \(offset): \(detail)" }
}
