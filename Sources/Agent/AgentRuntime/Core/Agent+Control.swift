package import AgentControl
internal import AgentLogic
package import JSON
package import NIOCore
package import TrackModel
package import Varlink

// The control interface: the agent passes each call on to the shell of its subject.
extension Agent: AgentControlHandler {
    package func status() -> AgentStatus { report() }

    // MARK: Service

    package func startService(entity: String?) -> EventLoopFuture<StartServiceReply> {
        if let entity, link.login.isDevice, !entity.utf8.elementsEqual(service.entity.utf8),
            EntityName.problem(with: entity) == nil
        {
            let error = AgentControlError(
                .parameterError, in: .startService,
                reason: "this vehicle has a certificate of its own, so the server says which entity it is"
                    // Without a session nobody has confirmed the name that this vehicle has.
                    + (link.hasHadSession
                        ? " (now \(service.entity)). On the server: saker-server device move \(service.entity) \(entity)."
                        : ".") + " Nothing has changed here",
                parameter: "entity")
            return context.loop.makeFailedFuture(error)
        }
        let started = service.start(entity: entity).assumeIsolated().map { [service] reply in
            var reply = reply
            reply.gathering = service.isGatheringWanted
            return reply
        }
        return remembered(started.nonisolated(), in: .startService)
    }

    package func stopService(timeout: TimeAmount?, by cause: StopCause) -> EventLoopFuture<StopServiceReply> {
        let (entity, before) = (service.entity, cache.acknowledged)
        let stopped = service.stop(timeout: timeout, by: cause).assumeIsolated().flatMap { [cache] in
            cache.stopReply(entity: entity, before: before)
        }
        return remembered(stopped.nonisolated(), in: .stopService)
    }

    package func startGather(keepTrying: Bool) -> EventLoopFuture<StartGatherReply> {
        remembered(service.startGathering(keepsTrying: keepTrying), in: .startGather)
    }

    package func stopGather(by cause: StopCause) -> EventLoopFuture<StopGatherReply> {
        remembered(service.stopGathering(by: cause), in: .stopGather)
    }

    /// Answers a success when the disk has taken the change, or when the disk is slow: docs/decisions/0013-remembered-state.md.
    private func remembered<Reply: DurableReply>(
        _ reply: EventLoopFuture<Reply>, in method: AgentMethod
    ) -> EventLoopFuture<Reply> {
        remembered(reply, in: method, by: durableState.whenDurable)
    }

    /// `whenDurable`: of the shell that writes the change.
    func remembered<Reply: DurableReply>(
        _ reply: EventLoopFuture<Reply>, in method: AgentMethod,
        by whenDurable: @escaping (AgentMethod) -> EventLoopFuture<Bool>
    ) -> EventLoopFuture<Reply> {
        reply.assumeIsolated().flatMap { reply in
            whenDurable(method).map { isDurable in
                var reply = reply
                reply.durable = isDurable
                return reply
            }
        }.nonisolated()
    }

    package func reconnect() -> EventLoopFuture<ReconnectReply> {
        guard link.reconnect() else {
            return context.loop.makeFailedFuture(
                AgentControlError(
                    .serviceNotStarted, in: .reconnect,
                    reason: "the service is not started, so there is no connection: saker service start"))
        }
        return context.loop.makeSucceededFuture(ReconnectReply())
    }

    // MARK: Settings

    package func settings() -> AgentSettings { settingsShell.status }

    package func setIntervals(gather: Int64, pack: Int64) -> EventLoopFuture<SettingsReply> {
        changed(in: .setIntervals) { (settings) throws(AgentControlError) in
            try settings.setIntervals(gather: gather, pack: pack)
        }
    }

    package func setCacheLimit(_ limit: CacheLimit) -> EventLoopFuture<SettingsReply> {
        changed(in: .setCacheLimit) { (settings) throws(AgentControlError) in try settings.setCacheLimit(limit) }
    }

    package func setLocationOptions(_ wanted: LocationOptionsChange) -> EventLoopFuture<SettingsReply> {
        changed(in: .setLocationOptions) { (settings) throws(AgentControlError) in
            try settings.setLocationOptions(wanted)
        }
    }

    package func resetSettings() -> EventLoopFuture<SettingsReply> {
        let defaults = Settings(defaultsOf: configuration)
        return changed(in: .resetSettings) { (settings) throws(AgentControlError) in settings.reset(to: defaults) }
    }

    private func changed(
        in method: AgentMethod, _ change: (SettingsShell) throws(AgentControlError) -> Void
    ) -> EventLoopFuture<SettingsReply> {
        do throws(AgentControlError) {
            try change(settingsShell)
        } catch {
            return context.loop.makeFailedFuture(error)
        }
        return remembered(context.loop.makeSucceededFuture(SettingsReply(settingsShell.status)), in: method)
    }

    // MARK: Attributes

    package func setAttributes(
        _ values: [String: JSONValue], ttl: TimeAmount?
    ) -> EventLoopFuture<SetAttributesReply> {
        context.loop.makeSucceededFuture(attributeShell.set(values, ttl: ttl))
    }

    package func clearAttributes(keys: [String]?) -> EventLoopFuture<ClearAttributesReply> {
        context.loop.makeSucceededFuture(attributeShell.clear(keys: keys))
    }

    package func attributes() -> AttributesReply { attributeShell.report() }

    package func provideAttributes(
        _ answer: ProvidedAttributes?, from connection: VarlinkClientConnection, process: Int32
    ) -> EventLoopFuture<ProvideAttributesReply> {
        attributeShell.provide(answer, from: connection, process: process)
    }

    // MARK: Cache

    package func cacheInfo(entities: [String]?) -> EventLoopFuture<CacheInfoReply> {
        do throws(AgentControlError) {
            return context.loop.makeSucceededFuture(
                try cache.info(of: entities, unacknowledged: link.unacknowledgedPoints))
        } catch {
            return context.loop.makeFailedFuture(error)
        }
    }

    package func clearCache(_ selection: CacheSelection) -> EventLoopFuture<ClearCacheReply> { cache.clear(selection) }

    // MARK: The server

    package func addPoints(_ points: [TrackPoint], entity: String?) -> EventLoopFuture<AddPointsReply> {
        let (points, ignored) = attributeShell.judge(points)
        return requests.addPoints(
            points, entity: entity, ignored: ignored, .init(entity: link.entity, limits: link.limits))
    }

    package func call(path: String, parameters: [String: String]) -> EventLoopFuture<WebAPIReply> {
        requests.call(path: path, parameters: parameters)
    }

    package func alarms(_ selection: AlarmSelection) -> EventLoopFuture<AlarmsReply> { alarmShell.list(selection) }
}
