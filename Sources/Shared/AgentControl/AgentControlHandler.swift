package import JSON
package import NIOCore
package import TrackModel
package import Varlink

/// What the control socket asks of the agent: one method for each call, on the server's event loop.
///
/// The service has checked that the caller may call, and that the parameters are present and of the right type. The
/// handler checks the values. A future fails with ``AgentControlError``. The client gets any other error as
/// `InternalError`, without its text.
package protocol AgentControlHandler: AnyObject {
    func status() -> AgentStatus
    func settings() -> AgentSettings
    /// When `entity` is nil, the service runs as the last entity, or else as the configured one.
    func startService(entity: String?) -> EventLoopFuture<StartServiceReply>
    /// `timeout` is for the last upload. Nil means the default, 0 means no upload.
    func stopService(timeout: TimeAmount?, by cause: StopCause) -> EventLoopFuture<StopServiceReply>
    /// `keepTrying`: gathering starts without a receiver too.
    func startGather(keepTrying: Bool) -> EventLoopFuture<StartGatherReply>
    func stopGather(by cause: StopCause) -> EventLoopFuture<StopGatherReply>
    /// Seconds, not yet checked.
    func setIntervals(gather: Int64, pack: Int64) -> EventLoopFuture<SettingsReply>
    func setCacheLimit(_ limit: CacheLimit) -> EventLoopFuture<SettingsReply>
    func setLocationOptions(_ change: LocationOptionsChange) -> EventLoopFuture<SettingsReply>
    func resetSettings() -> EventLoopFuture<SettingsReply>
    /// Keys and values are not yet checked. A nil `ttl` means no limit.
    func setAttributes(_ values: [String: JSONValue], ttl: TimeAmount?) -> EventLoopFuture<SetAttributesReply>
    /// `keys` nil: all.
    func clearAttributes(keys: [String]?) -> EventLoopFuture<ClearAttributesReply>
    func attributes() -> AttributesReply
    /// Makes the connection a provider, or takes its values. Completes when the next point is gathered.
    func provideAttributes(
        _ answer: ProvidedAttributes?, from provider: VarlinkClientConnection, process: Int32
    ) -> EventLoopFuture<ProvideAttributesReply>
    /// `entities` nil: all.
    func cacheInfo(entities: [String]?) -> EventLoopFuture<CacheInfoReply>
    func clearCache(_ selection: CacheSelection) -> EventLoopFuture<ClearCacheReply>
    /// `points` has at least one point, each within its rules. `entity` nil means the entity of the service.
    func addPoints(_ points: [TrackPoint], entity: String?) -> EventLoopFuture<AddPointsReply>
    /// Sends a Web API request. Only the server judges the path and the parameters.
    func call(path: String, parameters: [String: String]) -> EventLoopFuture<WebAPIReply>
    /// Lists the journal of alarms and messages. The selection obeys its rules.
    func alarms(_ selection: AlarmSelection) -> EventLoopFuture<AlarmsReply>
    func reconnect() -> EventLoopFuture<ReconnectReply>
    /// `definition`: an object that nobody has checked.
    func createFence(_ definition: JSONValue) -> EventLoopFuture<FenceReply>
    func updateFence(_ fence: Int64, _ definition: JSONValue) -> EventLoopFuture<FenceReply>
    /// A selection without a condition means every fence.
    func deleteFences(_ selection: FenceSelection) -> EventLoopFuture<DeleteFencesReply>
    func fences(_ selection: FenceSelection) -> EventLoopFuture<FencesReply>
    /// `position` as an earlier reply said; nil for the beginning.
    func exportFences(_ selection: FenceSelection, position: String?) -> EventLoopFuture<ExportFencesReply>
    /// `entity` nil: the entity of the service. `place` nil: where the entity is.
    func fenceStatus(
        of entity: String?, at place: AssumedPlace?, _ selection: FenceSelection
    ) -> EventLoopFuture<FenceStatusReply>
    func importFences(_ part: FenceImportPart) -> EventLoopFuture<ImportFencesReply>
}

