/// An address of the form `https://host[:port][/path]`, taken apart.
package struct HTTPAddress: Hashable, Sendable, CustomStringConvertible {
    package let isEncrypted: Bool
    /// A name, or a numeric address without brackets.
    package let host: String
    /// 1...65535.
    package let port: Int
    /// Empty, or it begins with `/` and does not end with it. Without a query.
    package let path: String

    /// Throws `address` for anything else than `http` and `https`, for user names, queries and fragments.
    package init(_ text: String) throws(HTTPExchangeError) {
        let wrong = HTTPExchangeError(
            .address, "'\(text.prefix(200))' is no web address: give one such as https://fleet.example:8443")
        let lower = text.lowercased()
        let scheme = lower.hasPrefix("https://") ? "https://" : "http://"
        guard lower.hasPrefix(scheme), text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x3F && $0 != 0x23 })
        else {
            throw wrong
        }
        let rest = text.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" }
        guard !authority.contains("@"), let place = Self.place(authority, isEncrypted: scheme == "https://") else {
            throw wrong
        }
        isEncrypted = scheme == "https://"
        (host, port) = place
        var path = rest.dropFirst(authority.count)
        while path.hasSuffix("/") { path = path.dropLast() }
        self.path = String(path)
    }

    /// `host`: a name, or a numeric address without brackets. `port`: 1...65535.
    package init(isEncrypted: Bool = true, host: String, port: Int) {
        (self.isEncrypted, self.host, self.port, path) = (isEncrypted, host, port, "")
    }

    private static func place(_ authority: Substring, isEncrypted: Bool) -> (String, Int)? {
        let host: Substring
        var rest: Substring
        if authority.hasPrefix("[") {
            host = authority.dropFirst().prefix { $0 != "]" }
            rest = authority.dropFirst(host.count + 1)
            guard rest.hasPrefix("]"), host.contains(":") else { return nil }
            rest = rest.dropFirst()
        } else {
            host = authority.prefix { $0 != ":" }
            rest = authority.dropFirst(host.count)
        }
        guard !host.isEmpty else { return nil }
        guard !rest.isEmpty else { return (String(host), isEncrypted ? 443 : 80) }
        guard rest.utf8.dropFirst().allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(rest.dropFirst()),
            (1...65_535).contains(port)
        else { return nil }
        return (String(host), port)
    }

    /// Host and port as the `Host` header and an address have them: no port when it is the scheme's own.
    package var authority: String {
        let shown = host.contains(":") ? "[\(host)]" : host
        return port == (isEncrypted ? 443 : 80) ? shown : "\(shown):\(port)"
    }

    package var description: String { (isEncrypted ? "https://" : "http://") + authority + path }
}
