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
