/// Reads the tokens of a TOML text, byte by byte; stops at the first that breaks the rules, never beyond the end.
struct TOMLScanner {
    /// Arrays and inline tables inside each other.
    static let maximumDepth = 32
    /// Names of a dotted key or header.
    static let maximumParts = 32
    /// Some editors begin a text with it (RFC 3629, section 6).
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private let bytes: [UInt8]
    private var index = 0
    private(set) var line = 1

    init(_ text: String) {
        bytes = Array(text.utf8)
        if bytes.starts(with: Self.byteOrderMark) { index = Self.byteOrderMark.count }
    }

    var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private func peek(_ offset: Int) -> UInt8? { index + offset < bytes.count ? bytes[index + offset] : nil }

    func error(_ message: String) -> TOMLSyntaxError { TOMLSyntaxError(line: line, message: message) }

    mutating func take(_ text: StaticString) -> Bool {
        let wanted = Array("\(text)".utf8)
        guard bytes[index...].starts(with: wanted) else { return false }
        index += wanted.count
        return true
    }

    // MARK: Space

    private mutating func skipSpace() {
        while next == 0x20 || next == 0x09 { index += 1 }
    }

    /// True when a line ended here.
    private mutating func takeNewline() -> Bool {
        if next == 0x0D, peek(1) == 0x0A { index += 1 }
        guard next == 0x0A else { return false }
        index += 1
        line += 1
        return true
    }

    private mutating func skipComment() {
        guard next == UInt8(ascii: "#") else { return }
        while let byte = next, byte != 0x0A { index += 1 }
    }

    mutating func skipBlankLines() {
        repeat {
            skipSpace()
            skipComment()
        } while takeNewline()
    }

    mutating func endLine() throws(TOMLSyntaxError) {
        skipSpace()
        skipComment()
        guard next == nil || takeNewline() else {
            throw error("something stands behind the value: one key and one value a line, texts in quotes")
        }
    }

    // MARK: Keys

    /// `a."b c".d`, with the white space around it.
    mutating func keyPath() throws(TOMLSyntaxError) -> [String] {
        var path: [String] = []
        repeat {
            guard path.count < Self.maximumParts else { throw error("a key has over \(Self.maximumParts) parts") }
            skipSpace()
            path.append(try key())
            skipSpace()
        } while take(".")
        return path
    }

    private mutating func key() throws(TOMLSyntaxError) -> String {
        switch next {
        case UInt8(ascii: "\""): return try basicString()
        case UInt8(ascii: "'"): return try literalString()
        default:
            let start = index
            while let byte = next, Self.isBare(byte) { index += 1 }
            guard index > start else { throw error("a key of letters, digits, _ and -, or in quotes, must stand here") }
            return String(decoding: bytes[start..<index], as: UTF8.self)
        }
    }

    private static func isBare(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
    }

    // MARK: Values

