/// Tells addresses of the public Internet from those that lead to the server's own machine or network: whoever may set a URL
/// must not reach with it what only the server reaches.
package enum PublicAddress {
    /// `bytes`: 4 or 16, in network order. False for every other number of bytes.
    package static func isPublic(_ bytes: [UInt8]) -> Bool {
        switch bytes.count {
        case 4: isPublicV4(bytes)
        case 16: isPublicV6(bytes)
        default: false
        }
    }

    /// IANA's registry of special-purpose addresses, and multicast.
    private static let v4: [([UInt8], Int)] = [
        ([0, 0, 0, 0], 8), ([10, 0, 0, 0], 8), ([100, 64, 0, 0], 10), ([127, 0, 0, 0], 8), ([169, 254, 0, 0], 16),
        ([172, 16, 0, 0], 12), ([192, 0, 0, 0], 24), ([192, 0, 2, 0], 24), ([192, 88, 99, 0], 24),
        ([192, 168, 0, 0], 16), ([198, 18, 0, 0], 15), ([198, 51, 100, 0], 24), ([203, 0, 113, 0], 24),
        ([224, 0, 0, 0], 3),
    ]

    private static func isPublicV4(_ bytes: [UInt8]) -> Bool {
        !v4.contains { isInside(bytes, $0.0, $0.1) }
    }

    private static func isPublicV6(_ bytes: [UInt8]) -> Bool {
        // An IPv4 address inside: mapped (::ffff:0:0/96), translated (64:ff9b::/96), 6to4 (2002::/16).
        if bytes.prefix(10).allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
            return isPublicV4(Array(bytes[12...]))
        }
        if bytes.starts(with: [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) { return isPublicV4(Array(bytes[12...])) }
        if bytes.starts(with: [0x20, 0x02]) { return isPublicV4(Array(bytes[2..<6])) }
        // Only 2000::/3 is given out for the Internet; Teredo, documentation and the like are not for servers.
        let special: [([UInt8], Int)] = [
            ([0x20, 0x01, 0, 0], 23), ([0x20, 0x01, 0x0D, 0xB8], 32), ([0x3F, 0xFF, 0, 0], 20),
        ]
        return bytes[0] & 0xE0 == 0x20 && !special.contains { isInside(bytes, $0.0, $0.1) }
    }

    private static func isInside(_ bytes: [UInt8], _ prefix: [UInt8], _ length: Int) -> Bool {
        for bit in 0..<length {
            let mask: UInt8 = 0x80 >> UInt8(bit % 8)
            if bytes[bit / 8] & mask != prefix[bit / 8] & mask { return false }
        }
        return true
    }
}
