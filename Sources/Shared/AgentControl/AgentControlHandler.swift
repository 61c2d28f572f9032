package import JSON
package import NIOCore
package import TrackModel
package import Varlink

/// The agent as its control socket sees it: one method per call, each on the server's event loop.
///
/// Parameters are present, of the right type and the caller is allowed; rules about values are the handler's. A
/// future fails with ``AgentControlError``; any other error reaches the client as `InternalError` without its text.
package protocol AgentControlHandler: AnyObject {
    func status() -> AgentStatus
    func settings() -> AgentSettings
    /// `entity` nil: the configured one, or the one it ran as last.
    func startService(entity: String?) -> EventLoopFuture<StartServiceReply>
    /// `timeout` for the last upload, nil for the default; 0 for none.
    func stopService(timeout: TimeAmount?) -> EventLoopFuture<StopServiceReply>
    func startGather() -> EventLoopFuture<StartGatherReply>
    func stopGather() -> EventLoopFuture<StopGatherReply>
    /// Seconds; not yet checked.
    func setIntervals(gather: Int64, pack: Int64) -> EventLoopFuture<AgentSettings>
    func setCacheLimit(_ limit: CacheLimit) -> EventLoopFuture<AgentSettings>
    func setLocationOptions(_ change: LocationOptionsChange) -> EventLoopFuture<AgentSettings>
    func resetSettings() -> EventLoopFuture<AgentSettings>
    /// Keys and values as they came; `ttl` nil for no limit.
    func setAttributes(_ values: [String: JSONValue], ttl: TimeAmount?) -> EventLoopFuture<SetAttributesReply>
    /// `keys` nil: all.
    func clearAttributes(keys: [String]?) -> EventLoopFuture<ClearAttributesReply>
    func attributes() -> AttributesReply
    /// Makes the connection a provider, or takes what it gives; completes when the next point is gathered.
    func provideAttributes(
        _ answer: ProvidedAttributes?, from provider: VarlinkClientConnection, process: Int32
    ) -> EventLoopFuture<ProvideAttributesReply>
    /// `entities` nil: all.
    func cacheInfo(entities: [String]?) -> EventLoopFuture<CacheInfoReply>
    func clearCache(_ selection: CacheSelection) -> EventLoopFuture<ClearCacheReply>
    /// `points` are within their rules, at least one; `entity` nil: the one the service runs as.
    func addPoints(_ points: [TrackPoint], entity: String?) -> EventLoopFuture<AddPointsReply>
    /// A Web API request; whether its path and parameters make sense is the server's to say.
    func call(path: String, parameters: [String: String]) -> EventLoopFuture<WebAPIReply>
    /// What the journal of alarms and messages holds; the selection is within its rules.
    func alarms(_ selection: AlarmSelection) -> EventLoopFuture<AlarmsReply>
    func reconnect() -> EventLoopFuture<ReconnectReply>
}
