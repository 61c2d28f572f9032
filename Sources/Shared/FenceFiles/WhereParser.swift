internal import JSON

/// Makes a condition of the words of a clause, by recursive descent of a bounded depth.
struct WhereParser {
    static let deepest = 64
    private static let keywords: Set<String> = ["AND", "OR", "NOT", "BETWEEN", "IN", "LIKE", "IS", "NULL"]

    private let tokens: [WhereToken]
    private var index = 0
    private var depth = 0

    init(_ tokens: [WhereToken]) {
        self.tokens = tokens
    }

    /// `tokens` ends with an end, which is never passed.
    private var next: WhereToken { tokens[index] }

    private mutating func take(word: String) -> Bool {
        guard next.isWord(word) else { return false }
        index += 1
        return true
    }

    private mutating func take(sign: String) -> Bool {
        guard next.kind == .sign(sign) else { return false }
        index += 1
        return true
    }

    private func error(_ needs: String) -> FenceFileError {
        WhereClause.error(next.position, "\(next.text) stands where \(needs) is expected")
    }

    mutating func clause() throws(FenceFileError) -> WhereCondition {
        let condition = try disjunction()
        guard next.kind == .end else { throw error("AND, OR or the end") }
        return condition
    }

    private mutating func disjunction() throws(FenceFileError) -> WhereCondition {
        var conditions = [try conjunction()]
        while take(word: "OR") { conditions.append(try conjunction()) }
        return conditions.count == 1 ? conditions[0] : .any(conditions)
    }

    private mutating func conjunction() throws(FenceFileError) -> WhereCondition {
        var conditions = [try negation()]
        while take(word: "AND") { conditions.append(try negation()) }
        return conditions.count == 1 ? conditions[0] : .all(conditions)
    }

    private mutating func negation() throws(FenceFileError) -> WhereCondition {
        guard depth < Self.deepest else {
            throw WhereClause.error(next.position, "more than \(Self.deepest) levels of parentheses and NOT")
        }
        depth += 1
        defer { depth -= 1 }
        if take(word: "NOT") { return .not(try negation()) }
        if take(sign: "(") {
            let condition = try disjunction()
            guard take(sign: ")") else { throw error("AND, OR or ')'") }
            return condition
        }
        return try predicate()
    }

    private mutating func predicate() throws(FenceFileError) -> WhereCondition {
        let left = try operand()
        let position = next.position
        if case .sign(let sign) = next.kind, let comparison = Self.comparison(sign) {
            index += 1
            return .compare(left, comparison, try operand(), position: position)
        }
        if take(word: "IS") {
            let isNegated = take(word: "NOT")
            guard take(word: "NULL") else { throw error(isNegated ? "NULL" : "NULL or NOT NULL") }
            return isNegated ? .not(.isNull(left)) : .isNull(left)
        }
        let isNegated = take(word: "NOT")
        let condition: WhereCondition
        if take(word: "BETWEEN") {
            let low = try operand()
            guard take(word: "AND") else { throw error("AND, as in BETWEEN 1 AND 5,") }
            condition = .between(left, low, try operand(), position: position)
        } else if take(word: "IN") {
            condition = .isIn(left, try list(), position: position)
        } else if take(word: "LIKE") {
            guard case .text(let text) = next.kind else { throw error("a text in ''") }
            let pattern = LikePattern(text)
            guard !pattern.isTooLong else {
                throw WhereClause.error(
                    next.position, "the pattern has more than \(LikePattern.mostCharacters) characters")
            }
            index += 1
            condition = .like(left, pattern, position: position)
        } else {
            throw error(isNegated ? "BETWEEN, IN or LIKE" : "a comparison (= <> < <= > >= BETWEEN IN LIKE IS NULL)")
        }
        return isNegated ? .not(condition) : condition
    }

    private static func comparison(_ sign: String) -> WhereCondition.Comparison? {
        switch sign {
        case "=": .equal
        case "<>", "!=": .unequal
        case "<": .less
        case "<=": .lessOrEqual
        case ">": .greater
        case ">=": .greaterOrEqual
        default: nil
        }
    }

    private mutating func list() throws(FenceFileError) -> [WhereValue] {
        guard take(sign: "(") else { throw error("'(', as in IN (1, 2),") }
        var values: [WhereValue] = []
        repeat {
            let position = next.position
            guard case .value(let value) = try operand() else {
                throw WhereClause.error(position, "a list after IN holds values, not columns: a text stands in ''")
            }
            values.append(value)
        } while take(sign: ",")
        guard take(sign: ")") else { throw error("',' or ')'") }
        return values
    }

    private mutating func operand() throws(FenceFileError) -> WhereCondition.Operand {
        let token = next
        switch token.kind {
        case .number(let value):
            index += 1
            return .value(value)
        case .text(let text):
            index += 1
            return .value(.text(text))
        case .name(let name):
            guard !name.isEmpty else { throw WhereClause.error(token.position, "a name in \"\" is empty") }
            index += 1
            return .column(name, position: token.position)
        case .sign(let sign) where sign == "-" || sign == "+":
            index += 1
            guard case .number(let value) = next.kind else { throw error("a number") }
            index += 1
            return .value(sign == "-" ? Self.negative(value) : value)
        case .word(let word):
            return try self.word(word, token)
        case .sign, .end:
            throw error("a column or a value")
        }
    }

    private mutating func word(_ word: String, _ token: WhereToken) throws(FenceFileError) -> WhereCondition.Operand {
        let upper = word.uppercased()
        if Self.keywords.contains(upper) {
            let hint = upper == "NULL" ? "; write IS NULL" : "; a column of that name stands in \"\""
            throw WhereClause.error(token.position, "\(upper) stands where a column or a value is expected\(hint)")
        }
        index += 1
        guard upper == "DATE" || upper == "TIMESTAMP", case .text(let text) = next.kind else {
            return .column(word, position: token.position)
        }
        guard let time = WhereTime(text), time.isDay || upper == "TIMESTAMP" else {
            let form = upper == "DATE" ? "DATE '2026-03-05'" : "TIMESTAMP '2026-03-05 08:20:12'"
            throw WhereClause.error(next.position, "\(FenceFileError.quoted(text)) is no such time: write \(form)")
        }
        index += 1
        return .value(.time(time.milliseconds))
    }

    private static func negative(_ value: WhereValue) -> WhereValue {
        switch value {
        case .integer(let number): .integer(-number)
        case .real(let number): .real(-number)
        case .text, .time: value
        }
    }
}

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
