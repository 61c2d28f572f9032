import TrackStore

/// One call of the API as a value: its name, what it takes, whom it is about, and what it does.
///
/// docs/web-api.md documents each endpoint; a test compares the two. CONTRIBUTING.md says how to add one.
struct Endpoint: Sendable {
    enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
    }

    /// A request that has been read once: the same reading is judged and answered.
    struct Reading: Sendable {
        /// Whom the request is about, for callers that may not ask about everyone.
        let subject: CallSubject
        /// Throws ``APIFailure``, or the store's error as it is: the router makes an answer of both.
        let answer: @Sendable () async throws -> Answer
    }

    /// `module/action`, all lower case.
    let path: String
    /// The documented method. The other one works too, unless the operator wants it refused.
    let method: Method
    /// What the key of a request must open.
    let scope: KeyScopes
    /// Names of the parameters. A parameter that is not named here does not reach `read`.
    let parameters: [String]
    /// The endpoint also takes a parameter for every column of this kind that the service has.
    let columns: ColumnKind?
    /// Reads a request and changes nothing. Throws like ``Reading/answer``.
    let read: @Sendable (APICall, any TrackStore) async throws -> Reading

    /// For a request whose subject its parameters name plainly, such as ``APICall/namedEntity``.
    ///
    /// `run` may ask for the parts of the store that it uses, such as `any EntityStore & ColumnStore`.
    init(
        _ path: String, _ method: Method, _ parameters: [String], columns: ColumnKind? = nil,
        scope: KeyScopes? = nil,
        about subject: @escaping @Sendable (APICall) -> CallSubject = { _ in .wholeService },
        run: @escaping @Sendable (APICall, any TrackStore) async throws -> Answer
    ) {
        self.init(
            path, method, parameters, columns: columns, scope: scope, reading: { call, _ in call }, about: subject
        ) {
            request, _, store in
            try await run(request, store)
        }
    }

    /// `scope` nil: a call whose documented method is GET reads, and the others write.
    ///
    /// For a request whose subject is known only when it has been read: `about` and `run` get the same reading.
    init<Request: Sendable>(
        _ path: String, _ method: Method, _ parameters: [String], columns: ColumnKind? = nil,
        scope: KeyScopes? = nil,
        reading: @escaping @Sendable (APICall, any TrackStore) async throws -> Request,
        about subject: @escaping @Sendable (Request) -> CallSubject,
        run: @escaping @Sendable (Request, APICall, any TrackStore) async throws -> Answer
    ) {
        self.path = path
        self.method = method
        self.parameters = parameters
        self.columns = columns
        self.scope = scope ?? (method == .get ? .read : .write)
        read = { call, store in
            let request = try await reading(call, store)
            return Reading(subject: subject(request)) { try await call.inTurn { try await run(request, call, store) } }
        }
    }

    static let all =
        EntityEndpoints.all + TrackEndpoints.all + AnalysisEndpoints.all + FenceEndpoints.all
        + ExportEndpoints.all + FrequentRouteEndpoints.all + UnofferedEndpoints.all

    /// By their paths.
    static let named = Dictionary(uniqueKeysWithValues: all.map { ($0.path, $0) })

    /// The parameters of the client that this endpoint takes. Throws when one is too long: nothing has read it then.
    func taken(of parameters: Parameters) throws(APIFailure) -> Parameters {
        try ParameterLengths.check(self.parameters, of: parameters)
        // The service's columns are not known here.
        return columns == nil ? parameters.only(self.parameters) : parameters
    }
}

/// Calls of the published service that need what this server never has: tolls of roads. They answer that they are not offered,
/// and not that they do not exist, so that a client can tell the one from the other.
enum UnofferedEndpoints {
    static let all = [endpoint("toll/car"), endpoint("toll/truck")]

    private static func endpoint(_ path: String) -> Endpoint {
        Endpoint(path, .get, [], scope: .read) { _, _ in
            throw APIFailure(.notAllowed, "this server does not offer \(path)")
        }
    }
}
