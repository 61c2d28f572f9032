import JSON

/// What an endpoint answers: a status, and the members of the answer after `status` and `message`.
struct Answer: Equatable, Sendable {
    let status: APIStatus
    /// Names the parameter, its value and the rule; empty when the status says it all.
    let detail: String
    let members: JSONWriter

    /// Success, with nothing to tell.
    static let done = Answer { _ in }

    init<Failure: Error>(
        _ status: APIStatus = .success, _ detail: String = "",
        _ write: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        self.status = status
        self.detail = detail
        var writer = JSONWriter(wholeDoubles: .withoutPoint)
        try write(&writer)
        members = writer
    }

    init(_ failure: APIFailure) {
        self.init(failure.status, failure.detail) { _ in }
    }

    /// The whole answer, one JSON object.
    var json: [UInt8] {
        var writer = JSONWriter(wholeDoubles: .withoutPoint)
        writer.reserve(members.bytes.count + 256)
        writer.object { object in
            object.member("status", status.rawValue)
            object.member("message", detail.isEmpty ? status.message : "\(status.message): \(detail)")
            object.append(members)
        }
        return writer.bytes
    }
}