    mutating func value(depth: Int) throws(TOMLSyntaxError) -> TOMLNode {
        guard depth <= Self.maximumDepth else { throw error("arrays are nested over \(Self.maximumDepth) deep") }
        skipSpace()
        switch next {
        case nil, 0x0A, 0x0D, UInt8(ascii: "#"): throw error("the value is missing")
        case UInt8(ascii: "\""): return .string(try take("\"\"\"") ? longBasicString() : basicString())
        case UInt8(ascii: "'"): return .string(try take("'''") ? longLiteralString() : literalString())
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "{"): return try inlineTable(depth: depth)
        default: return try scalar()
        }
    }

    private mutating func array(depth: Int) throws(TOMLSyntaxError) -> TOMLNode {
        let begin = line
        index += 1
        var items: [TOMLNode] = []
        while true {
            skipBlankLines()
            if take("]") { return .array(items, .value) }
            guard next != nil else { throw TOMLSyntaxError(line: begin, message: "the array has no ]") }
            items.append(try value(depth: depth + 1))
            skipBlankLines()
            if take(",") { continue }
            guard take("]") else { throw error("values of an array must be separated by commas") }
            return .array(items, .value)
        }
    }

    private mutating func inlineTable(depth: Int) throws(TOMLSyntaxError) -> TOMLNode {
        index += 1
        var entries = TOMLTree(.inline)
        skipSpace()
        if take("}") { return .table(entries.root, .inline) }
        while true {
            let key = try keyPath()
            guard take("=") else { throw error("a key must be followed by = and a value") }
            let value = try value(depth: depth + 1)
            guard entries.insert(key, value, line: line) else {
                throw error("\(key.joined(separator: ".")) stands twice")
            }
            skipSpace()
            if take(",") { continue }
            guard take("}") else { throw error("a table in braces must end with } on the same line") }
            return .table(entries.root, .inline)
        }
    }

    private mutating func scalar() throws(TOMLSyntaxError) -> TOMLNode {
        var text = token()
        // A space may stand between a date and a time.
        if TOMLScalar.isDate(text), next == 0x20, peek(3) == UInt8(ascii: ":") {
            index += 1
            text += " " + token()
        }
        guard let node = TOMLScalar.read(text) else {
            throw error("\(text.isEmpty ? "this" : text) is no value: texts stand in quotes, numbers without")
        }
        return node
    }

    private mutating func token() -> String {
        let start = index
        while let byte = next, byte > 0x20, !Array(",]}#=\"'[{".utf8).contains(byte) { index += 1 }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    // MARK: Strings

    private mutating func literalString() throws(TOMLSyntaxError) -> String {
        index += 1
        let start = index
        while let byte = next, byte != UInt8(ascii: "'") {
            try refuseControl(byte)
            index += 1
        }
        guard next != nil else { throw error("the closing ' is missing") }
        index += 1
        return String(decoding: bytes[start..<(index - 1)], as: UTF8.self)
    }

    private mutating func longLiteralString() throws(TOMLSyntaxError) -> String {
        _ = takeNewline()
        var content: [UInt8] = []
        let begin = line
        while let byte = next {
            if closeLong(UInt8(ascii: "'"), &content) { return String(decoding: content, as: UTF8.self) }
            if takeNewline() {
                content.append(0x0A)
                continue
            }
            try refuseControl(byte)
            content.append(byte)
            index += 1
        }
        throw TOMLSyntaxError(line: begin, message: "the closing ''' is missing")
    }

    private mutating func basicString() throws(TOMLSyntaxError) -> String {
        index += 1
        var content: [UInt8] = []
        while let byte = next {
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\"): content += try escape()
            default:
                try refuseControl(byte)
                content.append(byte)
            }
        }
        throw error("the closing \" is missing")
    }

    private mutating func longBasicString() throws(TOMLSyntaxError) -> String {
        _ = takeNewline()
        var content: [UInt8] = []
        let begin = line
        while let byte = next {
            if closeLong(UInt8(ascii: "\""), &content) { return String(decoding: content, as: UTF8.self) }
            if takeNewline() {
                content.append(0x0A)
                continue
            }
            index += 1
            guard byte == UInt8(ascii: "\\") else {
                try refuseControl(byte)
                content.append(byte)
                continue
            }
            // A backslash at the end of a line joins it with the next text.
            let afterBackslash = index
            skipSpace()
            if takeNewline() {
                repeat { skipSpace() } while takeNewline()
            } else {
                index = afterBackslash
                content += try escape()
            }
        }
        throw TOMLSyntaxError(line: begin, message: "the closing \"\"\" is missing")
    }

    /// Takes three quotes and up to two more before them, which belong to the content.
    private mutating func closeLong(_ quote: UInt8, _ content: inout [UInt8]) -> Bool {
        let run = bytes[index...].prefix(5).prefix { $0 == quote }.count
        guard run >= 3 else { return false }
        content += [UInt8](repeating: quote, count: run - 3)
        index += run
        return true
    }

    private mutating func escape() throws(TOMLSyntaxError) -> [UInt8] {
        guard let byte = next else { throw error("the closing quote is missing") }
        index += 1
        switch byte {
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): return [byte]
        case UInt8(ascii: "u"), UInt8(ascii: "U"):
            let count = byte == UInt8(ascii: "u") ? 4 : 8
            let digits = bytes[index...].prefix(count)
            guard digits.count == count, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
                let number = UInt32(String(decoding: digits, as: UTF8.self), radix: 16), number != 0,
                let scalar = Unicode.Scalar(number)
            else { throw error("\\u takes four and \\U eight hexadecimal digits of a character other than NUL") }
            index += count
            return Array(String(Character(scalar)).utf8)
        default:
            throw error("\\ begins an escape such as \\n; for the character itself write \\\\, or use single quotes")
        }
    }

    private func refuseControl(_ byte: UInt8) throws(TOMLSyntaxError) {
        if byte == 0x0A || byte == 0x0D { throw error("the closing quote is missing") }
        if byte < 0x20 && byte != 0x09 || byte == 0x7F {
            throw error("a control character must be written as an escape")
        }
    }
}

