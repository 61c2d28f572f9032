/// Writes one JSON text piece by piece: UTF-8, without white space, members in the order in which they are written.
///
/// A long list never becomes a tree of values on its way. The text never holds a NUL byte.
package struct JSONWriter: Equatable, Sendable {
    /// How a double that is a whole number is written.
    package enum WholeDoubles: Sendable {
        /// `5.0`, so that it is read back as a double.
        case withPoint
        /// `5`, for clients that read such a number into an integer.
        case withoutPoint
    }

    package private(set) var bytes: [UInt8] = []
    private let wholeDoubles: WholeDoubles
    /// Nothing has been written since the innermost bracket, or a member's name was written last.
    private var needsNoComma = true

    package init(wholeDoubles: WholeDoubles = .withPoint) {
        self.wholeDoubles = wholeDoubles
    }

    /// For a caller that knows roughly how long the text becomes.
    package mutating func reserve(_ bytes: Int) {
        self.bytes.reserveCapacity(self.bytes.count + bytes)
    }

    private mutating func begin() {
        if !needsNoComma { bytes.append(UInt8(ascii: ",")) }
        needsNoComma = false
    }

    // MARK: Arrays and objects

    /// An array of what `body` writes.
    package mutating func array<Failure: Error>(
        _ body: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        try nested(UInt8(ascii: "["), UInt8(ascii: "]"), body)
    }

    /// An object of the members that `body` writes.
    package mutating func object<Failure: Error>(
        _ body: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        try nested(UInt8(ascii: "{"), UInt8(ascii: "}"), body)
    }

    private mutating func nested<Failure: Error>(
        _ opening: UInt8, _ closing: UInt8, _ body: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        begin()
        bytes.append(opening)
        needsNoComma = true
        try body(&self)
        bytes.append(closing)
        needsNoComma = false
    }

    /// The name of a member; its value is written next.
    package mutating func name(_ name: String) {
        begin()
        quote(name)
        bytes.append(UInt8(ascii: ":"))
        needsNoComma = true
    }

    /// What another writer wrote without brackets around it: members, or elements.
    package mutating func append(_ other: JSONWriter) {
        guard !other.bytes.isEmpty else { return }
        begin()
        bytes += other.bytes
    }

    // MARK: Values

    package mutating func null() {
        begin()
        bytes += "null".utf8
    }

    package mutating func bool(_ value: Bool) {
        begin()
        bytes += (value ? "true" : "false").utf8
    }

    package mutating func string(_ text: String) {
        begin()
        quote(text)
    }

    package mutating func integer(_ value: Int64) {
        begin()
        digits(of: value)
    }

    /// A whole number of units of 10 to the power of minus `digits`: exact, without zeros at the end and never with
    /// an exponent.
    package mutating func decimal(_ units: Int64, digits: Int) {
        begin()
        if units < 0 { bytes.append(UInt8(ascii: "-")) }
        var (rest, digits) = (units.magnitude, digits)
        while digits > 0, rest % 10 == 0 {
            rest /= 10
            digits -= 1
        }
        var scale: UInt64 = 1
        for _ in 0..<digits { scale *= 10 }
        self.digits(of: rest / scale, atLeast: 1)
        guard digits > 0 else { return }
        bytes.append(UInt8(ascii: "."))
        self.digits(of: rest % scale, atLeast: digits)
    }

    /// A double as a decimal with at most this many digits behind the point; 0...10.
    package mutating func rounded(_ value: Double, digits: Int) {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        if let units = Int64(exactly: (value * scale).rounded()) {
            decimal(units, digits: digits)
        } else {
            double(value)
        }
    }

    /// The shortest decimal that reads back as the same double. JSON has no word for a number that is not finite: it
    /// is written as null.
    package mutating func double(_ value: Double) {
        guard value.isFinite else { return null() }
        begin()
        if wholeDoubles == .withoutPoint, let whole = Int64(exactly: value) {
            digits(of: whole)
        } else {
            bytes += value.description.utf8
        }
    }

    /// A whole value; members of an object sorted by name, so that equal values are equal bytes.
    package mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let value): bool(value)
        case .integer(let value): integer(value)
        case .double(let value): double(value)
        case .string(let text): string(text)
        case .array(let elements): array { for element in elements { $0.value(element) } }
        case .object(let members):
            object {
                for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                    $0.name(name)
                    $0.value(value)
                }
            }
        }
    }

    // MARK: Characters

    private mutating func digits(of value: Int64) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        digits(of: value.magnitude, atLeast: 1)
    }

    /// Decimal digits, with zeros before them up to that many.
    private mutating func digits(of value: UInt64, atLeast least: Int) {
        // Tracks are mostly numbers: no text is made of them on the way. 2^64 has twenty digits.
        var reversed = InlineArray<20, UInt8>(repeating: UInt8(ascii: "0"))
        var (rest, count) = (value, 0)
        while rest > 0 {
            reversed[count] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
            count += 1
        }
        for index in (0..<max(count, min(least, 20))).reversed() { bytes.append(reversed[index]) }
    }

    private mutating func quote(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { text in
            // Nearly every text is written as it is.
            guard text.contains(where: Self.isEscaped) else { return bytes.append(contentsOf: text) }
            var start = 0
            for (index, byte) in text.enumerated() where Self.isEscaped(byte) {
                bytes.append(contentsOf: text[start..<index])
                escape(byte)
                start = index + 1
            }
            bytes.append(contentsOf: text[start...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7F
    }

    private mutating func escape(_ byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        default:
            // A NUL too: it would end a Varlink message early.
            bytes += "u00".utf8
            for half in [byte >> 4, byte & 15] { bytes.append(half < 10 ? 0x30 + half : 0x57 + half) }
        }
    }
}

// A member's name and value in one call, for what answers are mostly made of.
extension JSONWriter {
    package mutating func member(_ name: String, _ text: String) {
        self.name(name)
        string(text)
    }

    package mutating func member(_ name: String, _ value: Int64) {
        self.name(name)
        integer(value)
    }

    package mutating func member(_ name: String, _ value: Int) {
        member(name, Int64(value))
    }

    package mutating func member(_ name: String, _ value: Double) {
        self.name(name)
        double(value)
    }

    /// An array of what `body` writes.
    package mutating func array<Failure: Error>(
        _ name: String, _ body: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        self.name(name)
        try array(body)
    }

    /// An object of the members that `body` writes.
    package mutating func object<Failure: Error>(
        _ name: String, _ body: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        self.name(name)
        try object(body)
    }
}

extension Double {
    /// The decimal number that the whole text is, such as `-12`, `.5` or `1.5e3`; nil for every other text and for a number
    /// beyond a double.
    ///
    /// `Double.init` alone reads text as C does: to the first NUL, in hexadecimal too, and words such as `inf`.
    package init?(decimal text: some StringProtocol) {
        let isDecimal = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "+"),
                UInt8(ascii: "e"), UInt8(ascii: "E"):
                true
            default: false
            }
        }
        guard isDecimal, let value = Double(text), value.isFinite else { return nil }
        self = value
    }
}
