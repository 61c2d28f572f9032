/// Reads one JSON text (RFC 8259), strictly and within the limits of its rules.
package struct JSONReader {
    private let bytes: [UInt8]
    private let rules: JSONRules
    private var index = 0
    private var depth = 0
    private var values = 0

    /// The one value of `bytes`; nothing but white space may stand around it.
    package static func value(of bytes: [UInt8], _ rules: JSONRules = JSONRules()) throws(JSONError) -> JSONValue {
        var reader = try JSONReader(bytes, rules)
        let value = try reader.value()
        try reader.end()
        return value
    }

    init(_ bytes: [UInt8], _ rules: JSONRules) throws(JSONError) {
        guard bytes.count <= rules.maximumBytes else {
            throw JSONError(code: .tooLarge, offset: rules.maximumBytes, detail: "over \(rules.maximumBytes) bytes")
        }
        self.bytes = bytes
        self.rules = rules
    }

    private func error(_ code: JSONError.Code, _ detail: String) -> JSONError {
        JSONError(code: code, offset: index, detail: detail)
    }

    var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        index += 1
        return true
    }

    mutating func end() throws(JSONError) {
        skipSpace()
        guard index == bytes.count else { throw error(.syntax, "something follows the value") }
    }

    // MARK: Values

    mutating func count() throws(JSONError) {
        values += 1
        guard values <= rules.maximumValues else {
            throw error(.tooManyValues, "more than \(rules.maximumValues) values in one text")
        }
    }

    mutating func value() throws(JSONError) -> JSONValue {
        try count()
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

    mutating func word(_ text: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        for byte in text.description.utf8 where !take(byte) {
            throw error(.syntax, "only true, false and null may stand without quotes")
        }
        return value
    }

    mutating func enter() throws(JSONError) {
        depth += 1
        guard depth <= rules.maximumDepth else {
            throw error(.tooDeep, "nested more than \(rules.maximumDepth) levels deep")
        }
        index += 1
        skipSpace()
    }

    mutating func close(_ bracket: Unicode.Scalar) throws(JSONError) {
        guard take(UInt8(ascii: bracket)) else { throw error(.syntax, "',' or '\(bracket)' is expected") }
        depth -= 1
    }

    private mutating func array() throws(JSONError) -> JSONValue {
        try enter()
        var elements: [JSONValue] = []
        if next != UInt8(ascii: "]") {
            repeat {
                elements.append(try value())
                skipSpace()
            } while take(UInt8(ascii: ","))
        }
        try close("]")
        return .array(elements)
    }

    private mutating func object() throws(JSONError) -> JSONValue {
        try enter()
        var members: [String: JSONValue] = [:]
        if next != UInt8(ascii: "}") {
            repeat {
                let name = try name()
                let value = try value()
                skipSpace()
                guard members.updateValue(value, forKey: name) == nil || rules.repeatedMembers == .lastCounts else {
                    throw error(.duplicateKey, "a member name stands twice in one object")
                }
            } while take(UInt8(ascii: ","))
        }
        try close("}")
        return .object(members)
    }

    /// The name of a member, with its colon.
    mutating func name() throws(JSONError) -> String {
        skipSpace()
        guard next == UInt8(ascii: "\"") else { throw error(.syntax, "a quoted member name is expected") }
        let name = try string()
        guard name.utf8.count <= rules.maximumNameBytes else {
            throw error(
                .tooLarge,
                "a member's name has \(name.utf8.count) bytes, and \(rules.maximumNameBytes) are the most")
        }
        skipSpace()
        guard take(UInt8(ascii: ":")) else { throw error(.syntax, "':' is expected") }
        return name
    }

    // MARK: Numbers

    private mutating func digits() throws(JSONError) {
        let start = index
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
        guard index > start else { throw error(.syntax, "a digit is expected") }
    }

    mutating func number() throws(JSONError) -> JSONValue {
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
        guard index - start <= JSONRules.numberBytes else {
            throw error(
                .number, "a number has \(index - start) bytes, and \(JSONRules.numberBytes) are the most")
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        if isInteger {
            if let value = Int64(text) { return .integer(value) }
            if rules.largeIntegers == .refused { throw error(.number, "an integer beyond 64 bits") }
        }
        guard let value = Double(text), value.isFinite else { throw error(.number, "a number beyond a double") }
        return .double(value)
    }

    // MARK: Strings

    mutating func string() throws(JSONError) -> String {
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
        case UInt8(ascii: "u"): text.append(contentsOf: Character(try scalar()).utf8)
        default: throw error(.syntax, "an unknown escape")
        }
    }

    private mutating func scalar() throws(JSONError) -> Unicode.Scalar {
        let unit = try codeUnit()
        var code = UInt32(unit)
        if (0xD800..<0xDC00).contains(unit), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) {
            let low = try codeUnit()
            guard (0xDC00..<0xE000).contains(low) else { throw error(.encoding, "half of a surrogate pair") }
            code = 0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(low) - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw error(.encoding, "half of a surrogate pair") }
        return scalar
    }

    private mutating func codeUnit() throws(JSONError) -> UInt16 {
        guard bytes.count - index >= 4 else { throw error(.syntax, "four hexadecimal digits are expected") }
        var unit: UInt16 = 0
        for byte in bytes[index..<index + 4] {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): unit = unit << 4 | UInt16(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): unit = unit << 4 | UInt16(byte - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): unit = unit << 4 | UInt16(byte - UInt8(ascii: "A") + 10)
            default: throw error(.syntax, "four hexadecimal digits are expected")
            }
        }
        index += 4
        return unit
    }
}