// Reads the parameters of each method, checks the rules that need no agent, and asks the handler.
extension AgentControlService {
    func answer(
        _ method: AgentMethod, _ given: CallParameters, on loop: any EventLoop
    ) throws -> VarlinkAnswer {
        var parameters = given
        switch method {
        case .getStatus:
            try parameters.finish()
            return reply(loop.makeSucceededFuture(StatusReply(status: handler.status())), method)
        case .monitor:
            try parameters.finish()
            return .stream { stream in self.monitor(stream) }
        case .startService:
            let entity = try parameters.string("entity")
            try parameters.finish()
            try check(entity, method)
            return reply(handler.startService(entity: entity), method)
        case .stopService:
            let timeout = try parameters.number("timeout")
            let cause = try Self.cause(try parameters.string("by"), method)
            try parameters.finish()
            return reply(handler.stopService(timeout: try Self.timeout(timeout), by: cause), method)
        case .startGather:
            let keepTrying = try parameters.bool("keep_trying") ?? false
            try parameters.finish()
            return reply(handler.startGather(keepTrying: keepTrying), method)
        case .stopGather:
            let cause = try Self.cause(try parameters.string("by"), method)
            try parameters.finish()
            return reply(handler.stopGather(by: cause), method)
        case .reconnect:
            try parameters.finish()
            return reply(handler.reconnect(), method)
        case .getSettings:
            try parameters.finish()
            return reply(loop.makeSucceededFuture(SettingsReply(handler.settings())), method)
        case .setIntervals:
            let gather = try parameters.requiredInteger("gather")
            let pack = try parameters.requiredInteger("pack")
            try parameters.finish()
            return reply(handler.setIntervals(gather: gather, pack: pack), method)
        case .setCacheLimit:
            let bytes = try parameters.integer("bytes")
            let unlimited = try parameters.bool("unlimited") ?? false
            try parameters.finish()
            return reply(handler.setCacheLimit(try Self.limit(bytes, unlimited)), method)
        case .setLocationOptions:
            var change = LocationOptionsChange([:])
            for option in AgentSetting.locationOptions {
                change.values[option.key] = try parameters.value(option.key, where: option.takes)
            }
            try parameters.finish()
            return reply(handler.setLocationOptions(change), method)
        case .resetSettings:
            try parameters.finish()
            return reply(handler.resetSettings(), method)
        case .setAttributes:
            let values = try parameters.requiredObject("attributes")
            let ttl = try parameters.number("ttl")
            try parameters.finish()
            try check(values, method)
            return reply(handler.setAttributes(values, ttl: try Self.ttl(ttl)), method)
        case .clearAttributes:
            let keys = try parameters.strings("keys")
            try parameters.finish()
            return reply(handler.clearAttributes(keys: keys), method)
        case .getAttributes:
            try parameters.finish()
            return reply(loop.makeSucceededFuture(handler.attributes()), method)
        case .provideAttributes:
            // The service answers this method before it comes here, because the method needs the connection.
            throw VarlinkError.methodNotImplemented("\(name).\(method.rawValue)")
        case .getCacheInfo:
            let entities = try parameters.strings("entities")
            try parameters.finish()
            return reply(handler.cacheInfo(entities: entities), method)
        case .clearCache:
            let selection = CacheSelection(
                entities: try parameters.strings("entities"), from: try parameters.integer("from"),
                through: try parameters.integer("through"))
            try parameters.finish()
            try check(selection)
            return reply(handler.clearCache(selection), method)
        case .addPoints: return reply(try addPoints(&parameters), method)
        case .call: return try call(&parameters)
        case .listAlarms: return reply(try listAlarms(&parameters), method)
        case .createFence: return reply(try createFence(&parameters), method)
        case .updateFence: return reply(try updateFence(&parameters), method)
        case .deleteFences: return reply(try deleteFences(&parameters), method)
        case .listFences: return reply(try listFences(&parameters), method)
        case .exportFences: return reply(try exportFences(&parameters), method)
        case .getFenceStatus: return reply(try fenceStatus(&parameters), method)
        case .importFences: return reply(try importFences(&parameters), method)
        }
    }
}

