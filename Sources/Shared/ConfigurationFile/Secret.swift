/// A text that must not reach a log, a status or an error: printing it shows `<hidden>`.
package struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text itself, for the one place that needs it.
    package let revealed: String

    package init(_ text: String) {
        revealed = text
    }

    package var description: String { "<hidden>" }
    package var debugDescription: String { description }
    /// Without this `dump` and string interpolation of a holder would walk into the text.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
