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
