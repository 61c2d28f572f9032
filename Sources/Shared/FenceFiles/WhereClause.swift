package import JSON

/// A condition in a subset of SQL that chooses features by their attributes:
/// `= <> != < <= > >= BETWEEN IN LIKE IS NULL AND OR NOT ( )`, names plain or in `""`, numbers, `'text'`,
/// `DATE '2026-03-05'`, `TIMESTAMP '2026-03-05 08:20:12'`.
///
/// Names are compared without case, texts with case and byte by byte. A comparison with NULL is unknown, and what is unknown is
/// not chosen.
package struct WhereClause: Hashable, Sendable {
    /// Bytes of a clause.
    package static let mostBytes = 8192

    private let condition: WhereCondition

    /// The columns that it names, each once, as they are written, with the character of the first mention.
    package let columns: [Column]

    package struct Column: Hashable, Sendable {
        package let name: String
        /// From 1.
        package let position: Int
    }

    /// - Throws: ``FenceFileError`` with the character at which the clause is wrong.
    package init(_ text: String) throws(FenceFileError) {
        guard text.utf8.count <= Self.mostBytes else {
            throw FenceFileError("a where clause has at most \(Self.mostBytes) bytes, not \(text.utf8.count)")
        }
        let tokens = try WhereToken.tokens(of: text)
        guard tokens.count > 1 else {
            throw FenceFileError("the where clause is empty: write a condition, or leave it out")
        }
        var parser = WhereParser(tokens)
        let root = try parser.clause()
        condition = root
        var columns: [Column] = []
        var seen: Set<String> = []
        Self.collect(root, into: &columns, &seen)
        self.columns = columns
    }

    static func error(_ position: Int, _ detail: String) -> FenceFileError {
        FenceFileError("the where clause, character \(position): \(detail)")
    }

    /// Whether the attributes keep the condition; nil when that is unknown.
    ///
    /// - Throws: ``FenceFileError`` for values that cannot be compared, and for a name that two attributes have.
    package func truth(of attributes: [String: JSONValue]) throws(FenceFileError) -> Bool? {
        var values: [String: WhereValue] = [:]
        for column in columns {
            guard let name = try Self.name(of: column.name, among: attributes), let value = attributes[name] else {
                continue
            }
            values[column.name.lowercased()] = WhereValue(value)
        }
        return try condition.truth { (name, _) throws(FenceFileError) in values[name.lowercased()] }
    }

    /// The attribute that a column means: the one that is written alike, or else the only one that differs in case.
    static func name(of column: String, among attributes: [String: JSONValue]) throws(FenceFileError) -> String? {
        if attributes[column] != nil { return column }
        let wanted = column.lowercased()
        let found = attributes.keys.filter { $0.lowercased() == wanted }
        guard found.count < 2 else {
            throw FenceFileError(
                "the column \(FenceFileError.quoted(column)) may be any of \(found.sorted().joined(separator: ", ")): write it as"
                    + " the one that is meant")
        }
        return found.first
    }

    private static func collect(_ condition: WhereCondition, into columns: inout [Column], _ seen: inout Set<String>) {
        func add(_ operands: WhereCondition.Operand...) {
            for case .column(let name, let position) in operands where seen.insert(name.lowercased()).inserted {
                columns.append(Column(name: name, position: position))
            }
        }
        switch condition {
        case .all(let conditions), .any(let conditions):
            for condition in conditions { collect(condition, into: &columns, &seen) }
        case .not(let condition): collect(condition, into: &columns, &seen)
        case .compare(let left, _, let right, _): add(left, right)
        case .between(let operand, let low, let high, _): add(operand, low, high)
        case .isIn(let operand, _, _), .like(let operand, _, _), .isNull(let operand): add(operand)
        }
    }
}

