/// A tenant's number: positive, fits in 31 bits because existing clients decode it as a 32-bit integer.
package struct ServiceID: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: Int64

    package init?(rawValue: Int64) {
        guard (1...Int64(Int32.max)).contains(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The identity of one sequence space: 128 random bits, chosen by the cache that numbers the points.
package struct StreamID: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package static func random(using generator: inout some RandomNumberGenerator) -> StreamID {
        StreamID(high: generator.next(), low: generator.next())
    }

    /// Sixteen bytes, most significant first.
    package var bytes: [UInt8] {
        [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
    }

    /// Nil unless given exactly sixteen bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// The name of one tracked thing inside a service: the rules, and what is wrong with a name that breaks one.
///
/// Two rules: an entity that is there already may have any name that ``problem(with:)`` lets pass, and goes on with it. A new
/// one needs a name with one spelling, see ``problem(withNew:)``. So no two names that people take for one come into being, and
/// names can be compared byte by byte.
package enum EntityName {
    /// Bytes of UTF-8.
    package static let maximumBytes = 128

    /// Nil when the name may be used; otherwise a sentence that names the rule.
    ///
    /// Refused: empty, over 128 bytes, control characters, a leading `#`, and `, ; | :`, which have a meaning in
    /// the Web API's filters and lists. Anything else is allowed, more than the published rule, because clients send it.
    package static func problem(with name: String) -> String? {
        if name.isEmpty { return "an entity name must not be empty" }
        if name.utf8.count > maximumBytes {
            return "an entity name has at most \(maximumBytes) bytes of UTF-8, this one has \(name.utf8.count)"
        }
        if name.utf8.first == UInt8(ascii: "#") { return "an entity name must not begin with '#'" }
        for scalar in name.unicodeScalars {
            if scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) {
                return "an entity name must not hold control characters"
            }
            if ",;|:".unicodeScalars.contains(scalar) { return "an entity name must not hold '\(scalar)'" }
        }
        return nil
    }

    /// Nil when an entity may get this name; otherwise a sentence that names the rule.
    ///
    /// Refused beside what ``problem(with:)`` refuses: white space at the ends, white space that is no plain space, characters
    /// that nobody sees, and a spelling that is not Unicode's normal form C.
    package static func problem(withNew name: String) -> String? {
        if let problem = problem(with: name) { return problem }
        if let problem = NameRules.problem(with: name, "a new entity name") { return problem }
        for scalar in name.unicodeScalars where scalar.properties.isWhitespace && scalar != " " {
            return
                "a new entity name must not hold white space but the plain space, and this one holds \(NameRules.code(scalar))"
        }
        var span = name.utf8Span
        guard span.checkForNFC(quickCheck: false) else {
            return
                "a new entity name is written in Unicode's normal form C, with é as one character, and this one is not: write it anew"
        }
        return nil
    }
}

/// An entity's name, compared byte by byte as the store compares it.
///
/// `String` takes two spellings of one text for equal (é as one character, or as e and an accent). To the store these are
/// two entities.
package struct ExactName: Hashable, Comparable, Sendable, ExpressibleByStringLiteral {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package init(stringLiteral text: String) {
        self.text = text
    }

    package static func == (left: Self, right: Self) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    package static func < (left: Self, right: Self) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

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
