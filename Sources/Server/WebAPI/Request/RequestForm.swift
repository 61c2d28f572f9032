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

/// Where a request goes: path and query of its target.
struct RequestTarget: Sendable {
    /// Generations of the published API whose paths mean the same calls: its own browser sample asks for both.
    private static let versions: Set<Substring> = ["v2", "v3"]
    private static let mostPathBytes = 1024

    /// As sent, without scheme, host and query.
    let path: String
    /// As sent, without the question mark.
    let query: Substring
    /// `module/action` of the call; nil when the path is not below the API's base address.
    let endpoint: String?
    /// The path is below `/api` or `/trace`, of any version: clients of the API read the answer.
    let isOfAPI: Bool

    init(_ target: String) {
        var rest = Substring(target)
        // Absolute form, as a client sends it to a proxy.
        for scheme in ["http://", "https://"]
        where String(decoding: rest.utf8.prefix(scheme.utf8.count), as: UTF8.self).lowercased() == scheme {
            rest = Substring(rest.utf8.dropFirst(scheme.utf8.count))
            rest = Substring(rest.utf8.drop { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") })
        }
        rest = Substring(rest.utf8.prefix { $0 != UInt8(ascii: "#") })
        let question = rest.utf8.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        path = String(rest[..<question])
        query = question == rest.endIndex ? "" : rest[rest.utf8.index(after: question)...]
        let parts = Self.parts(of: path)
        isOfAPI = parts.first.map { ["api", "trace"].contains($0) } ?? false
        // The British spelling of one call.
        endpoint =
            isOfAPI && parts.count >= 2 && Self.versions.contains(parts[1][...])
            ? parts.dropFirst(2).joined(separator: "/").replacing("drivingbehaviour", with: "drivingbehavior") : nil
    }

    /// The path as the documentation writes it, for signatures.
    /// The documentation has no path for what is no call: there it is the path as sent.
    var usualPath: String { endpoint.flatMap { Endpoint.named[$0] }.map { "/api/v3/\($0.path)" } ?? path }

    /// Clients really send white space at the end, doubled slashes and capitals.
    private static func parts(of path: String) -> [String] {
        // No call has so long a path.
        guard path.utf8.count <= mostPathBytes else { return [] }
        // What is not UTF-8 is a part that no call has, and the rest still says whose path it is.
        let text = FormEncoding.repaired(path.utf8, plusIsSpace: false).lowercased()
        return TextParts.split(text, at: "/").map { Parameters.trimmed($0) }.filter { !$0.isEmpty }
    }
}

extension JSONRules {
    /// For what clients send. They write numbers of any size, and the last member of a name counts for them.
    static let requests = JSONRules(
        // Of a parameter within a body: numbers may be written out longer than they came.
        maximumBytes: 4 * APIRouter.maximumBodyBytes, maximumDepth: 16, maximumValues: 100_000,
        maximumNameBytes: 256,
        repeatedMembers: .lastCounts, largeIntegers: .doubles)
}
