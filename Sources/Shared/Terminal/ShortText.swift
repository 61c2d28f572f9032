extension String {
    /// Short enough for a message.
    package var shortened: String { count <= 60 ? self : String(prefix(60)) + "…" }
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
