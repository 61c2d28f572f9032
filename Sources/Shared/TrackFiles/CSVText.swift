/// Texts in tables that spreadsheets open.
///
/// A spreadsheet computes a cell that begins with `=`, `+`, `-`, `@`, a tab or a line break: a name such as `=HYPERLINK(…)` then runs on
/// the computer of whoever opens the table. An apostrophe before it says that the cell is a text.
package enum CSVText {
    /// The text as it stands in a table for people. ``unguarded(_:)`` gives it back.
    package static func guarded(_ text: String) -> String { isComputed(text) ? "'" + text : text }

    /// What a cell of such a table says.
    package static func unguarded(_ cell: String) -> String {
        cell.utf8.first == 0x27 && isComputed(String(cell.dropFirst())) ? String(cell.dropFirst()) : cell
    }

    /// Whether a spreadsheet may compute it, or would after apostrophes were taken away. A plain number is harmless.
    private static func isComputed(_ text: String) -> Bool {
        let rest = text.unicodeScalars.drop { $0 == "'" }
        guard let first = rest.first else { return false }
        switch first {
        // Also as Chinese and Japanese keyboards write them.
        case "=", "@", "\t", "\r", "\n", "\u{FF1D}", "\u{FF20}", "\u{FF0B}", "\u{FF0D}": return true
        case "+", "-": return !isNumber(rest.dropFirst())
        default: return false
        }
    }

    private static func isNumber(_ text: Substring.UnicodeScalarView) -> Bool {
        !text.isEmpty && text.allSatisfy { ("0"..."9").contains($0) || $0 == "." } && text.count { $0 == "." } <= 1
    }
}
