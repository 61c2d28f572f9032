extension Unicode.Scalar {
    /// Whether this scalar controls a terminal, breaks a line, changes the writing direction or cannot be seen.
    ///
    /// A text of somebody else with one can hide or rewrite what stands beside it, or look like another text. The joiners of words
    /// (U+200C and U+200D) and the variants of signs (U+FE00 to U+FE0F) are none: some scripts and emoji need them.
    package var isHidden: Bool {
        switch value {
        case 0..<0x20, 0x7F...0x9F: true
        // Direction marks, embeddings, overrides and isolates; separators of lines and paragraphs.
        case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        // Letters and marks that show nothing: fillers, vowels and joiners that fonts leave out, Braille without dots.
        case 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B...0x180F, 0x2800, 0x3164, 0xFFA0: true
        // Without width.
        case 0x00AD, 0x200B, 0x2060...0x2065, 0x206A...0x206F, 0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE007F: true
        default: false
        }
    }
}

extension String {
    /// Whether there is a scalar in it that is hidden (``Unicode/Scalar/isHidden``).
    package var hasHidden: Bool { unicodeScalars.contains(where: \.isHidden) }

    /// With U+FFFD in the place of hidden scalars: for a text that must not be lost because of them.
    package var visible: String {
        guard hasHidden else { return self }
        return String(UnicodeScalarView(unicodeScalars.map { $0.isHidden ? "\u{FFFD}" : $0 }))
    }
}
