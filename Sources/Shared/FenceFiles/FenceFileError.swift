internal import FenceJSON
internal import TrackFiles

/// What is wrong with a file, a clause or a text, and where. It names the value, the rule and what to do; the file's name is
/// for the caller to add.
package struct FenceFileError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }

    init(_ error: TrackFileError) {
        description = error.description
    }

    init(_ error: FenceJSONError) {
        description = error.description
    }

    /// A text from outside, short enough for a message.
    static func quoted(_ text: some StringProtocol) -> String { FenceJSONError.quoted(text) }
}
