/// What is wrong with bytes that should be JSON, and where.
package struct JSONError: Error, Hashable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        case syntax, encoding, number, duplicateKey, tooDeep, tooManyValues
    }
    package let code: Code
    /// Bytes from the beginning.
    package let offset: Int
    package let detail: String

    package var description: String { "not valid JSON at byte \(offset): \(detail)" }
}

/// A strict JSON reader (RFC 8259) that states its limits: nesting, and values in one message.
package struct JSONParser {
    /// Arrays and objects inside each other.
    package static let maximumDepth = 64
    /// Values in one text; bounds the memory a message of many tiny values can take.
    package static let maximumValues = 65_536

    private let bytes: [UInt8]
    private let maximumValues: Int
    private var index = 0
    private var depth = 0
    private var values = 0

    /// The one value that `bytes` hold, with nothing but white space around it.
    package static func value(
        of bytes: [UInt8], maximumValues: Int = Self.maximumValues
    ) throws(JSONError) -> JSONValue {
        var parser = JSONParser(bytes: bytes, maximumValues: maximumValues)
        let value = try parser.value()
        parser.skipSpace()
        guard parser.index == bytes.count else { throw parser.error(.syntax, "something follows the value") }
        return value
    }

    private init(bytes: [UInt8], maximumValues: Int) {
        self.bytes = bytes
        self.maximumValues = maximumValues
    }

    private func error(_ code: JSONError.Code, _ detail: String) -> JSONError {
        JSONError(code: code, offset: index, detail: detail)
    }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        index += 1
        return true
    }

    private mutating func value() throws(JSONError) -> JSONValue {
        values += 1
        guard values <= maximumValues else {
            throw error(.tooManyValues, "more than \(maximumValues) values in one text")
        }
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try array()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), (UInt8(ascii: "0")...UInt8(ascii: "9"))?: return try number()
        case nil: throw error(.syntax, "the text ends where a value is expected")
        default: throw error(.syntax, "a value is expected")
        }
    }

    private mutating func word(_ text: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        for byte in text.description.utf8 where !take(byte) {
            throw error(.syntax, "only true, false and null may stand without quotes")
        }
        return value
    }

    private mutating func enter() throws(JSONError) {
        depth += 1
        guard depth <= Self.maximumDepth else {
            throw error(.tooDeep, "nested more than \(Self.maximumDepth) levels deep")
        }
        index += 1
        skipSpace()
    }

    private mutating func array() throws(JSONError) -> JSONValue {
        try enter()
        defer { depth -= 1 }
        var elements: [JSONValue] = []
        if take(UInt8(ascii: "]")) { return .array(elements) }
        repeat {
            elements.append(try value())
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw error(.syntax, "',' or ']' is expected") }
        return .array(elements)
    }

    private mutating func object() throws(JSONError) -> JSONValue {
        try enter()
        defer { depth -= 1 }
        var members: [String: JSONValue] = [:]
        if take(UInt8(ascii: "}")) { return .object(members) }
        repeat {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw error(.syntax, "a quoted member name is expected") }
            let key = try string()
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw error(.syntax, "':' is expected") }
            let member = try value()
            // Two readers would take different ones: no meaning is better than two.
            guard members.updateValue(member, forKey: key) == nil else {
                throw error(.duplicateKey, "a member name stands twice in one object")
            }
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw error(.syntax, "',' or '}' is expected") }
        return .object(members)
    }

    private mutating func digits() throws(JSONError) {
        let start = index
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
        guard index > start else { throw error(.syntax, "a digit is expected") }
    }

    private mutating func number() throws(JSONError) -> JSONValue {
        let start = index
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        var isInteger = true
        if take(UInt8(ascii: ".")) {
            isInteger = false
            try digits()
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isInteger = false
            if !take(UInt8(ascii: "-")) { _ = take(UInt8(ascii: "+")) }
            try digits()
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        if isInteger {
            guard let value = Int64(text) else { throw error(.number, "an integer beyond 64 bits") }
            return .integer(value)
        }
        guard let value = Double(text), value.isFinite else { throw error(.number, "a number beyond a double") }
        return .double(value)
    }

    private mutating func string() throws(JSONError) -> String {
        index += 1
        var text: [UInt8] = []
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw error(.encoding, "a string is not valid UTF-8")
                }
                index += 1
                return string
            case UInt8(ascii: "\\"):
                index += 1
                try escape(into: &text)
            case 0..<0x20: throw error(.syntax, "a control character inside a string")
            default:
                text.append(byte)
                index += 1
            }
        }
        throw error(.syntax, "the text ends inside a string")
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONError) {
        guard let byte = next else { throw error(.syntax, "the text ends inside a string") }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            let unit = try codeUnit()
            var scalar = UInt32(unit)
            if (0xD800..<0xDC00).contains(unit), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) {
                let low = try codeUnit()
                guard (0xDC00..<0xE000).contains(low) else { throw error(.encoding, "half of a surrogate pair") }
                scalar = 0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(low) - 0xDC00)
            }
            guard let character = Unicode.Scalar(scalar) else { throw error(.encoding, "half of a surrogate pair") }
            text.append(contentsOf: Character(character).utf8)
        default: throw error(.syntax, "an unknown escape")
        }
    }

    private mutating func codeUnit() throws(JSONError) -> UInt16 {
        guard bytes.count - index >= 4,
            bytes[index..<index + 4].allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let unit = UInt16(String(decoding: bytes[index..<index + 4], as: UTF8.self), radix: 16)
        else { throw error(.syntax, "four hexadecimal digits are expected") }
        index += 4
        return unit
    }
}
