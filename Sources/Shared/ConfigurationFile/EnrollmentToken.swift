/// The form of an enrolment token: `et_` and 32 characters of base 32 (RFC 4648, lower case, no padding), 160 bits.
package enum EnrollmentToken {
    package static let prefix = "et_"
    /// The random bytes of a token.
    package static let bytes = 20
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    /// The token of these random bytes; nil unless there are ``bytes`` of them.
    package static func text(of random: [UInt8]) -> Secret? {
        guard random.count == bytes else { return nil }
        var text = Array(prefix.utf8)
        for start in stride(from: 0, to: bytes, by: 5) {
            let group = random[start..<(start + 5)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            for shift in stride(from: 35, through: 0, by: -5) {
                text.append(alphabet[Int(truncatingIfNeeded: group >> UInt64(shift)) & 31])
            }
        }
        return Secret(String(decoding: text, as: UTF8.self))
    }

    /// Whether a text has the form of a token.
    package static func isOne(_ text: String) -> Bool {
        guard text.hasPrefix(prefix), text.utf8.count == prefix.utf8.count + 32 else { return false }
        return text.utf8.dropFirst(prefix.utf8.count).allSatisfy(alphabet.contains)
    }
}
