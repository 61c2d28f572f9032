/// An IP address, or all addresses that begin with the same bits.
package struct AddressRange: Hashable, Sendable, CustomStringConvertible {
    /// Sixteen. An IPv4 address is the IPv6 address that stands for it (`::ffff:192.0.2.1`).
    private let bytes: [UInt8]
    /// How many bits count, 0...128.
    private let bits: Int

    private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

    /// An address such as `192.0.2.1` or `2001:db8::1`, or a range such as `192.0.2.0/24`. Nil for any other text.
    ///
    /// Bits behind the counted ones are 0 in the range, whatever the text says.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first else { return nil }
        let (whole, offset): ([UInt8], Int)
        if let four = Self.four(first) {
            (whole, offset) = (Self.mapped + four, 96)
        } else if let sixteen = Self.sixteen(first) {
            (whole, offset) = (sixteen, 0)
        } else {
            return nil
        }
        var counted = 128
        if parts.count == 2 {
            guard let given = Self.number(parts[1], most: 128 - offset) else { return nil }
            counted = offset + given
        }
        bits = counted
        bytes = whole.enumerated().map { index, byte in
            let kept = min(8, max(0, counted - index * 8))
            return kept == 0 ? 0 : byte & (0xFF << UInt8(8 - kept))
        }
    }

    /// Whether every address of the other range is in this one.
    package func contains(_ other: AddressRange) -> Bool {
        guard other.bits >= bits else { return false }
        for index in 0..<16 {
            let kept = min(8, max(0, bits - index * 8))
            guard kept > 0 else { return true }
            let mask: UInt8 = 0xFF << UInt8(8 - kept)
            guard (bytes[index] ^ other.bytes[index]) & mask == 0 else { return false }
        }
        return true
    }

    package var description: String {
        let isFour = bits >= 96 && Array(bytes.prefix(12)) == Self.mapped
        let address =
            isFour
            ? bytes.suffix(4).map { String($0) }.joined(separator: ".")
            : stride(from: 0, to: 16, by: 2).map { String(Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]), radix: 16) }
                .joined(separator: ":")
        let counted = isFour ? bits - 96 : bits
        return counted == (isFour ? 32 : 128) ? address : "\(address)/\(counted)"
    }

    // MARK: Reading

    private static func number(_ text: Substring, most: Int) -> Int? {
        guard (1...3).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int(text), number <= most
        else { return nil }
        return number
    }

    private static func four(_ text: Substring) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        let numbers = parts.compactMap { number($0, most: 255) }
        return numbers.count == 4 ? numbers.map { UInt8($0) } : nil
    }

    private static func sixteen(_ text: Substring) -> [UInt8]? {
        guard (2...45).contains(text.utf8.count) else { return nil }
        guard let gap = text.firstRange(of: "::") else {
            guard let groups = groups(text, mayEndInFour: true), groups.count == 16 else { return nil }
            return groups
        }
        guard let left = groups(text[..<gap.lowerBound], mayEndInFour: false),
            let right = groups(text[gap.upperBound...], mayEndInFour: true),
            left.count + right.count <= 14
        else { return nil }
        return left + [UInt8](repeating: 0, count: 16 - left.count - right.count) + right
    }

    /// The bytes of groups between colons, the last of which may be an IPv4 address.
    private static func groups(_ text: Substring, mayEndInFour: Bool) -> [UInt8]? {
        guard !text.isEmpty else { return [] }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        var bytes: [UInt8] = []
        for (index, part) in parts.enumerated() {
            if mayEndInFour, index == parts.count - 1, let four = four(part) {
                bytes += four
            } else {
                guard (1...4).contains(part.utf8.count), part.allSatisfy(\.isHexDigit),
                    let group = UInt16(part, radix: 16)
                else { return nil }
                bytes += [UInt8(group >> 8), UInt8(truncatingIfNeeded: group)]
            }
        }
        return bytes.count <= 16 ? bytes : nil
    }
}