extension JSONReader {
    /// The members of the object that `bytes` hold, in their order, repeated names included, for a caller that takes
    /// every parameter as text. Nil when the value is not an object.
    ///
    /// A string is its text, null is nil. Any other value is its JSON: as it came, without white space, with its numbers
    /// and escapes as ``JSONWriter`` writes them.
    package static func texts(
        of bytes: [UInt8], _ rules: JSONRules = JSONRules(), wholeDoubles: JSONWriter.WholeDoubles
    ) throws(JSONError) -> [(name: String, text: String?)]? {
        var reader = try JSONReader(bytes, rules)
        reader.skipSpace()
        guard reader.next == UInt8(ascii: "{") else {
            _ = try reader.value()
            try reader.end()
            return nil
        }
        try reader.count()
        try reader.enter()
        var texts: [(name: String, text: String?)] = []
        if reader.next != UInt8(ascii: "}") {
            repeat {
                let name = try reader.name()
                texts.append((name, try reader.text(wholeDoubles)))
                reader.skipSpace()
            } while reader.take(UInt8(ascii: ","))
        }
        try reader.close("}")
        try reader.end()
        return texts
    }

    private mutating func text(_ wholeDoubles: JSONWriter.WholeDoubles) throws(JSONError) -> String? {
        skipSpace()
        switch next {
        case UInt8(ascii: "\""):
            try count()
            return try string()
        case UInt8(ascii: "n"):
            _ = try value()
            return nil
        default:
            var writer = JSONWriter(wholeDoubles: wholeDoubles)
            try copy(to: &writer)
            return String(decoding: writer.bytes, as: UTF8.self)
        }
    }

    /// Writes the next value as it is read: no tree of values loses the order of its members.
    private mutating func copy(to writer: inout JSONWriter) throws(JSONError) {
        skipSpace()
        switch next {
        case UInt8(ascii: "{"):
            try count()
            try enter()
            try writer.object { (writer: inout JSONWriter) throws(JSONError) in
                guard next != UInt8(ascii: "}") else { return }
                repeat {
                    writer.name(try name())
                    try copy(to: &writer)
                    skipSpace()
                } while take(UInt8(ascii: ","))
            }
            try close("}")
        case UInt8(ascii: "["):
            try count()
            try enter()
            try writer.array { (writer: inout JSONWriter) throws(JSONError) in
                guard next != UInt8(ascii: "]") else { return }
                repeat {
                    try copy(to: &writer)
                    skipSpace()
                } while take(UInt8(ascii: ","))
            }
            try close("]")
        default: writer.value(try value())
        }
    }
}

/// What a reader takes: its limits, and the two choices that RFC 8259 leaves to a reader.
package struct JSONRules: Hashable, Sendable {
    package enum RepeatedMembers: Hashable, Sendable {
        /// An object that names a member twice is an error: two readers would take different values.
        case refused
        /// The last member of a name counts.
        case lastCounts
    }

    package enum LargeIntegers: Hashable, Sendable {
        /// An integer beyond 64 bits is an error.
        case refused
        /// An integer beyond 64 bits becomes the nearest double.
        case doubles
    }

    /// Default of ``maximumDepth``.
    package static let depth = 64
    /// Default of ``maximumValues``.
    package static let values = 65_536
    /// Default of ``maximumNameBytes``.
    package static let nameBytes = 1024
    /// Bytes of one number. A double that is written out whole has at most 1077 digits.
    package static let numberBytes = 1100

    /// Bytes of the text.
    package var maximumBytes: Int
    /// Arrays and objects inside each other.
    package var maximumDepth: Int
    /// Values in the text, arrays and objects included. Bounds the memory that a text of many tiny values takes.
    package var maximumValues: Int
    /// Bytes of UTF-8 of a member's name. A table finds a name by a form of its characters that costs the square of the name's
    /// length when somebody wants it to.
    package var maximumNameBytes: Int
    package var repeatedMembers: RepeatedMembers
    package var largeIntegers: LargeIntegers

    package init(
        maximumBytes: Int = 16 << 20, maximumDepth: Int = Self.depth, maximumValues: Int = Self.values,
        maximumNameBytes: Int = Self.nameBytes, repeatedMembers: RepeatedMembers = .refused,
        largeIntegers: LargeIntegers = .refused
    ) {
        self.maximumBytes = maximumBytes
        self.maximumDepth = maximumDepth
        self.maximumValues = maximumValues
        self.maximumNameBytes = maximumNameBytes
        self.repeatedMembers = repeatedMembers
        self.largeIntegers = largeIntegers
    }
}

/// Why bytes are not the JSON that a reader takes, and where.
package struct JSONError: Error, Hashable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        case syntax, encoding, number, duplicateKey, tooLarge, tooDeep, tooManyValues
    }
    package let code: Code
    /// Bytes from the beginning of the text.
    package let offset: Int
    package let detail: String

    package var description: String { "not valid JSON at byte \(offset): \(detail)" }
}
