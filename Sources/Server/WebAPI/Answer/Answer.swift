import JSON

/// What an endpoint answers: one JSON object of a status, a message, and the members that the endpoint writes.
struct Answer: Equatable, Sendable {
    let status: APIStatus
    /// Names the parameter, its value and the rule; empty when the status says it all.
    let detail: String
    /// The whole answer. It is written once, because a page of a track is a megabyte.
    let json: [UInt8]

    /// Success, with nothing to tell.
    static let done = Answer { _ in }

    /// `message`: a word that clients wait for; nil: what the status says.
    init<Failure: Error>(
        _ status: APIStatus = .success, _ detail: String = "", message: String? = nil,
        _ write: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        self.status = status
        self.detail = detail
        var writer = JSONWriter(wholeDoubles: .withoutPoint)
        try writer.object { (object) throws(Failure) in
            object.member("status", status.rawValue)
            object.member("message", message ?? (detail.isEmpty ? status.message : "\(status.message): \(detail)"))
            try write(&object)
        }
        json = writer.bytes
    }

    init(_ failure: APIFailure) {
        self.init(failure.status, failure.detail) { _ in }
    }
}

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
