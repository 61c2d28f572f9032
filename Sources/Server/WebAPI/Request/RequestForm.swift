import JSON

/// The parameters of a request, wherever the client put them.
struct RequestForm: Sendable {
    /// Query and body together; the body wins.
    let parameters: Parameters
    let bodyBytes: Int
    /// Names of the parameters that the query gives.
    private let queryNames: [String]
    /// Of a urlencoded body, as sent.
    private let bodyPairs: [FormEncoding.Pair]
    /// Of the body, however it was encoded.
    private let decoded: [(key: String, value: String)]

    init(_ request: APIRequest, query: Substring) throws(APIFailure) {
        bodyBytes = request.body.count
        let queryPairs = try FormEncoding.pairs(query).map { (key: $0.key, value: $0.value) }
        queryNames = queryPairs.filter { !$0.value.isEmpty }.map(\.key)
        var parameters = Parameters(queryPairs)
        (bodyPairs, decoded) = try Self.body(of: request)
        parameters.merge(Parameters(decoded))
        self.parameters = parameters
    }

    /// Nil when a signature covers every parameter of the request; otherwise what to do. A signature covers the body of a
    /// POST or, without a body, the query.
    func problemWithCoverage(isPOST: Bool) -> String? {
        guard bodyBytes > 0 else { return nil }
        guard isPOST else { return "the signature of a GET covers its query only: send it without a body" }
        guard let name = queryNames.first(where: { !$0.utf8.elementsEqual("sn".utf8) }) else { return nil }
        return "the signature of a POST covers its body only: send \(name) in the body"
    }

    func signed(_ target: RequestTarget, isPOST: Bool) -> Signature.Subject {
        Signature.Subject(
            isPOST: isPOST && bodyBytes > 0,
            paths: target.path == target.usualPath ? [target.path] : [target.path, target.usualPath],
            query: target.query, bodyPairs: bodyPairs, decoded: decoded)
    }

    /// Of a `Content-Type`.
    private static let mostTypeBytes = 256

    private typealias Body = (pairs: [FormEncoding.Pair], decoded: [(key: String, value: String)])

    private static func body(of request: APIRequest) throws(APIFailure) -> Body {
        guard !request.body.isEmpty else { return ([], []) }
        let type = request.contentType ?? ""
        guard type.utf8.count <= mostTypeBytes else {
            throw APIFailure(
                .parameter, "Content-Type has \(type.utf8.count) bytes, and \(mostTypeBytes) are the most")
        }
        if type.lowercased().hasPrefix("multipart/") {
            guard let boundary = Multipart.boundary(of: type) else {
                throw APIFailure(.parameter, "a multipart body needs multipart/form-data and a boundary")
            }
            return ([], try Multipart.pairs(request.body, boundary: boundary))
        }
        let isLabelledJSON = type.lowercased().contains("json")
        if isLabelledJSON, request.body.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") {
            return ([], try members(of: request.body))
        }
        // Everything else is taken for urlencoded: clients label such bodies as JSON, or not at all.
        guard let text = String(validating: request.body, as: UTF8.self) else { throw APIFailure(.notUTF8) }
        let pairs = try FormEncoding.pairs(text)
        return (pairs, pairs.map { ($0.key, $0.value) })
    }

    /// The members of a JSON object as texts.
    private static func members(of body: [UInt8]) throws(APIFailure) -> [(key: String, value: String)] {
        let members: [(name: String, text: String?)]
        do throws(JSONError) {
            members = try JSONReader.texts(of: body, .requests, wholeDoubles: .withoutPoint) ?? []
        } catch {
            throw APIFailure(.parameter, "the body is not JSON: \(error.detail) at byte \(error.offset)")
        }
        guard members.count <= FormEncoding.maximumPairs else { throw FormEncoding.tooManyPairs }
        return members.compactMap { member in member.text.map { (member.name, $0) } }
    }
}
