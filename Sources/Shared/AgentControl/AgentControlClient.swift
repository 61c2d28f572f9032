package import JSON
package import NIOCore
package import Varlink

/// A client of the agent. Throws ``AgentControlError`` when the agent refuses, ``VarlinkError`` when the
/// protocol does, and ``VarlinkClientError`` when the client cannot reach the agent.
package struct AgentControlClient: Sendable {
    package let varlink: VarlinkClient
    private let timeout: TimeAmount

    /// `timeout` holds for each call that names no other.
    package init(path: String = AgentInterface.defaultSocketPath, timeout: TimeAmount = .seconds(10)) {
        varlink = VarlinkClient(path: path)
        self.timeout = timeout
    }

    package func status() async throws -> AgentStatus {
        try await call(.getStatus, as: StatusReply.self).status
    }

    /// A connection to provide attributes on.
    package func provide() async throws -> AttributeProvision {
        AttributeProvision(try await varlink.converse())
    }

    /// Any Web API request, with the identity of the agent.
    package func callWebAPI(_ path: String, _ parameters: [String: String]) async throws -> WebAPIReply {
        try await call(
            .call, ["path": .string(path), "parameters": .object(parameters.mapValues(JSONValue.string))],
            timeout: timeout + Self.requestTime)
    }

    /// How long the agent waits for the server: for the request's turn, and for the answer.
    package static let requestTime = TimeAmount.seconds(60)

    /// Calls a method with untyped parameters and an untyped reply.
    package func call(
        _ method: AgentMethod, parameters: [String: JSONValue?], timeout: TimeAmount? = nil
    ) async throws -> JSONValue {
        do {
            return try await varlink.call(
                Self.name(of: method), parameters.compactMapValues { $0 }, timeout: timeout ?? self.timeout)
        } catch let error as VarlinkError {
            throw Self.typed(error)
        }
    }

    private func call<Reply: Decodable>(
        _ method: AgentMethod, _ parameters: [String: JSONValue?] = [:], timeout: TimeAmount? = nil,
        as type: Reply.Type = Reply.self
    ) async throws -> Reply {
        try Self.decode(try await call(method, parameters: parameters, timeout: timeout))
    }

    static func name(of method: AgentMethod) -> String { "\(AgentInterface.name).\(method.rawValue)" }

    static func decode<Value: Decodable>(_ value: JSONValue) throws -> Value {
        do {
            return try value.decoded()
        } catch {
            throw VarlinkClientError(
                .malformed,
                "the agent's reply is not understood: is it of another version than this program? (\(error))")
        }
    }

    static func typed(_ error: VarlinkError) -> any Error {
        AgentControlError(error) ?? error
    }
}

/// A call that did not succeed. Each outcome has its own name.
package struct AgentControlError: Error, Hashable, Sendable {
    /// The raw values are the names on the socket, after `io.saker.Agent.`.
    package enum Code: String, Hashable, Sendable, CaseIterable {
        /// A value breaks a rule.
        case parameterError = "ParameterError"
        /// The agent's own fault; the journal says more.
        case internalError = "InternalError"
        /// The call needs the server, and the agent cannot reach the server.
        case networkError = "NetworkError"
        /// The server refused the access key, the application code or the certificate.
        case authenticationError = "AuthenticationError"
        /// The same call has not ended yet.
        case inProgress = "InProgress"
        /// The service runs already.
        case alreadyStarted = "AlreadyStarted"
        /// The call needs a running service.
        case serviceNotStarted = "ServiceNotStarted"
        case gatherAlreadyStarted = "GatherAlreadyStarted"
        case gatherNotStarted = "GatherNotStarted"
        /// gpsd cannot be reached or has no device.
        case locationOff = "LocationOff"
        /// The operating system does not let the agent use gpsd.
        case permissionDenied = "PermissionDenied"
        /// The caller may read, but not change.
        case notAuthorized = "NotAuthorized"
        /// Too many requests wait for the server. The agent did nothing.
        case busy = "Busy"
        /// The request went to the server, but no answer came. It is unknown what the server did.
        case outcomeUnknown = "OutcomeUnknown"
        /// A `Monitor` client read its events too slowly and gets no more.
        case tooSlow = "TooSlow"
        /// The change is in force, and it could not be written to the disk: a restart may forget it.
        case notRemembered = "NotRemembered"
        /// There is no local fence of this number.
        case fenceNotFound = "FenceNotFound"
        /// The agent has no room for the fences.
        case tooManyFences = "TooManyFences"
    }

    package let code: Code
    /// A sentence that tells the value, the rule and what to do. It holds no secret.
    package let reason: String
    /// The mobile SDK's number for this outcome of this call. Nil when the SDK has none.
    package let sdkCode: Int64?
    /// The parameter that is wrong.
    package let parameter: String?

    /// The code and the method decide the SDK's number.
    package init(_ code: Code, in method: AgentMethod, reason: String, parameter: String? = nil) {
        self.code = code
        self.reason = reason
        self.parameter = parameter
        sdkCode = Self.sdkCode(code, in: method)
    }

    /// Two errors are equal when the outcome is the same. The reason does not count.
    package static func == (left: Self, right: Self) -> Bool {
        left.code == right.code && left.sdkCode == right.sdkCode && left.parameter == right.parameter
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(sdkCode)
        hasher.combine(parameter)
    }

    /// Ordinals of the SDK's enumerations of results (service, gather, intervals, size of the cache). Its calls about fences answer with a status of
    /// the Web API.
    static func sdkCode(_ code: Code, in method: AgentMethod) -> Int64? {
        switch (method, code) {
        case (.startService, .parameterError): 2
        case (.startService, .internalError): 3
        case (.startService, .networkError): 4
        case (.startService, .authenticationError): 5
        case (.startService, .inProgress): 6
        case (.startService, .alreadyStarted): 7
        case (.stopService, .serviceNotStarted): 9
        case (.stopService, .inProgress): 10
        case (.startGather, .gatherAlreadyStarted): 1
        case (.startGather, .serviceNotStarted): 2
        case (.startGather, .locationOff): 3
        case (.startGather, .permissionDenied): 4
        case (.startGather, .internalError): 5
        case (.stopGather, .gatherNotStarted): 7
        case (.setIntervals, .parameterError): 1
        case (.setCacheLimit, .internalError): 1
        case (.setCacheLimit, .parameterError): 2
        case (_, .fenceNotFound): 5104
        case (_, .tooManyFences): 5101
        case (_, .internalError) where method.isAboutFences: 1
        case (_, .parameterError) where method.isAboutFences: 2
        default: nil
        }
    }
}

extension AgentControlError: CustomStringConvertible {
    package var description: String { reason }

    /// The name on the socket.
    package var name: String { "\(AgentInterface.name).\(code.rawValue)" }

    /// The error as it is sent.
    package var varlinkError: VarlinkError {
        var parameters: [String: JSONValue] = ["reason": .string(reason)]
        if let sdkCode { parameters["code"] = .integer(sdkCode) }
        if let parameter { parameters["parameter"] = .string(parameter) }
        return VarlinkError(name: name, parameters: parameters)
    }

    /// The error that was received. Nil when it does not belong to this interface.
    package init?(_ error: VarlinkError) {
        let prefix = AgentInterface.name + "."
        guard error.name.hasPrefix(prefix), let code = Code(rawValue: String(error.name.dropFirst(prefix.count))) else {
            return nil
        }
        self.code = code
        reason = error.parameters["reason"]?.stringValue ?? code.rawValue
        sdkCode = error.parameters["code"]?.integerValue
        parameter = error.parameters["parameter"]?.stringValue
    }
}
