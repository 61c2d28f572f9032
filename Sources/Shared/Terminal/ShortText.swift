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
