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
