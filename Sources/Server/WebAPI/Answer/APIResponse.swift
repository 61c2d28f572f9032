/// An answer as it goes to the wire.
package struct APIResponse: Sendable {
    /// 200 for every answer of the API, also for its errors: clients read the body of nothing else.
    package var httpStatus: Int
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]

    package init(httpStatus: Int = 200, headers: [(name: String, value: String)], body: [UInt8]) {
        self.httpStatus = httpStatus
        self.headers = headers
        self.body = body
    }
}
