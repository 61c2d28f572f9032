/// Texts of other people on a terminal.
package enum TerminalText {
    /// Replaces characters that control a terminal or its writing direction by `?`.
    ///
    /// Other people choose names. A name must not hide or rewrite the text beside it.
    package static func safe(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    switch scalar.value {
                    case 0..<0x20, 0x7F...0x9F, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: "?"
                    default: scalar
                    }
                }))
    }
}
