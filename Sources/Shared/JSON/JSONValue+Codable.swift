import FoundationEssentials

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
