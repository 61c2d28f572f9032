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
