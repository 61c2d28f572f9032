internal import TrackModel

/// Texts of other people on a terminal.
package enum TerminalText {
    /// Replaces characters that control a terminal, break a line, change the writing direction or cannot be seen by `?`.
    ///
    /// Other people choose names. A name must not hide or rewrite the text beside it, nor begin a line of its own. The joiners of
    /// words (U+200C and U+200D), which some scripts and emoji need, stay.
    package static func safe(_ text: String) -> String {
        guard text.hasHidden else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { $0.isHidden ? "?" : $0 }))
    }

    /// A text of the program's own with several lines, in which texts of others may stand: the line breaks stay.
    package static func safeLines(_ text: String) -> String {
        text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { safe(String($0)) }
            .joined(separator: "\n")
    }

    /// A text in JSON with the same characters as `\u` escapes. It says the same to a program that reads it.
    package static func safeJSON(_ text: String) -> String {
        guard text.hasHidden else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            // Line breaks between the values are of the writer.
            guard scalar.isHidden, scalar != "\n" else {
                result.unicodeScalars.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return result
    }
}

extension String {
    /// Without characters that control a terminal: see ``TerminalText``.
    package var printable: String { TerminalText.safe(self) }
}
