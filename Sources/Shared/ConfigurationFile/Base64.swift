/// Base 64 of RFC 4648, without Foundation.
package enum Base64 {
    package enum Alphabet: Sendable {
        /// `+` and `/`, padded with `=`.
        case standard
        /// `-` and `_`, not padded: safe in a URL and in a shell.
        case urlSafe

        fileprivate var characters: [UInt8] {
            Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
                + (self == .standard ? Array("+/".utf8) : Array("-_".utf8))
        }
    }

    package static func encoded(_ bytes: [UInt8], alphabet: Alphabet = .standard) -> String {
        let characters = alphabet.characters
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let group = bytes[index..<min(index + 3, bytes.count)]
            let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << (8 * UInt32(3 - group.count))
            for position in 0...group.count {
                result.append(characters[Int(bits >> (18 - 6 * UInt32(position)) & 63)])
            }
            if alphabet == .standard { result += Array(repeating: UInt8(ascii: "="), count: 3 - group.count) }
            index += 3
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Nil on a foreign character, an impossible length, or set bits behind the end. Padding may be missing.
    package static func decoded(_ text: some StringProtocol, alphabet: Alphabet = .standard) -> [UInt8]? {
        let characters = alphabet.characters
        var values = [UInt8](repeating: 255, count: 256)
        for (value, character) in characters.enumerated() { values[Int(character)] = UInt8(value) }
        var digits = Array(text.utf8)[...]
        while digits.last == UInt8(ascii: "=") { digits.removeLast() }
        guard digits.count % 4 != 1 else { return nil }
        var result: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for digit in digits {
            guard values[Int(digit)] < 64 else { return nil }
            bits = bits << 6 | UInt32(values[Int(digit)])
            count += 6
            if count >= 8 {
                count -= 8
                result.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
                bits &= 1 << UInt32(count) - 1
            }
        }
        return bits == 0 ? result : nil
    }
}

/// Certificates as text files hold them (RFC 7468).
package enum PEM {
    /// Base 64 in lines of 64 between `-----BEGIN label-----` and `-----END label-----`.
    package static func encoded(_ der: [UInt8], label: String = "CERTIFICATE") -> String {
        let body = Array(Base64.encoded(der).utf8)
        var text = "-----BEGIN \(label)-----\n"
        for start in stride(from: 0, to: body.count, by: 64) {
            text += String(decoding: body[start..<min(start + 64, body.count)], as: UTF8.self) + "\n"
        }
        return text + "-----END \(label)-----\n"
    }
}