/// Who stops gathering or the service: the values of `by` in the interface, and what the gap of the track tells.
package enum StopCause: String, Hashable, Sendable, CaseIterable {
    /// A person, or a program that is no hook.
    case person
    /// A hook of the agent, such as one that runs for an operator's push.
    case hook
    /// The server refuses what the service was to start with. Nobody may say this of himself.
    case server

    /// What a caller of the interface may say.
    static let callers: [StopCause] = [.person, .hook]
}

extension AgentControlHandler {
    package func stopService(timeout: TimeAmount?) -> EventLoopFuture<StopServiceReply> {
        stopService(timeout: timeout, by: .person)
    }

    package func stopGather() -> EventLoopFuture<StopGatherReply> { stopGather(by: .person) }
}

/// The parameters of one call, read by name and type. A parameter that nobody reads makes the call fail.
///
/// Missing, unknown and mistyped parameters are the protocol's `InvalidParameter`. `null` is the same as absent.
struct CallParameters {
    private let given: [String: JSONValue]
    private var unread: Set<String>

    init(_ parameters: [String: JSONValue]) {
        given = parameters.filter { $0.value != .null }
        unread = Set(parameters.keys)
    }

    private mutating func take<Value>(
        _ name: String, _ read: (JSONValue) -> Value?
    ) throws(VarlinkError) -> Value? {
        unread.remove(name)
        guard let value = given[name] else { return nil }
        guard let typed = read(value) else { throw .invalidParameter(name) }
        return typed
    }

    mutating func string(_ name: String) throws(VarlinkError) -> String? {
        try take(name, \.stringValue)
    }

    mutating func integer(_ name: String) throws(VarlinkError) -> Int64? {
        try take(name, \.integerValue)
    }

    mutating func requiredInteger(_ name: String) throws(VarlinkError) -> Int64 {
        guard let value = try integer(name) else { throw .invalidParameter(name) }
        return value
    }

    mutating func number(_ name: String) throws(VarlinkError) -> Double? {
        try take(name, \.doubleValue)
    }

    mutating func bool(_ name: String) throws(VarlinkError) -> Bool? {
        try take(name, \.boolValue)
    }

    mutating func strings(_ name: String) throws(VarlinkError) -> [String]? {
        try take(name) { value in
            guard let elements = value.arrayValue else { return nil }
            let strings = elements.compactMap(\.stringValue)
            return strings.count == elements.count ? strings : nil
        }
    }

    mutating func integers(_ name: String) throws(VarlinkError) -> [Int64]? {
        try take(name) { value in
            guard let elements = value.arrayValue else { return nil }
            let integers = elements.compactMap(\.integerValue)
            return integers.count == elements.count ? integers : nil
        }
    }

    mutating func requiredArray(_ name: String) throws(VarlinkError) -> [JSONValue] {
        guard let value = try take(name, \.arrayValue) else { throw .invalidParameter(name) }
        return value
    }

    mutating func requiredString(_ name: String) throws(VarlinkError) -> String {
        guard let value = try string(name) else { throw .invalidParameter(name) }
        return value
    }

    mutating func dictionary(_ name: String) throws(VarlinkError) -> [String: String]? {
        try take(name) { value in
            guard let members = value.objectValue else { return nil }
            let strings = members.compactMapValues(\.stringValue)
            return strings.count == members.count ? strings : nil
        }
    }

    mutating func object(_ name: String) throws(VarlinkError) -> [String: JSONValue]? {
        try take(name, \.objectValue)
    }

    mutating func requiredObject(_ name: String) throws(VarlinkError) -> [String: JSONValue] {
        guard let value = try object(name) else { throw .invalidParameter(name) }
        return value
    }

    /// A value as it came, of which `isRight` holds.
    mutating func value(_ name: String, where isRight: (JSONValue) -> Bool) throws(VarlinkError) -> JSONValue? {
        try take(name) { isRight($0) ? $0 : nil }
    }

    /// Call it after the last parameter: it throws when one was not read.
    func finish() throws(VarlinkError) {
        if let unknown = unread.min() { throw .invalidParameter(unknown) }
    }
}
