internal import Glibc

/// The name or the address of a machine, as a person writes it: without scheme, port and path.
package enum HostName {
    /// Why a text is neither a host name (RFC 1123; an underscore is taken too) nor an IP address; nil when it is one.
    package static func problem(with text: String) -> String? {
        if text.contains("://") { return "this is a URL: write the name or address alone" }
        if text.contains("[") || text.contains("]") { return "write an IPv6 address without brackets" }
        if text.contains(":") { return problem(withAddress: text) }
        if isAddress(text, AF_INET) { return nil }
        let name = text.hasSuffix(".") ? text.dropLast() : text[...]
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...253).contains(name.utf8.count), labels.allSatisfy({ (1...63).contains($0.utf8.count) }) else {
            return "a host name has 1 to 253 characters, and 1 to 63 between two dots"
        }
        guard name.utf8.allSatisfy(isAllowed), labels.allSatisfy({ $0.first != "-" && $0.last != "-" }) else {
            return
                "a host name holds letters, digits, dots, and hyphens inside; write an international name in its xn-- form"
        }
        // The system would read such a name as an address of fewer parts.
        guard let last = labels.last, !last.utf8.allSatisfy({ (0x30...0x39).contains($0) }), !isHexadecimal(last) else {
            return "this looks like an IPv4 address and is none: write four numbers from 0 to 255"
        }
        return nil
    }

    private static func problem(withAddress text: String) -> String? {
        // A zone (fe80::1%eth0) names the interface to use.
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        let hasZone = parts.count == 1 || !parts[1].isEmpty
        if hasZone, let address = parts.first, isAddress(String(address), AF_INET6) { return nil }
        let colons = text.utf8.count { $0 == UInt8(ascii: ":") }
        return colons == 1
            ? "the port does not belong here: write the name or address alone, and the port as port"
            : "this is no IPv6 address"
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// 0x7f is 127 to the system.
    private static func isHexadecimal(_ label: Substring) -> Bool {
        guard label.lowercased().hasPrefix("0x") else { return false }
        return label.dropFirst(2).allSatisfy { $0.isASCII && $0.isHexDigit }
    }

    private static func isAddress(_ text: String, _ family: Int32) -> Bool {
        var address = in6_addr()
        return withUnsafeMutablePointer(to: &address) { inet_pton(family, text, $0) == 1 }
    }
}

/// Names and addresses of machines.
extension ConfigurationReader {
    /// The name or address of a machine; a problem when it is neither.
    package mutating func host(_ table: String, _ key: String, default fallback: String) -> String {
        checkedHost(string(table, key, default: fallback), table, key)
    }

    /// Nil when not given.
    package mutating func optionalHost(_ table: String, _ key: String) -> String? {
        optionalString(table, key).map { checkedHost($0, table, key) }
    }

    /// A problem when missing, too.
    package mutating func requiredHost(_ table: String, _ key: String, hint: String = "") -> String {
        checkedHost(requiredString(table, key, hint: hint), table, key)
    }

    private mutating func checkedHost(_ host: String, _ table: String, _ key: String) -> String {
        if !host.isEmpty, let rule = HostName.problem(with: host) {
            reject(table, key, "\(key) = \(TOMLNode.string(host).excerpt): \(rule)")
        }
        return host
    }
}

/// The address of a server's HTTPS listener, as `web_address` names it: `https://host[:port][/path]`.
///
/// The server that tells it, the enrolment that writes it, the agent that reads it and the renewal that uses it have this
/// one rule: an address that one of them took and the next one refused would stop a vehicle.
package struct WebAddress: Hashable, Sendable, CustomStringConvertible {
    /// For a sentence that refuses another text.
    package static let rule = "it must be an HTTPS address such as https://fleet.example:8443"

    /// A name, or a numeric address without brackets.
    package let host: String
    /// 1...65535.
    package let port: Int
    /// Empty, or it begins with `/` and does not end with it. Without the `/api/v3` of the Web API.
    package let path: String

    /// Nil for another scheme, for user names, queries and fragments, and for a host or a port that cannot be.
    package init?(_ text: String) {
        let scheme = "https://"
        guard text.lowercased().hasPrefix(scheme),
            text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) && !"?#@\\\"%".utf8.contains($0) })
        else { return nil }
        let rest = text.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" }
        guard let (host, port) = Self.place(authority) else { return nil }
        var path = rest.dropFirst(authority.count)
        while path.hasSuffix("/") { path.removeLast() }
        // People copy the address of the Web API.
        let interface = "/api/v3"
        if path.lowercased().hasSuffix(interface) { path.removeLast(interface.count) }
        while path.hasSuffix("/") { path.removeLast() }
        (self.host, self.port, self.path) = (host, port, String(path))
    }

    private static func place(_ authority: Substring) -> (String, Int)? {
        var host = authority.prefix { $0 != ":" }
        var rest = authority.dropFirst(host.count)
        if authority.hasPrefix("[") {
            host = authority.dropFirst().prefix { $0 != "]" }
            rest = authority.dropFirst(host.count + 1)
            guard rest.hasPrefix("]"), host.contains(":") else { return nil }
            rest.removeFirst()
        }
        guard HostName.problem(with: String(host)) == nil else { return nil }
        guard !rest.isEmpty else { return (String(host), 443) }
        let digits = rest.dropFirst()
        guard rest.hasPrefix(":"), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(digits),
            (1...65_535).contains(port)
        else { return nil }
        return (String(host), port)
    }

    package var description: String {
        let shown = host.contains(":") ? "[\(host)]" : host
        return "https://\(shown)" + (port == 443 ? "" : ":\(port)") + path
    }
}

extension ConfigurationReader {
    /// Nil when not given; a problem when it cannot be one.
    package mutating func optionalWebAddress(_ table: String, _ key: String) -> String? {
        guard let text = optionalString(table, key) else { return nil }
        guard let address = WebAddress(text) else {
            reject(table, key, "\(key) = \(TOMLNode.string(text).excerpt): \(WebAddress.rule)")
            return nil
        }
        return address.description
    }
}
