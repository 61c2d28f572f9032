import Crypto

/// An access key (`ak`) as a person or an agent presents it. Never logged, never stored: see ``AccessKeyHash``.
package struct AccessKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    private let text: String

    package init(_ text: String) {
        self.text = text
    }

    /// A new key: 160 random bits as 32 letters and digits (Crockford's base 32, lower case).
    package static func generate(using generator: inout some RandomNumberGenerator) -> AccessKey {
        let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz")
        return AccessKey(String((0..<32).map { _ in alphabet[Int.random(in: 0..<32, using: &generator)] }))
    }

    package var hash: AccessKeyHash {
        AccessKeyHash(bytes: Array(SHA256.hash(data: Array(text.utf8))))
    }

    /// The key itself, to be shown once to the person who made it.
    package var revealed: String { text }

    package var description: String { "<access key>" }
    package var debugDescription: String { description }
}

/// SHA-256 of an access key: what the store keeps. Keys have 160 random bits, so no salt or slow hash is needed.
package struct AccessKeyHash: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The first 48 bits in hexadecimal: by this people name a key without showing it.
    package var number: String {
        bytes.prefix(6).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    /// Takes the same time wherever the first difference is.
    package static func constantTimeEqual(_ left: Self, _ right: Self) -> Bool {
        guard left.bytes.count == right.bytes.count else { return false }
        return zip(left.bytes, right.bytes).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
