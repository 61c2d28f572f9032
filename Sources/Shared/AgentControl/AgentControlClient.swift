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
