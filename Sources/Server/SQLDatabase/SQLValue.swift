/// What a database stores in one column of a row.
package enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    /// For messages, without the value, which may be a position.
    var kind: String {
        switch self {
        case .null: "NULL"
        case .integer: "an integer"
        case .real: "a real number"
        case .text: "a text"
        case .blob: "bytes"
        }
    }
}

/// A type whose values can be parameters of a statement and columns of a row.
package protocol SQLConvertible: Sendable {
    /// For messages: what a column must have.
    static var sqlKind: String { get }

    var sqlValue: SQLValue { get }

    /// Nil for a value of another kind, or outside the type's range.
    init?(sqlValue: SQLValue)
}

/// The parameters of one statement, in the order in which its text names them.
package typealias SQLParameters = [(any SQLConvertible)?]

extension SQLValue: SQLConvertible {
    package static let sqlKind = "a value"
    package var sqlValue: SQLValue { self }
    package init?(sqlValue: SQLValue) { self = sqlValue }
}

extension SQLConvertible where Self: FixedWidthInteger {
    package static var sqlKind: String { "an integer" }

    package var sqlValue: SQLValue { .integer(Int64(clamping: self)) }

    package init?(sqlValue: SQLValue) {
        guard case .integer(let number) = sqlValue else { return nil }
        self.init(exactly: number)
    }
}

// Types whose every value an Int64 holds.
extension Int64: SQLConvertible {}
extension Int: SQLConvertible {}
extension Int32: SQLConvertible {}
extension UInt32: SQLConvertible {}
extension UInt8: SQLConvertible {}

extension Bool: SQLConvertible {
    package static let sqlKind = "0 or 1"

    package var sqlValue: SQLValue { .integer(self ? 1 : 0) }

    package init?(sqlValue: SQLValue) {
        guard case .integer(let number) = sqlValue else { return nil }
        self = number != 0
    }
}

extension Double: SQLConvertible {
    package static let sqlKind = "a number"

    package var sqlValue: SQLValue { .real(self) }

    package init?(sqlValue: SQLValue) {
        switch sqlValue {
        case .real(let number): self = number
        case .integer(let number): self = Double(number)
        case .null, .text, .blob: return nil
        }
    }
}

extension String: SQLConvertible {
    package static let sqlKind = "a text"

    package var sqlValue: SQLValue { .text(self) }

    package init?(sqlValue: SQLValue) {
        guard case .text(let text) = sqlValue else { return nil }
        self = text
    }
}

extension [UInt8]: SQLConvertible {
    package static var sqlKind: String { "bytes" }

    package var sqlValue: SQLValue { .blob(self) }

    package init?(sqlValue: SQLValue) {
        guard case .blob(let bytes) = sqlValue else { return nil }
        self = bytes
    }
}

/// NULL is nil.
extension Optional: SQLConvertible where Wrapped: SQLConvertible {
    package static var sqlKind: String { "\(Wrapped.sqlKind) or NULL" }

    package var sqlValue: SQLValue { map(\.sqlValue) ?? .null }

    package init?(sqlValue: SQLValue) {
        if case .null = sqlValue {
            self = .none
        } else if let value = Wrapped(sqlValue: sqlValue) {
            self = .some(value)
        } else {
            return nil
        }
    }
}
