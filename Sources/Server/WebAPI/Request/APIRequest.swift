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

    package init(
        method: String, target: String, contentType: String? = nil, requestedHeaders: String? = nil, body: [UInt8] = []
    ) {
        self.method = method
        self.target = target
        self.contentType = contentType
        self.requestedHeaders = requestedHeaders
        self.body = body
    }
}
