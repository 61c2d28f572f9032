import FoundationEssentials

/// One JSON value.
///
/// Integers are exact 64-bit. A number written with a fraction or an exponent is a double and always finite. The
/// members of an object have no order; they are written sorted by name, so that equal values are equal bytes.
package enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// Finite; a value that is not is written as `null`.
    case double(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// The member of an object; nil when this is no object or has no such member.
    package subscript(key: String) -> JSONValue? {
        objectValue?[key]
    }

    package var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// Nil unless the number was written without fraction and exponent.
    package var integerValue: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// The number, an integer rounded to the nearest double.
    package var doubleValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value
        case .null, .bool, .string, .array, .object: nil
        }
    }

    package var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    package var arrayValue: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    package var objectValue: [String: JSONValue]? {
        if case .object(let value) = self { value } else { nil }
    }

    /// The kind of value, as a word for an error message.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer: "an integer"
        case .double: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension JSONValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(floatLiteral value: Double) { self = .double(value) }
    package init(stringLiteral value: String) { self = .string(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value as UTF-8 JSON without white space, members sorted by name. Never holds a NUL byte.
    package func serialized() -> [UInt8] {
        var writer = JSONWriter()
        writer.value(self)
        return writer.bytes
    }

    /// ``serialized()`` as text.
    package var description: String { String(decoding: serialized(), as: UTF8.self) }
}

extension JSONValue: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self), value.isFinite {
            self = .double(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .double(let value): try value.isFinite ? container.encode(value) : container.encodeNil()
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    /// The JSON form of a value; throws what its `encode` throws, and for numbers that are not finite.
    package init(encoding value: some Encodable) throws {
        self = try JSONReader.value(of: [UInt8](JSONEncoder().encode(value)), Self.own)
    }

    /// For texts of this program's own: whoever made their parts has bounded these. The depth is bounded by the stack.
    private static let own = JSONRules(maximumBytes: .max, maximumDepth: 256, maximumValues: .max)

    /// Reads a typed value out of this one; throws `DecodingError`.
    package func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: Data(serialized()))
    }
}
