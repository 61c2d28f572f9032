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
