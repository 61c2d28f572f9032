/// One request as it came from the wire; nothing in it has been decoded.
package struct APIRequest: Sendable {
    /// Upper case, such as `GET`.
    package var method: String
    /// Path and query as sent, in origin form or absolute form.
    package var target: String
    /// Value of `Content-Type`.
    package var contentType: String?
    /// Value of `Access-Control-Request-Headers`, which a browser sends before a request to another origin.
    package var requestedHeaders: String?
    package var body: [UInt8]
    /// How the client reaches this server, such as `https://tracks.example:8443`; nil when it did not say so.
    package var origin: String?
    /// Where the connection of the request comes from, such as `192.0.2.1`; nil when that is unknown.
    package var address: String?
    /// Value of `Referer`: the page that a browser made the request for.
    package var referer: String?

    package init(
        method: String, target: String, contentType: String? = nil, requestedHeaders: String? = nil, body: [UInt8] = [],
        origin: String? = nil, address: String? = nil, referer: String? = nil
    ) {
        self.method = method
        self.target = target
        self.contentType = contentType
        self.requestedHeaders = requestedHeaders
        self.body = body
        self.origin = origin
        self.address = address
        self.referer = referer
    }
}
