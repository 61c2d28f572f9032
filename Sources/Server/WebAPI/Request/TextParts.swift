/// Texts of clients, cut by bytes and by Unicode's scalars. What Swift calls a character may be as long as the whole text, and
/// to compare two of them costs the square of their length.
enum TextParts {
    /// The parts between the separators, which are ASCII characters. Empty ones are left out, unless `keepsEmpty`. At most
    /// `most` cuts.
    static func split(
        _ text: some StringProtocol, at separators: Unicode.Scalar..., most: Int = .max, keepsEmpty: Bool = false
    ) -> [Substring] {
        let bytes = separators.map { UInt8(ascii: $0) }
        return Substring(text).utf8.split(maxSplits: most, omittingEmptySubsequences: !keepsEmpty) {
            bytes.contains($0)
        }.map { Substring($0) }
    }

    /// Without the white space at both ends.
    static func trimmed(_ text: some StringProtocol) -> String {
        var scalars = Substring(text).unicodeScalars
        while let first = scalars.first, first.properties.isWhitespace { scalars.removeFirst() }
        while let last = scalars.last, last.properties.isWhitespace { scalars.removeLast() }
        return String(Substring(scalars))
    }

    static func isBlank(_ text: some StringProtocol) -> Bool {
        Substring(text).unicodeScalars.allSatisfy(\.properties.isWhitespace)
    }

    static func contains(_ text: some StringProtocol, _ scalar: Unicode.Scalar) -> Bool {
        text.utf8.contains(UInt8(ascii: scalar))
    }

    static func begins(_ text: some StringProtocol, with prefix: String) -> Bool { text.utf8.starts(with: prefix.utf8) }

    /// The same bytes.
    static func isSame(_ left: some StringProtocol, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }
}
