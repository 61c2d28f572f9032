package import TrackModel

/// The URL of an operator's server in the parts of which a request is made. It takes only plain URLs, so that every reader
/// finds the same host in one.
package struct CallbackURL: Hashable, Sendable {
    package struct Problem: Error, Hashable, CustomStringConvertible {
        package let description: String
    }

    package static let mostBytes = 1024

    package let isSecure: Bool
    /// In small letters; an IPv6 address without its brackets.
    package let host: String
    package let port: Int
    /// Path and query, with the leading `/`.
    package let path: String

    package init(_ text: String) throws(Problem) {
        let bytes = Array(text.utf8)
        guard (1...Self.mostBytes).contains(bytes.count) else {
            throw Problem(description: "it has 1 to \(Self.mostBytes) bytes, not \(bytes.count)")
        }
        guard bytes.allSatisfy({ (0x21...0x7E).contains($0) && !"\"<>\\^`{|}#".utf8.contains($0) }) else {
            throw Problem(description: "it has only the characters of URLs, no spaces and no #")
        }
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://"),
            ["http", "https"].contains(text[..<colon].lowercased())
        else { throw Problem(description: "it begins with http:// or https://") }
        isSecure = text[..<colon].lowercased() == "https"
        let rest = text[text.index(colon, offsetBy: 3)...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let authority = rest[..<end]
        guard !authority.contains("@") else { throw Problem(description: "it has no user and no password") }
        let (name, portText) = Self.split(authority)
        host = name.lowercased()
        if let portText {
            guard !portText.isEmpty, portText.utf8.count <= 5, portText.utf8.allSatisfy(Self.isDigit),
                let number = Int(portText), (1...65_535).contains(number)
            else { throw Problem(description: "its port is 1 to 65535") }
            port = number
        } else {
            port = isSecure ? 443 : 80
        }
        guard Self.isHost(host) else {
            throw Problem(
                description:
                    "its host is a name of letters, digits, - and ., an IPv4 address, or an IPv6 address in [ ]")
        }
        let tail = rest[end...]
        path = tail.hasPrefix("/") ? String(tail) : "/" + tail
    }

    /// The same URL, written in one way.
    package var text: String {
        "\(isSecure ? "https" : "http")://\(host.contains(":") ? "[\(host)]" : host):\(port)\(path)"
    }

    private static func split(_ authority: Substring) -> (host: Substring, port: Substring?) {
        if authority.hasPrefix("["), let bracket = authority.firstIndex(of: "]") {
            let host = authority[authority.index(after: authority.startIndex)..<bracket]
            let rest = authority[authority.index(after: bracket)...]
            guard host.contains(":"), rest.isEmpty || rest.hasPrefix(":") else { return ("", nil) }
            return (host, rest.isEmpty ? nil : rest.dropFirst())
        }
        guard let colon = authority.firstIndex(of: ":") else { return (authority, nil) }
        return (authority[..<colon], authority[authority.index(after: colon)...])
    }

    private static func isHost(_ host: String) -> Bool {
        let bytes = host.utf8
        guard (1...253).contains(bytes.count) else { return false }
        if host.contains(":") {
            return bytes.allSatisfy {
                isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) || $0 == 0x3A || $0 == 0x2E
            }
        }
        return host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy {
                    isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "-")
                        || $0 == UInt8(ascii: "_")
                }
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

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

/// How many questions to name servers are under way, and for whom. A name server that never answers holds up the thread that
/// asks it for half a minute, longer than anybody waits for the request. No I/O, no clock.
package struct NameLookups: Hashable, Sendable {
    /// Of one service: a request, and a check of a new URL. A place is a thread.
    package static let limits = ServicePlaces(64, ofService: 2, shared: 32)

    private var places = limits

    package init() {}

    /// A service wants to know the address of a host. Nil: it may ask, and ``end(of:)`` must follow when the answer is there;
    /// otherwise why it may not.
    package mutating func begin(of service: ServiceID, host: String) -> String? {
        switch places.begin(of: service) {
        case nil: nil
        case .service:
            "the name server of \(host) has not answered \(Self.limits.ofService) earlier questions of this service yet: use an address"
                + " in place of the name, or mend the name server"
        case .all:
            "too many name servers have not answered yet, so \(host) is not looked up now: it is tried again"
        }
    }

    package mutating func end(of service: ServiceID) { places.end(of: service) }
}
