/// One request of HTTP/1.1. The connection ends after its answer.
package struct HTTPRequest: Hashable, Sendable {
    package enum Method: String, Hashable, Sendable { case get = "GET", post = "POST" }

    package let method: Method
    package let address: HTTPAddress
    /// Behind the path of the address: it begins with `/`, and may have a query. Printable ASCII without spaces.
    package let target: String
    /// Nil: the request has no body.
    package let contentType: String?
    package let body: [UInt8]

    /// Throws `address` when `target` or `contentType` cannot stand in a request's head.
    package init(
        _ method: Method, _ address: HTTPAddress, _ target: String, contentType: String? = nil, body: [UInt8] = []
    ) throws(HTTPExchangeError) {
        // Whatever is not printable could begin another line of the head.
        guard target.hasPrefix("/"), target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw HTTPExchangeError(.address, "a request's target begins with / and has printable characters only")
        }
        guard contentType?.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) != false else {
            throw HTTPExchangeError(.address, "a content type has only printable characters")
        }
        (self.method, self.address, self.target) = (method, address, target)
        (self.contentType, self.body) = (contentType, body)
    }

    /// Head and body as they are sent.
    package var encoded: [UInt8] {
        var lines = [
            "\(method.rawValue) \(address.path)\(target) HTTP/1.1", "Host: \(address.authority)", "User-Agent: saker",
            "Accept-Encoding: identity", "Connection: close",
        ]
        if let contentType { lines += ["Content-Type: \(contentType)", "Content-Length: \(body.count)"] }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }
}