/// The values without quotes or brackets: numbers, true and false, dates.
enum TOMLScalar {
    static func read(_ text: String) -> TOMLNode? {
        switch text {
        case "true": .boolean(true)
        case "false": .boolean(false)
        case "inf", "+inf": .double(.infinity)
        case "-inf": .double(-.infinity)
        case "nan", "+nan", "-nan": .double(.nan)
        default: isDate(text) ? .date : number(text)
        }
    }

    /// Digits where a date or a time has them; the calendar is not asked, because no key of ours takes either.
    static func isDate(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count >= 8, bytes.prefix(2).allSatisfy(isDigit),
            bytes.allSatisfy({ isDigit($0) || Array("-:.TtZz+ ".utf8).contains($0) })
        else { return false }
        return bytes[2] == UInt8(ascii: ":") && bytes[5] == UInt8(ascii: ":")
            || bytes[4] == UInt8(ascii: "-") && bytes[7] == UInt8(ascii: "-")
    }

    private static func number(_ text: String) -> TOMLNode? {
        let bytes = Array(text.utf8)
        guard let digits = withoutUnderscores(bytes) else { return nil }
        let plain = String(decoding: digits, as: UTF8.self)
        for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where plain.hasPrefix(prefix) {
            let body = plain.dropFirst(2)
            guard body.first != "+", body.first != "-", !bytes.dropFirst(2).starts(with: "_".utf8) else { return nil }
            return Int(body, radix: radix).map(TOMLNode.integer)
        }
        let sign = digits.first == UInt8(ascii: "+") || digits.first == UInt8(ascii: "-") ? 1 : 0
        let unsigned = digits.dropFirst(sign)
        let whole = unsigned.prefix(while: isDigit)
        // TOML has no leading zeros: 010 would be eight to some readers.
        guard !whole.isEmpty, whole.count == 1 || whole.first != UInt8(ascii: "0") else { return nil }
        if whole.count == unsigned.count { return Int(plain).map(TOMLNode.integer) }
        var rest = unsigned.dropFirst(whole.count)
        if rest.first == UInt8(ascii: ".") {
            let fraction = rest.dropFirst().prefix(while: isDigit)
            guard !fraction.isEmpty else { return nil }
            rest = rest.dropFirst(fraction.count + 1)
        }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest = rest.dropFirst()
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
            guard !rest.isEmpty, rest.allSatisfy(isDigit) else { return nil }
            rest = []
        }
        return rest.isEmpty ? Double(plain).map(TOMLNode.double) : nil
    }

    /// Nil when an underscore does not stand between two digits.
    private static func withoutUnderscores(_ bytes: [UInt8]) -> [UInt8]? {
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "_") {
            guard index > 0, index + 1 < bytes.count, Character(Unicode.Scalar(bytes[index - 1])).isHexDigit,
                Character(Unicode.Scalar(bytes[index + 1])).isHexDigit
            else { return nil }
        }
        return bytes.filter { $0 != UInt8(ascii: "_") }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
