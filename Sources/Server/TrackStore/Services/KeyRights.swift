package import TrackModel

/// What a key opens, for how long, and for whom.
package struct KeyRights: Hashable, Sendable {
    package var scopes: KeyScopes
    /// From then on the key opens nothing; nil: it has no end.
    package var end: Timestamp?
    /// The addresses from which requests of the Web API may come; empty: any.
    package var addresses: [AddressRange]
    /// The pages that requests of the Web API may come from; empty: any, and none.
    package var referers: [RefererPattern]

    package init(
        _ scopes: KeyScopes, end: Timestamp? = nil, addresses: [AddressRange] = [], referers: [RefererPattern] = []
    ) {
        self.scopes = scopes
        self.end = end
        self.addresses = addresses
        self.referers = referers
    }

    /// Those of a key that was made before keys had scopes.
    package static let former = KeyRights(.former)

    package func hasEnded(at now: Timestamp) -> Bool { end.map { $0 <= now } ?? false }

    /// Whether a request from this address is right: see ``addresses``.
    package func admits(address: String?) -> Bool {
        guard !addresses.isEmpty else { return true }
        guard let address = address.flatMap({ AddressRange($0) }) else { return false }
        return addresses.contains { $0.contains(address) }
    }

    /// Whether a request with this `Referer` is right: see ``referers``.
    package func admits(referer: String?) -> Bool {
        guard !referers.isEmpty else { return true }
        guard let referer else { return referers.contains { $0.isAny } }
        return referers.contains { $0.matches(referer) }
    }
}

/// What an access key may be used for.
package struct KeyScopes: OptionSet, Hashable, Sendable {
    /// As the store keeps it.
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// Calls of the Web API that only read.
    package static let read = KeyScopes(rawValue: 1)
    /// Calls of the Web API that change something.
    package static let write = KeyScopes(rawValue: 2)
    /// What `read` and `write` open, and the calls that administer a service. Version 3 of the API has no such call.
    package static let admin = KeyScopes(rawValue: 4)
    /// Logins of vehicles that have no certificate of their own, under any name.
    package static let legacyDevice = KeyScopes(rawValue: 8)

    /// What every key could do before keys had scopes.
    package static let former: KeyScopes = [.read, .write, .legacyDevice]

    private static let names: [(name: String, scope: KeyScopes)] = [
        ("read", .read), ("write", .write), ("admin", .admin), ("legacy-device", .legacyDevice),
    ]

    /// Nil for a name that no scope has.
    package init?(name: String) {
        guard let known = Self.names.first(where: { $0.name == name }) else { return nil }
        self = known.scope
    }

    /// Such as `read,write`.
    package var text: String {
        Self.names.filter { contains($0.scope) }.map(\.name).joined(separator: ",")
    }

    /// Whether a key with these scopes opens what wants `scope`.
    package func opens(_ scope: KeyScopes) -> Bool {
        let implied: KeyScopes = contains(.admin) ? [.read, .write] : []
        return union(implied).isSuperset(of: scope)
    }
}

/// Pages from which a browser may use a key, such as `*.example.net` or `example.net/fleet/*`. `*` stands for any text.
///
/// A pattern without `/` is about the host of the page. A pattern with `/` is about host and path.
package struct RefererPattern: Hashable, Sendable {
    /// Longest text, bytes of UTF-8.
    package static let mostBytes = 256

    /// In small letters.
    package let text: String

    /// Nil for a text that is empty, too long, or has spaces, control characters or `://` in it.
    package init?(_ text: String) {
        let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
        guard (1...Self.mostBytes).contains(text.utf8.count), isPlain, !text.contains("://") else { return nil }
        self.text = text.lowercased()
    }

    /// Also a request that names no page.
    var isAny: Bool { text == "*" }

    /// `referer`: the address of the page.
    func matches(_ referer: String) -> Bool {
        guard !isAny else { return true }
        guard let scheme = referer.firstRange(of: "://") else { return false }
        let rest = referer[scheme.upperBound...].prefix { $0 != "?" && $0 != "#" }
        let authority = rest.prefix { $0 != "/" }
        // What stands before an `@` is no host.
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        let name = host.hasPrefix("[") ? host.prefix { $0 != "]" } + "]" : host.prefix { $0 != ":" }
        let path = rest.dropFirst(authority.count)
        return Self.fits(Array((text.contains("/") ? name + path : name).lowercased().utf8), Array(text.utf8))
    }

    /// Takes a time that grows with the product of the lengths, whatever the texts are.
    private static func fits(_ text: [UInt8], _ pattern: [UInt8]) -> Bool {
        let star = UInt8(ascii: "*")
        var (at, place) = (0, 0)
        var retry: (at: Int, place: Int)?
        while at < text.count {
            if place < pattern.count, pattern[place] == star {
                retry = (at, place + 1)
                place += 1
            } else if place < pattern.count, pattern[place] == text[at] {
                (at, place) = (at + 1, place + 1)
            } else if let last = retry {
                retry = (last.at + 1, last.place)
                (at, place) = (last.at + 1, last.place)
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == star }
    }
}

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
