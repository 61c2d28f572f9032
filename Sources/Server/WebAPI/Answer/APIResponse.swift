/// An answer as it goes to the wire.
package struct APIResponse: Sendable {
    /// 200 for every answer of the API, also for its errors: clients read the body of nothing else.
    package var httpStatus: Int
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// The request had a key that opens its service, and a right signature if the key wants one.
    package var hasValidKey: Bool
    /// The body is this file, in place of `body`.
    package var file: ServedFile?

    package init(
        httpStatus: Int = 200, headers: [(name: String, value: String)], body: [UInt8], hasValidKey: Bool = false
    ) {
        self.httpStatus = httpStatus
        self.headers = headers
        self.body = body
        self.hasValidKey = hasValidKey
    }
}

/// A file of the server that a client may have.
package struct ServedFile: Hashable, Sendable {
    /// Of the export that the file belongs to.
    package var token: String
    package var bytes: Int64
}
