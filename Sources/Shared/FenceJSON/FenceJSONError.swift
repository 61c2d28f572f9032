/// What is wrong with a fence that came as JSON. It names the member, the value and what it needs.
package struct FenceJSONError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }

    /// A text from outside, short enough for a message.
    package static func quoted(_ text: some StringProtocol) -> String {
        text.utf8.count <= 80 ? "'\(text)'" : "'\(text.unicodeScalars.prefix(40).map(String.init).joined())…'"
    }
}
