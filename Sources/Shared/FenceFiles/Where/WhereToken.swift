internal import JSON

/// A word, a value or a sign of a clause, and the character at which it begins.
struct WhereToken: Hashable {
    enum Kind: Hashable {
        /// Without quotes; a keyword or a name.
        case word(String)
        /// In double quotes; always a name.
        case name(String)
        case number(WhereValue)
        case text(String)
        case sign(String)
        case end
    }

    let kind: Kind
    /// From 1.
    let position: Int

    /// For a message.
    var text: String {
        switch kind {
        case .word(let word): FenceFileError.quoted(word)
        case .name(let name): FenceFileError.quoted("\"\(name)\"")
        case .number(let value): value.description
        case .text(let text): "the text \(FenceFileError.quoted(text))"
        case .sign(let sign): "'\(sign)'"
        case .end: "the end"
        }
    }

    func isWord(_ keyword: String) -> Bool {
        if case .word(let word) = kind { word.uppercased() == keyword } else { false }
    }

    static func tokens(of clause: String) throws(FenceFileError) -> [WhereToken] {
        let scalars = Array(clause.unicodeScalars)
        var tokens: [WhereToken] = []
        var index = 0
        while index < scalars.count {
            let start = index
            let scalar = scalars[index]
            if scalar.properties.isWhitespace {
                index += 1
                continue
            }
            let kind: Kind
            switch scalar {
            case "'": kind = .text(try quoted(scalars, &index))
            case "\"": kind = .name(try quoted(scalars, &index))
            case "0"..."9", ".": kind = .number(try number(scalars, &index))
            case "=", "(", ")", ",", "-", "+":
                index += 1
                kind = .sign(String(scalar))
            case "<", ">", "!":
                index += 1
                var sign = String(scalar)
                if index < scalars.count, scalars[index] == "=" || (scalar == "<" && scalars[index] == ">") {
                    sign.unicodeScalars.append(scalars[index])
                    index += 1
                }
                guard sign != "!" else { throw WhereClause.error(start + 1, "'!' stands alone: write != or NOT") }
                kind = .sign(sign)
            default:
                guard isLetter(scalar) else {
                    throw WhereClause.error(
                        start + 1, "'\(scalar)' is no part of a clause: a name with signs in it stands in \"\"")
                }
                while index < scalars.count, isLetter(scalars[index]) || ("0"..."9").contains(scalars[index]) {
                    index += 1
                }
                var word = ""
                word.unicodeScalars.append(contentsOf: scalars[start..<index])
                kind = .word(word)
            }
            tokens.append(WhereToken(kind: kind, position: start + 1))
        }
        tokens.append(WhereToken(kind: .end, position: scalars.count + 1))
        return tokens
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "_": true
        default: scalar.value >= 0x80
        }
    }

    /// A quote inside is written twice.
    private static func quoted(_ scalars: [Unicode.Scalar], _ index: inout Int) throws(FenceFileError) -> String {
        let (start, quote) = (index, scalars[index])
        index += 1
        var text = ""
        while index < scalars.count {
            if scalars[index] == quote {
                index += 1
                guard index < scalars.count, scalars[index] == quote else { return text }
            }
            text.unicodeScalars.append(scalars[index])
            index += 1
        }
        throw WhereClause.error(start + 1, "the quote \(quote) is not closed")
    }

    private static func number(_ scalars: [Unicode.Scalar], _ index: inout Int) throws(FenceFileError) -> WhereValue {
        let start = index
        func digits() { while index < scalars.count, ("0"..."9").contains(scalars[index]) { index += 1 } }
        digits()
        if index < scalars.count, scalars[index] == "." {
            index += 1
            digits()
        }
        if index < scalars.count, scalars[index] == "e" || scalars[index] == "E" {
            index += 1
            if index < scalars.count, scalars[index] == "+" || scalars[index] == "-" { index += 1 }
            digits()
        }
        var text = ""
        text.unicodeScalars.append(contentsOf: scalars[start..<index])
        let isWord = index < scalars.count && isLetter(scalars[index])
        if !isWord, let whole = Int64(text) { return .integer(whole) }
        guard !isWord, let number = Double(decimal: text) else {
            throw WhereClause.error(start + 1, "\(FenceFileError.quoted(text)) is no number")
        }
        return .real(number)
    }
}
