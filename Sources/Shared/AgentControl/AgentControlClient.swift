package import JSON
package import NIOCore
package import Varlink

/// A typed client of the agent. Throws ``AgentControlError`` when the agent refuses, ``VarlinkError`` when the
/// protocol does, and ``VarlinkClientError`` when the client cannot reach the agent.
package struct AgentControlClient: Sendable {
    package let varlink: VarlinkClient
    private let timeout: TimeAmount

    /// `timeout` holds for each call. `stopService` adds the time of its last upload.
    package init(path: String = AgentInterface.defaultSocketPath, timeout: TimeAmount = .seconds(10)) {
        varlink = VarlinkClient(path: path)
        self.timeout = timeout
    }

    package func status() async throws -> AgentStatus {
        try await call(.getStatus, as: StatusReply.self).status
    }

    /// Events until the caller stops or the agent ends the stream. The first event is the status.
    package func monitor() -> AsyncThrowingStream<AgentEvent, any Error> {
        let replies = varlink.stream(Self.name(of: .monitor))
        let iterator = MonitorIterator(replies.makeAsyncIterator())
        return AsyncThrowingStream { try await iterator.next() }
    }

    package func startService(entity: String? = nil) async throws -> StartServiceReply {
        // The agent answers when it knows whether it is online. Connect, handshake and login take time.
        try await call(.startService, ["entity": entity.map(JSONValue.string)], timeout: timeout + .seconds(35))
    }

    package func stopService(timeout seconds: Double? = nil) async throws -> StopServiceReply {
        let own = TimeAmount.milliseconds(Int64(min(max(seconds ?? 10, 0), 3600) * 1000))
        return try await call(
            .stopService, ["timeout": seconds.map(JSONValue.double)], timeout: timeout + own)
    }

    package func startGather() async throws -> StartGatherReply { try await call(.startGather) }

    package func stopGather() async throws -> StopGatherReply { try await call(.stopGather) }

    package func settings() async throws -> AgentSettings {
        try await call(.getSettings, as: SettingsReply.self).settings
    }

    package func setIntervals(gather: Int64, pack: Int64) async throws -> AgentSettings {
        try await call(
            .setIntervals, ["gather": .integer(gather), "pack": .integer(pack)], as: SettingsReply.self
        ).settings
    }

    package func setCacheLimit(_ limit: CacheLimit) async throws -> AgentSettings {
        let parameters: [String: JSONValue?] =
            switch limit {
            case .bytes(let bytes): ["bytes": .integer(bytes)]
            case .unlimited: ["unlimited": true]
            }
        return try await call(.setCacheLimit, parameters, as: SettingsReply.self).settings
    }

    package func setLocationOptions(_ change: LocationOptionsChange) async throws -> AgentSettings {
        try await call(.setLocationOptions, change.values, as: SettingsReply.self).settings
    }

    package func resetSettings() async throws -> AgentSettings {
        try await call(.resetSettings, as: SettingsReply.self).settings
    }

    package func attributes() async throws -> AttributesReply { try await call(.getAttributes) }

    /// `ttl` in seconds; nil for no limit.
    package func setAttributes(
        _ values: [String: JSONValue], ttl: Double? = nil
    ) async throws -> SetAttributesReply {
        try await call(.setAttributes, ["attributes": .object(values), "ttl": ttl.map(JSONValue.double)])
    }

    /// `keys` nil: all.
    package func clearAttributes(_ keys: [String]? = nil) async throws -> ClearAttributesReply {
        try await call(.clearAttributes, ["keys": Self.list(keys)])
    }

    /// A connection to provide attributes on.
    package func provide() async throws -> AttributeProvision {
        AttributeProvision(try await varlink.converse())
    }

    package func cacheInfo(entities: [String]? = nil) async throws -> CacheInfoReply {
        try await call(.getCacheInfo, ["entities": Self.list(entities)])
    }

    package func clearCache(_ selection: CacheSelection) async throws -> ClearCacheReply {
        try await call(
            .clearCache,
            [
                "entities": Self.list(selection.entities), "from": selection.from.map(JSONValue.integer),
                "through": selection.through.map(JSONValue.integer),
            ])
    }

    /// `points` as `AddPoints` takes them.
    package func addPoints(_ points: [JSONValue], entity: String? = nil) async throws -> AddPointsReply {
        try await call(
            .addPoints, ["points": .array(points), "entity": entity.map(JSONValue.string)],
            timeout: timeout + Self.requestTime)
    }

    /// Any Web API request, with the identity of the agent.
    package func callWebAPI(_ path: String, _ parameters: [String: String]) async throws -> WebAPIReply {
        try await call(
            .call, ["path": .string(path), "parameters": .object(parameters.mapValues(JSONValue.string))],
            timeout: timeout + Self.requestTime)
    }

    /// How long the agent waits for the server: for the request's turn, and for the answer.
    package static let requestTime = TimeAmount.seconds(60)

    package func alarms(_ selection: AlarmSelection = AlarmSelection()) async throws -> AlarmsReply {
        try await call(
            .listAlarms,
            [
                "after": selection.after.map(JSONValue.integer), "from": selection.from.map(JSONValue.integer),
                "through": selection.through.map(JSONValue.integer), "type": selection.type.map(JSONValue.integer),
                "limit": .integer(selection.limit),
            ])
    }

    package func reconnect() async throws -> ReconnectReply { try await call(.reconnect) }

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

    private static func list(_ strings: [String]?) -> JSONValue? {
        strings.map { .array($0.map(JSONValue.string)) }
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

/// Turns replies into events as they are asked for, one at a time.
private actor MonitorIterator {
    private var replies: AsyncThrowingStream<JSONValue, any Error>.Iterator

    init(_ replies: AsyncThrowingStream<JSONValue, any Error>.Iterator) {
        self.replies = replies
    }

    func next() async throws -> AgentEvent? {
        do {
            var iterator = replies
            guard let reply = try await iterator.next(isolation: self) else { return nil }
            replies = iterator
            let decoded: MonitorReply = try AgentControlClient.decode(reply)
            return decoded.event
        } catch let error as VarlinkError {
            throw AgentControlClient.typed(error)
        }
    }
}