/// A condition over attributes. Its truth may be unknown: nil.
indirect enum WhereCondition: Hashable, Sendable {
    enum Operand: Hashable, Sendable {
        case column(String, position: Int)
        case value(WhereValue)
    }

    enum Comparison: Hashable, Sendable {
        case equal, unequal, less, lessOrEqual, greater, greaterOrEqual

        func holds(_ order: WhereValue.Order) -> Bool {
            switch self {
            case .equal: order == .equal
            case .unequal: order != .equal
            case .less: order == .less
            case .lessOrEqual: order != .greater
            case .greater: order == .greater
            case .greaterOrEqual: order != .less
            }
        }
    }

    case all([WhereCondition])
    case any([WhereCondition])
    case not(WhereCondition)
    case compare(Operand, Comparison, Operand, position: Int)
    case between(Operand, Operand, Operand, position: Int)
    case isIn(Operand, [WhereValue], position: Int)
    case like(Operand, LikePattern, position: Int)
    case isNull(Operand)

    /// `value` gives the value of a column's name; nil for NULL.
    func truth(_ value: (String, Int) throws(FenceFileError) -> WhereValue?) throws(FenceFileError) -> Bool? {
        switch self {
        case .all(let conditions):
            var truth: Bool? = true
            for condition in conditions {
                switch try condition.truth(value) {
                case false?: return false
                case nil: truth = nil
                case true?: break
                }
            }
            return truth
        case .any(let conditions):
            var truth: Bool? = false
            for condition in conditions {
                switch try condition.truth(value) {
                case true?: return true
                case nil: truth = nil
                case false?: break
                }
            }
            return truth
        case .not(let condition): return try condition.truth(value).map { !$0 }
        case .compare(let left, let comparison, let right, let position):
            return try Self.order(left.value(value), right.value(value), position).map(comparison.holds)
        case .between(let operand, let low, let high, let position):
            let middle = try operand.value(value)
            let above = try Self.order(middle, low.value(value), position).map { $0 != .less }
            let below = try Self.order(middle, high.value(value), position).map { $0 != .greater }
            if above == false || below == false { return false }
            return above == nil || below == nil ? nil : true
        case .isIn(let operand, let values, let position):
            guard let found = try operand.value(value) else { return nil }
            for candidate in values where try Self.order(found, candidate, position) == .equal { return true }
            return false
        case .like(let operand, let pattern, let position):
            guard let found = try operand.value(value) else { return nil }
            guard case .text(let text) = found else {
                throw WhereClause.error(position, "LIKE compares texts, and \(found.description) is \(found.kind)")
            }
            return pattern.matches(text)
        case .isNull(let operand): return try operand.value(value) == nil
        }
    }

    private static func order(
        _ left: WhereValue?, _ right: WhereValue?, _ position: Int
    ) throws(FenceFileError) -> WhereValue.Order? {
        guard let left, let right else { return nil }
        guard let order = WhereValue.order(left, right) else {
            throw WhereClause.error(
                position,
                "\(left.kind), \(left.description), cannot be compared with \(right.kind), \(right.description)")
        }
        return order
    }
}

extension WhereCondition.Operand {
    func value(_ value: (String, Int) throws(FenceFileError) -> WhereValue?) throws(FenceFileError) -> WhereValue? {
        switch self {
        case .column(let name, let position): try value(name, position)
        case .value(let value): value
        }
    }
}

/// What LIKE compares with: `%` stands for any text, `_` for one character.
struct LikePattern: Hashable, Sendable {
    static let mostCharacters = 256

    private let scalars: [Unicode.Scalar]

    init(_ text: String) {
        scalars = Array(text.unicodeScalars)
    }

    var isTooLong: Bool { scalars.count > Self.mostCharacters }

    /// With case.
    func matches(_ text: String) -> Bool {
        let text = Array(text.unicodeScalars)
        var (index, place) = (0, 0)
        /// Behind the last `%`, and where its text ends at the earliest.
        var retry: (index: Int, place: Int)?
        while place < text.count {
            if index < scalars.count, scalars[index] == "%" {
                index += 1
                retry = (index, place)
            } else if index < scalars.count, scalars[index] == "_" || scalars[index] == text[place] {
                index += 1
                place += 1
            } else if let last = retry {
                (index, place) = (last.index, last.place + 1)
                retry = (last.index, place)
            } else {
                return false
            }
        }
        return scalars[index...].allSatisfy { $0 == "%" }
    }
}
