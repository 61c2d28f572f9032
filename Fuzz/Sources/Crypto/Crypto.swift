package import FoundationEssentials

// Stands in for swift-crypto, whose C takes longer to build with sanitizers than everything else here. Keys and
// signatures are looked up and compared by digest, and what is read around them does not depend on what the digest is.

package enum SHA256 {
    package static func hash(data: [UInt8]) -> [UInt8] { digest(of: data, bytes: 32) }
}

package enum Insecure {
    package enum MD5 {
        package static func hash(data: [UInt8]) -> [UInt8] { digest(of: data, bytes: 16) }
    }
}

/// FNV-1a, once for each eight bytes of the digest.
private func digest(of data: [UInt8], bytes: Int) -> [UInt8] {
    (0..<UInt64(bytes / 8)).flatMap { part in
        let hash = data.reduce(0xCBF2_9CE4_8422_2325 ^ part) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return (0..<8).map { UInt8(truncatingIfNeeded: hash >> (8 * $0)) }
    }
}

package struct SymmetricKey: Sendable {
    fileprivate let bytes: [UInt8]

    package init(data: [UInt8]) { bytes = data }
}

/// Text and tag as AES-GCM has them, and the text readable.
package enum AES {
    package enum GCM {
        package struct Mismatch: Error {}

        package struct SealedBox: Sendable {
            package let nonce: [UInt8]
            package let ciphertext: Data
            package let tag: Data

            fileprivate init(ciphertext: Data, tag: Data) {
                (nonce, self.ciphertext, self.tag) = (Array(repeating: 0, count: 12), ciphertext, tag)
            }

            package init(combined: Data) throws {
                guard combined.count >= 28 else { throw Mismatch() }
                self.init(ciphertext: Data(combined.dropFirst(12).dropLast(16)), tag: Data(combined.suffix(16)))
            }
        }

        package static func seal(_ text: Data, using key: SymmetricKey, authenticating context: Data) throws
            -> SealedBox
        {
            SealedBox(ciphertext: text, tag: tag(text, key, context))
        }

        package static func open(
            _ box: SealedBox, using key: SymmetricKey, authenticating context: Data
        ) throws -> Data {
            guard box.tag == tag(box.ciphertext, key, context) else { throw Mismatch() }
            return box.ciphertext
        }

        private static func tag(_ text: Data, _ key: SymmetricKey, _ context: Data) -> Data {
            Data(digest(of: key.bytes + Array(context) + Array(text), bytes: 16))
        }
    }
}
