package import AgentControl
package import JSON
internal import NIOCore
internal import Varlink

/// Each method of the agent with its types, as tests call it. The command line shows the agent's replies as they are.
extension AgentControlClient {
    /// Events until the caller stops or the agent ends the stream. The first event is the status.
    package func monitor() -> AsyncThrowingStream<AgentEvent, any Error> {
        let replies = varlink.stream("\(AgentInterface.name).\(AgentMethod.monitor.rawValue)")
        let iterator = MonitorIterator(replies.makeAsyncIterator())
        return AsyncThrowingStream { try await iterator.next() }
    }

    package func startService(entity: String? = nil) async throws -> StartServiceReply {
        // The agent answers when it knows whether it is online. Connect, handshake and login take time.
        try await call(.startService, ["entity": entity.map(JSONValue.string)], timeout: .seconds(45))
    }

    package func stopService(timeout seconds: Double? = nil) async throws -> StopServiceReply {
        let own = TimeAmount.milliseconds(Int64(min(max(seconds ?? 10, 0), 3600) * 1000))
        return try await call(
            .stopService, ["timeout": seconds.map(JSONValue.double)], timeout: .seconds(10) + own)
    }

    package func startGather(keepTrying: Bool? = nil) async throws -> StartGatherReply {
        try await call(.startGather, ["keep_trying": keepTrying.map(JSONValue.bool)])
    }

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
            timeout: .seconds(10) + Self.requestTime)
    }

    package func alarms(_ selection: AlarmSelection = AlarmSelection()) async throws -> AlarmsReply {
        try await call(
            .listAlarms,
            [
                "after": selection.after.map(JSONValue.integer), "from": selection.from.map(JSONValue.integer),
                "through": selection.through.map(JSONValue.integer), "type": selection.type.map(JSONValue.integer),
                "entity": selection.entity.map(JSONValue.string), "fences": Self.list(selection.fences),
                "actions": Self.list(selection.actions?.map(\.rawValue)), "limit": .integer(selection.limit),
            ])
    }

    package func createFence(_ fence: JSONValue) async throws -> FenceReply {
        try await call(.createFence, ["fence": fence])
    }

    package func updateFence(_ number: Int64, _ fence: JSONValue) async throws -> FenceReply {
        try await call(.updateFence, ["fence_id": .integer(number), "fence": fence])
    }

    /// A selection without a condition means every fence.
    package func deleteFences(_ selection: FenceSelection) async throws -> DeleteFencesReply {
        var parameters = Self.members(selection)
        if selection.hasNoCondition { parameters["all"] = true }
        return try await call(.deleteFences, parameters)
    }

    package func fences(_ selection: FenceSelection = FenceSelection()) async throws -> FencesReply {
        var parameters = Self.members(selection)
        (parameters["after"], parameters["limit"]) = (.integer(selection.after), .integer(selection.limit))
        return try await call(.listFences, parameters)
    }

    package func exportFences(
        _ selection: FenceSelection = FenceSelection(), position: String? = nil
    ) async throws -> ExportFencesReply {
        var parameters = Self.members(selection)
        parameters["position"] = position.map(JSONValue.string)
        return try await call(.exportFences, parameters)
    }

    package func fenceStatus(
        of entity: String? = nil, at place: JSONValue? = nil, _ selection: FenceSelection = FenceSelection()
    ) async throws -> FenceStatusReply {
        var parameters = Self.members(selection)
        (parameters["entity"], parameters["place"]) = (entity.map(JSONValue.string), place)
        (parameters["after"], parameters["limit"]) = (.integer(selection.after), .integer(selection.limit))
        return try await call(.getFenceStatus, parameters)
    }

    package func importFences(_ part: FenceImportPart) async throws -> ImportFencesReply {
        try await call(
            .importFences,
            [
                "file": .string(part.file), "layer": part.layer.map(JSONValue.string), "text": .string(part.text),
                "import_id": part.importID.map(JSONValue.string), "part": .integer(part.part),
                "last": .bool(part.isLast),
            ])
    }

    private static func members(_ selection: FenceSelection) -> [String: JSONValue?] {
        [
            "fences": list(selection.fences), "name": selection.name.map(JSONValue.string),
            "group": selection.group.map(JSONValue.string), "entity": selection.entity.map(JSONValue.string),
            "file": selection.file.map(JSONValue.string), "layer": selection.layer.map(JSONValue.string),
        ]
    }

    private static func list(_ numbers: [Int64]?) -> JSONValue? {
        numbers.map { .array($0.map(JSONValue.integer)) }
    }

    package func reconnect() async throws -> ReconnectReply { try await call(.reconnect) }

    private func call<Reply: Decodable>(
        _ method: AgentMethod, _ parameters: [String: JSONValue?] = [:], timeout: TimeAmount? = nil,
        as type: Reply.Type = Reply.self
    ) async throws -> Reply {
        try await call(method, parameters: parameters, timeout: timeout).decoded()
    }

    private static func list(_ strings: [String]?) -> JSONValue? {
        strings.map { .array($0.map(JSONValue.string)) }
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
            return try reply["event"]?.decoded()
        } catch let error as VarlinkError {
            throw AgentControlError(error) as (any Error)? ?? error
        }
    }
}
