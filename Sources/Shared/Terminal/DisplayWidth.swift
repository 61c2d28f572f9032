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
