/// A JSON value whose members keep their order: an answer begins with `status` and `message`.
enum JSON: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// A whole number of units of 10 to the power of minus `digits`: exact, and never with an exponent.
    case decimal(Int64, digits: Int)
    /// Not a number and the infinities are written as null.
    case double(Double)
    case string(String)
    case array([JSON])
    case object([Member])
    /// Bytes that are one value already: a long list is written piece by piece and never held as a tree.
    case encoded([UInt8])

    struct Member: Equatable, Sendable {
        let name: String
        let value: JSON

        init(_ name: String, _ value: JSON) {
            self.name = name
            self.value = value
        }
    }

    /// The last member with this name; nil when this is no object or has none.
    subscript(name: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }

    static func integer(_ value: Int) -> JSON { .integer(Int64(value)) }

    /// A double as a decimal with at most this many digits behind the point; 0...10.
    static func rounded(_ value: Double, digits: Int) -> JSON {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        guard let units = Int64(exactly: (value * scale).rounded()) else { return .double(value) }
        return .decimal(units, digits: digits)
    }
}

extension JSON {
    /// Strict JSON (RFC 8259) in UTF-8, without white space.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): Self.write(value, to: &bytes)
        case .decimal(let units, let digits): Self.write(units, digits: digits, to: &bytes)
        case .double(let value): Self.write(value, to: &bytes)
        case .string(let text): Self.write(text, to: &bytes)
        case .encoded(let value): bytes += value
        case .array(let items):
            bytes.append(UInt8(ascii: "["))
            for (index, item) in items.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                item.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ value: Int64, to bytes: inout [UInt8]) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        write(value.magnitude, atLeast: 1, to: &bytes)
    }

    /// Decimal digits, with zeros before them up to that many.
    private static func write(_ value: UInt64, atLeast digits: Int, to bytes: inout [UInt8]) {
        // Tracks are mostly numbers: no text is made of them on the way. 2^64 has twenty digits.
        var reversed = InlineArray<20, UInt8>(repeating: UInt8(ascii: "0"))
        var (rest, count) = (value, 0)
        while rest > 0 {
            reversed[count] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
            count += 1
        }
        for index in (0..<max(count, min(digits, 20))).reversed() { bytes.append(reversed[index]) }
    }

    private static func write(_ units: Int64, digits: Int, to bytes: inout [UInt8]) {
        if units < 0 { bytes.append(UInt8(ascii: "-")) }
        var (rest, digits) = (units.magnitude, digits)
        while digits > 0, rest % 10 == 0 {
            rest /= 10
            digits -= 1
        }
        var scale: UInt64 = 1
        for _ in 0..<digits { scale *= 10 }
        write(rest / scale, atLeast: 1, to: &bytes)
        guard digits > 0 else { return }
        bytes.append(UInt8(ascii: "."))
        write(rest % scale, atLeast: digits, to: &bytes)
    }

    private static func write(_ value: Double, to bytes: inout [UInt8]) {
        guard value.isFinite else {
            bytes += "null".utf8
            return
        }
        // Whole numbers without ".0": some clients read them into integers.
        if let whole = Int64(exactly: value) {
            write(whole, to: &bytes)
        } else {
            bytes += value.description.utf8
        }
    }

    private static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { text in
            var start = 0
            for (index, byte) in text.enumerated() where isEscaped(byte) {
                bytes.append(contentsOf: text[start..<index])
                writeEscape(byte, to: &bytes)
                start = index + 1
            }
            bytes.append(contentsOf: text[start...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7F
    }

    private static func writeEscape(_ byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        default:
            bytes += "u00".utf8
            for half in [byte >> 4, byte & 15] { bytes.append(half < 10 ? 0x30 + half : 0x57 + half) }
        }
    }
}
