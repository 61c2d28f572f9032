internal import FoundationEssentials

/// Base 64 of RFC 4648, in its canonical form only.
package enum Base64 {
    package enum Alphabet: Sendable {
        /// `+` and `/`, padded with `=`.
        case standard
        /// `-` and `_`, not padded: safe in a URL and in a shell.
        case urlSafe
    }

    package static func encoded(_ bytes: [UInt8], alphabet: Alphabet = .standard) -> String {
        let standard = Data(bytes).base64EncodedString()
        return switch alphabet {
        case .standard: standard
        case .urlSafe:
            String(
                decoding: standard.utf8.filter { $0 != padding }.map { byte in
                    switch byte {
                    case UInt8(ascii: "+"): UInt8(ascii: "-")
                    case UInt8(ascii: "/"): UInt8(ascii: "_")
                    default: byte
                    }
                }, as: UTF8.self)
        }
    }

    /// Nil on a foreign character, an impossible length, or set bits behind the end. Padding may be missing.
    package static func decoded(_ text: some StringProtocol, alphabet: Alphabet = .standard) -> [UInt8]? {
        let digits = withoutPadding(text.utf8)
        var standard = digits
        if alphabet == .urlSafe {
            standard = digits.map { byte in
                switch byte {
                case UInt8(ascii: "-"): UInt8(ascii: "+")
                case UInt8(ascii: "_"): UInt8(ascii: "/")
                default: byte
                }
            }
        }
        standard += Array(repeating: padding, count: (4 - standard.count % 4) % 4)
        guard let bytes = Data(base64Encoded: Data(standard)).map(Array.init),
            // A decoder may forgive what is not canonical. Only the canonical text encodes to itself.
            withoutPadding(encoded(bytes, alphabet: alphabet).utf8) == digits
        else { return nil }
        return bytes
    }

    private static let padding = UInt8(ascii: "=")

    private static func withoutPadding(_ text: some Sequence<UInt8>) -> [UInt8] {
        var digits = Array(text)
        while digits.last == padding { digits.removeLast() }
        return digits
    }
}
