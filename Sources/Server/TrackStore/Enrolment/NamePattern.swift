import TrackModel

/// How a token names the entities of its devices: a text with `{entity}` (what the box wishes), `{serial}` (its serial
/// number) and `{number}` (counts up with each device of the token).
package struct NamePattern: Hashable, Sendable, CustomStringConvertible {
    package enum Part: String, Hashable, Sendable, CaseIterable {
        case entity
        case serial
        case number
    }

    private enum Piece: Hashable, Sendable {
        case text(String)
        case part(Part)
    }

    private let pieces: [Piece]
    /// As it was given.
    package let description: String

    /// The wish of the box.
    package static let wish = NamePattern(pieces: [.part(.entity)], description: "{entity}")

    private init(pieces: [Piece], description: String) {
        self.pieces = pieces
        self.description = description
    }

    /// Throws a sentence that names the rule that the text breaks.
    package init(_ text: String) throws(NamePatternError) {
        var pieces: [Piece] = []
        var rest = text[...]
        while let brace = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            if brace > rest.startIndex { pieces.append(.text(String(rest[..<brace]))) }
            guard rest[brace] == "{", let end = rest[brace...].firstIndex(of: "}"),
                let part = Part(rawValue: String(rest[rest.index(after: brace)..<end]))
            else {
                throw NamePatternError(
                    "the name \"\(text.prefix(80))\" has a brace that is not of {entity}, {serial} or {number}")
            }
            pieces.append(.part(part))
            rest = rest[rest.index(after: end)...]
        }
        if !rest.isEmpty { pieces.append(.text(String(rest))) }
        self.init(pieces: pieces, description: text)
        // The shortest values show whether the text around them can be in a name.
        let sample = name(entity: "x", serial: "x", number: 1) ?? ""
        if let problem = EntityName.problem(withNew: sample) {
            throw NamePatternError("the name \"\(text.prefix(80))\" makes no entity: \(problem)")
        }
    }

    package func has(_ part: Part) -> Bool { pieces.contains(.part(part)) }

    /// Whether it can name more than one entity.
    package var isForMany: Bool { Part.allCases.contains(where: has) }

    /// Nil when the pattern needs a value that is not there. The name may break the rules of ``EntityName``.
    package func name(entity: String?, serial: String?, number: Int64) -> String? {
        var name = ""
        for piece in pieces {
            switch piece {
            case .text(let text): name += text
            case .part(.number): name += "\(number)"
            case .part(let part):
                guard let value = part == .entity ? entity : serial else { return nil }
                name += value
            }
        }
        return name
    }
}

/// Why a text is no ``NamePattern``.
package struct NamePatternError: Error, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
