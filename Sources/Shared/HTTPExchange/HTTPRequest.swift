/// One request of HTTP/1.1.
package struct HTTPRequest: Hashable, Sendable {
    package enum Method: String, Hashable, Sendable { case get = "GET", post = "POST" }

    package let method: Method
    package let address: HTTPAddress
    /// Behind the path of the address: it begins with `/`, and may have a query. Printable ASCII without spaces.
    package let target: String
    /// Nil: the request has no body.
    package let contentType: String?
    package let body: [UInt8]
    /// Beside those that every request has: `Host`, `User-Agent`, `Accept-Encoding`, `Connection`, and those of the body.
    package let headers: [HTTPHeader]
    /// Who asks, for `User-Agent`.
    package let program: String

    /// Throws `address` when `target`, `contentType` or a header cannot stand in a request's head.
    package init(
        _ method: Method, _ address: HTTPAddress, _ target: String, contentType: String? = nil, body: [UInt8] = [],
        headers: [HTTPHeader] = [], program: String = "saker"
    ) throws(HTTPExchangeError) {
        // Whatever is not printable could begin another line of the head.
        guard target.hasPrefix("/"), target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw HTTPExchangeError(.address, "a request's target begins with / and has printable characters only")
        }
        guard contentType?.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) != false else {
            throw HTTPExchangeError(.address, "a content type has only printable characters")
        }
        guard
            headers.allSatisfy({
                !$0.name.isEmpty && $0.name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3A }
                    && $0.value.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
            })
        else { throw HTTPExchangeError(.address, "a header has only printable characters") }
        (self.method, self.address, self.target) = (method, address, target)
        (self.contentType, self.body, self.headers, self.program) = (contentType, body, headers, program)
    }

    /// Head and body as they are sent. `keepsConnection`: another request may follow on the connection.
    package func encoded(keepsConnection: Bool = false) -> [UInt8] {
        var lines = [
            "\(method.rawValue) \(address.path)\(target) HTTP/1.1", "Host: \(address.authority)",
            "User-Agent: \(program)", "Accept-Encoding: identity",
        ]
        if !keepsConnection { lines.append("Connection: close") }
        lines += headers.map { "\($0.name): \($0.value)" }
        if let contentType { lines += ["Content-Type: \(contentType)", "Content-Length: \(body.count)"] }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }
}

package struct HTTPHeader: Hashable, Sendable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
}

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

/// Why there is no answer. Two errors with the same ``code`` are equal.
package struct HTTPExchangeError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Hashable, Sendable, CaseIterable {
        /// The address or the request cannot be one.
        case address
        /// No connection, or it broke.
        case unreachable
        /// The time for the whole exchange is over.
        case timeout
        /// The caller's task was cancelled.
        case cancelled
        /// The server's certificate is not trusted, has another name, or is not valid now.
        case untrusted
        /// A file with authorities, or another setting, cannot be used.
        case configuration
        /// The connection ended before the answer did.
        case cut
        /// The answer breaks a rule of HTTP/1.1, or is no HTTP.
        case notHTTP
        /// The answer is longer than the limit.
        case tooLarge
    }

    package let code: Code
    /// For people; holds nothing of the request but its address.
    package let detail: String
    /// Why there was no connection. Then the server has got nothing of the request, and another address of it may be tried.
    package enum Unconnected: Hashable, Sendable { case noAddress, noRoute, refused, timeout }
    /// Nil: there was a connection.
    package let unconnected: Unconnected?

    package init(_ code: Code, _ detail: String, unconnected: Unconnected? = nil) {
        (self.code, self.detail, self.unconnected) = (code, detail, unconnected)
    }

    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }
    package func hash(into hasher: inout Hasher) { hasher.combine(code) }
    package var description: String { detail }
}
