internal import TrackModel

/// Breaks a text into lines between its words, never inside one.
package enum TextFold {
    /// The lines of a text that fit a width in columns. A word that is wider is a line of its own, whole.
    ///
    /// A number stays with its unit, and a day with its time of day. `width` nil: one line.
    package static func lines(_ text: String, width: Int?) -> [String] {
        guard let width, DisplayWidth.columns(text) > width else { return [text] }
        var lines: [String] = []
        var line = ""
        for part in parts(of: text) {
            guard !line.isEmpty else {
                line = part
                continue
            }
            if DisplayWidth.columns(line) + 1 + DisplayWidth.columns(part) <= width {
                line += " " + part
            } else {
                lines.append(line)
                line = part
            }
        }
        return lines + [line]
    }

    /// A text of several lines, each folded; leading blanks stay.
    package static func text(_ text: String, width: Int?) -> String {
        guard let width else { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
            let blanks = line.prefix { $0 == " " }
            return lines(String(line.dropFirst(blanks.count)), width: width, after: String(blanks))
        }.joined(separator: "\n")
    }

    /// The lines of a text behind a beginning: the first one with `first` before it, the others below, as far to the right.
    package static func lines(_ text: String, width: Int?, after first: String) -> [String] {
        let indent = String(repeating: " ", count: DisplayWidth.columns(first))
        let room = width.map { max($0 - indent.count, 1) }
        return lines(text, width: room).enumerated().map { ($0 == 0 ? first : indent) + $1 }
    }

    /// The widest part that must not be broken.
    static func widestPart(of text: String) -> Int {
        parts(of: text).map { DisplayWidth.columns($0) }.max() ?? 0
    }

    /// Words; with what must stay beside them.
    private static func parts(of text: String) -> [String] {
        var parts: [String] = []
        var former: Substring = ""
        for word in text.split(separator: " ") {
            if let last = parts.indices.last, belongs(word, to: former) {
                parts[last] += " " + word
            } else {
                parts.append(String(word))
            }
            former = word
        }
        return parts
    }

    private static func belongs(_ word: Substring, to former: Substring) -> Bool {
        guard let end = former.last, end.isASCII, end.isNumber else { return false }
        let start = former.drop { "(±<-+\"'".contains($0) }
        guard let begin = start.first, begin.isASCII, begin.isNumber else { return false }
        if isDay(start) { return word.first?.isNumber == true }
        let unit = word.prefix { $0.isLetter || "/²%°".contains($0) }
        let rest = word.dropFirst(unit.count)
        return units.contains(String(unit)) && rest.allSatisfy { ",.;:)".contains($0) }
    }

    private static func isDay(_ text: Substring) -> Bool {
        text.count == 10 && text.split(separator: "-").map(\.count) == [4, 2, 2]
    }

    private static let units: Set<String> = [
        "ms", "s", "min", "h", "d", "m", "km", "km/h", "m/s", "m/s²", "B", "KiB", "MiB", "GiB", "TiB", "%", "°", "Hz",
    ]
}

/// How many columns of a terminal a text takes: East Asian wide characters and most emoji take two, marks none.
package enum DisplayWidth {
    package static func columns(_ text: some StringProtocol) -> Int {
        text.reduce(0) { $0 + columns($1) }
    }

    package static func columns(_ character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        // U+FE0F asks for the picture form of what may also be text.
        if character.unicodeScalars.contains("\u{FE0F}") || first.properties.isEmojiPresentation { return 2 }
        if isWide(first.value) { return 2 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: return 1
        }
    }

    /// The longest beginning of a text that takes at most so many columns.
    package static func prefix(_ text: String, columns limit: Int) -> String {
        var used = 0
        var result = ""
        for character in text {
            used += columns(character)
            if used > limit { break }
            result.append(character)
        }
        return result
    }

    /// Blocks whose East Asian Width property (Unicode Annex 11) is W or F.
    private static let wideRanges: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6B, 0xFF01...0xFF60,
        0xFFE0...0xFFE6, 0x16FE0...0x18CFF, 0x1B000...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x2FFFD,
        0x30000...0x3FFFD,
    ]

    private static func isWide(_ scalar: UInt32) -> Bool {
        guard scalar >= 0x1100 else { return false }
        return wideRanges.contains { $0.contains(scalar) }
    }
}

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

extension String {
    /// Short enough for a message.
    package var shortened: String { count <= 60 ? self : String(prefix(60)) + "…" }
}

extension String {
    /// As a word of a command that people type: in quotes when a shell would read it otherwise.
    package var shellWord: String {
        let isPlain =
            !isEmpty
            && unicodeScalars.allSatisfy { scalar in
                scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                    || "-_./:,+@%=".unicodeScalars.contains(scalar)
            }
        return isPlain
            ? self : "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}

extension Character {
    package var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}

extension String {
    /// Without white space at its ends.
    package var trimmed: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
