internal import JSON

/// A value of a clause or of an attribute.
enum WhereValue: Hashable, Sendable {
    case integer(Int64)
    case real(Double)
    case text(String)
    /// Milliseconds since 1970, UTC.
    case time(Int64)

    /// Nil for NULL. A truth value is 1 or 0. A list or an object is its JSON as text.
    init?(_ attribute: JSONValue) {
        switch attribute {
        case .null: return nil
        case .bool(let flag): self = .integer(flag ? 1 : 0)
        case .integer(let number): self = .integer(number)
        case .double(let number): self = .real(number)
        case .string(let text): self = .text(text)
        case .array, .object: self = .text(attribute.description)
        }
    }

    var kind: String {
        switch self {
        case .integer, .real: "a number"
        case .text: "a text"
        case .time: "a time"
        }
    }

    var description: String {
        switch self {
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .text(let text): FenceFileError.quoted(text)
        case .time(let milliseconds): "\(milliseconds) ms"
        }
    }

    enum Order {
        case less, equal, greater
    }

    /// Nil when the two cannot be compared: a number with a text, a time with a text that is no time.
    static func order(_ left: WhereValue, _ right: WhereValue) -> Order? {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): order(left, right)
        case (.real(let left), .real(let right)): order(left, right)
        case (.integer(let left), .real(let right)): order(left, right)
        case (.real(let left), .integer(let right)): reversed(order(right, left))
        case (.text(let left), .text(let right)): order(left, right)
        case (.time(let left), .time(let right)): order(left, right)
        case (.time(let left), .text(let right)): WhereTime(right).map { order(left, $0.milliseconds) }
        case (.text(let left), .time(let right)): WhereTime(left).map { order($0.milliseconds, right) }
        case (.text, .integer), (.text, .real), (.time, .integer), (.time, .real), (.integer, .text), (.real, .text),
            (.integer, .time), (.real, .time):
            nil
        }
    }

    private static func order<Value: Comparable>(_ left: Value, _ right: Value) -> Order {
        left < right ? .less : left == right ? .equal : .greater
    }

    /// Byte by byte, as a database compares.
    private static func order(_ left: String, _ right: String) -> Order {
        if left.utf8.elementsEqual(right.utf8) { return .equal }
        return left.utf8.lexicographicallyPrecedes(right.utf8) ? .less : .greater
    }

    /// Exact, also where a double cannot hold the whole number.
    private static func order(_ left: Int64, _ right: Double) -> Order {
        guard let whole = Int64(exactly: right.rounded(.down)) else { return right > 0 ? .less : .greater }
        if left != whole { return order(left, whole) }
        return Double(whole) < right ? .less : .equal
    }

    private static func reversed(_ order: Order) -> Order {
        switch order {
        case .less: .greater
        case .equal: .equal
        case .greater: .less
        }
    }
}
