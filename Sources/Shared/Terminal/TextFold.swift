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
