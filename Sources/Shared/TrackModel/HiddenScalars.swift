extension Unicode.Scalar {
    /// Whether this scalar controls a terminal, breaks a line or changes the writing direction: with it a text rewrites what stands
    /// beside it.
    package var isControl: Bool {
        switch value {
        case 0..<0x20, 0x7F...0x9F: true
        // Direction marks, embeddings, overrides and isolates; separators of lines and paragraphs.
        case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Whether nobody sees this scalar, so that a text with it looks like another text. The one list of such scalars.
    package var isInvisible: Bool {
        switch value {
        // Letters and marks that show nothing: fillers, vowels and joiners that fonts leave out, Braille without dots, a note without
        // a head.
        case 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B...0x180F, 0x2800, 0x3164, 0xFFA0, 0x16FE4, 0x1D159: true
        // Without width: hyphens, joiners, marks of direction, shorthand and beams.
        case 0x00AD, 0x061C, 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x206F, 0xFEFF, 0x1BCA0...0x1BCA3,
            0x1D173...0x1D17A:
            true
        // Variants of the sign before, tags, and what Unicode keeps for more of them.
        case 0xFE00...0xFE0F, 0xE0000...0xE0FFF: true
        // Annotations, the place of an object, and what is no character.
        case 0xFFF0...0xFFFC, 0xFDD0...0xFDEF: true
        default: value & 0xFFFE == 0xFFFE
        }
    }

    /// The joiners of words (U+200C and U+200D) and the variants of signs: some scripts and emoji need them.
    private var isNeeded: Bool {
        switch value {
        case 0x200C, 0x200D, 0xFE00...0xFE0F, 0xE0100...0xE01EF: true
        default: false
        }
    }

    /// Whether this scalar reaches no terminal: it controls one, or nobody sees it and no script needs it.
    ///
    /// A text of somebody else with one can hide or rewrite what stands beside it, or look like another text.
    package var isHidden: Bool { isControl || isInvisible && !isNeeded }
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

/// What a new name may hold, whatever it is the name of: no two names look alike because of what nobody sees.
package enum NameRules {
    /// Nil when the text may be a name, also when it is empty; otherwise a sentence that names the rule. `what`: "a fence's name".
    package static func problem(with text: String, _ what: String) -> String? {
        let scalars = text.unicodeScalars
        if let control = scalars.first(where: \.isControl) {
            return
                "\(what) must not hold control or direction characters, and this one holds \(code(control)): leave it out"
        }
        if scalars.first?.properties.isWhitespace == true || scalars.last?.properties.isWhitespace == true {
            return "\(what) must not begin or end with white space, as '\(text)' does: leave it out"
        }
        guard let hidden = scalars.first(where: { $0.isInvisible || $0.properties.generalCategory == .format }) else {
            return nil
        }
        return "\(what) must not hold characters that nobody sees, and this one holds \(code(hidden)): leave it out"
    }

    static func code(_ scalar: Unicode.Scalar) -> String {
        "U+\(String(scalar.value, radix: 16, uppercase: true))"
    }
}
