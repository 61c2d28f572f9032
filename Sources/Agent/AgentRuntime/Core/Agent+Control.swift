package import AgentControl
internal import AgentLogic
internal import Logging
package import NIOCore
internal import TrackCache

// The control interface: each call becomes an event of a machine, an operation on the ring, or a look at the state.
extension Agent: AgentControlHandler {
    package func status() -> AgentStatus { report() }

    package func startService(entity: String?) -> EventLoopFuture<StartServiceReply> {
        let promise = loop.makePromise(of: StartServiceReply.self)
        let request = calls.add { reply, agent in
            guard case .startService(let outcome) = reply else { return }
            switch outcome {
            case .success: promise.succeed(StartServiceReply(.success))
            case .successButOffline(let reason): promise.succeed(StartServiceReply(.successButOffline, reason: reason))
            case .parameterError(let reason): promise.fail(.parameterError, .startService, reason, "entity")
            case .internalError(let reason): promise.fail(.internalError, .startService, reason)
            case .networkError(let reason): promise.fail(.networkError, .startService, reason)
            case .authenticationError(let reason):
                promise.fail(
                    .authenticationError, .startService,
                    "\(reason); the service stays started and tries again slowly, at once after a reload")
            case .inProgress: promise.fail(.inProgress, .startService, "the service is just being started or stopped")
            case .alreadyStarted:
                promise.fail(
                    .alreadyStarted, .startService,
                    "the service runs already, as \(agent.lastEntity): stop it first to start it as another entity")
            }
        }
        perform(service.startService(entity: entity ?? lastEntity, request: request))
        return promise.futureResult
    }

    package func stopService(timeout: TimeAmount?) -> EventLoopFuture<StopServiceReply> {
        let promise = loop.makePromise(of: StopServiceReply.self)
        let before = snapshot.counters.acknowledged
        let entity = lastEntity
        let request = calls.add { reply, agent in
            guard case .stopService(let outcome) = reply else { return }
            switch outcome {
            case .success:
                // The last acknowledgement is still on its way to the ring: what is counted comes after it.
                let isCounted = agent.onDisk { _ in
                } then: {
                    promise.succeed(StopServiceReply(agent.snapshot, entity: entity, before: before))
                }
                if !isCounted { promise.succeed(StopServiceReply(agent.snapshot, entity: entity, before: before)) }
            case .notYetStarted: promise.fail(.serviceNotStarted, .stopService, "the service is not started")
            case .inProgress: promise.fail(.inProgress, .stopService, "the service is just being stopped")
            }
        }
        perform(service.stopService(request: request, drainMilliseconds: timeout.map { $0.nanoseconds / 1_000_000 }))
        return promise.futureResult
    }

    package func startGather() -> EventLoopFuture<StartGatherReply> {
        let promise = loop.makePromise(of: StartGatherReply.self)
        let request = calls.add { reply, _ in
            guard case .startGather(let outcome) = reply else { return }
            switch outcome {
            case .success: promise.succeed(StartGatherReply())
            case .alreadyStarted: promise.fail(.gatherAlreadyStarted, .startGather, "gathering is on already")
            case .serviceNotStarted:
                promise.fail(
                    .serviceNotStarted, .startGather, "the service is not started: start it first (saker service start)"
                )
            case .locationOff(let reason): promise.fail(.locationOff, .startGather, reason)
            case .permissionDenied(let reason): promise.fail(.permissionDenied, .startGather, reason)
            case .internalError(let reason): promise.fail(.internalError, .startGather, reason)
            }
        }
        perform(service.startGather(request: request))
        return promise.futureResult
    }

    package func stopGather() -> EventLoopFuture<StopGatherReply> {
        let promise = loop.makePromise(of: StopGatherReply.self)
        let request = calls.add { reply, _ in
            guard case .stopGather(let outcome) = reply else { return }
            switch outcome {
            case .success: promise.succeed(StopGatherReply())
            case .notYetStarted: promise.fail(.gatherNotStarted, .stopGather, "gathering is not on")
            }
        }
        perform(service.stopGather(request: request))
        return promise.futureResult
    }

    package func reconnect() -> EventLoopFuture<ReconnectReply> {
        guard uplink.state != .closed else {
            return loop.makeFailedFuture(
                AgentControlError(
                    .serviceNotStarted, in: .reconnect,
                    reason: "the service is not started, so there is no connection: saker service start"))
        }
        perform(uplink.reconnectRequested(now: now))
        return loop.makeSucceededFuture(ReconnectReply())
    }

    // MARK: Settings

    package func settings() -> AgentSettings { settingsReport }

    package func setIntervals(gather: Int64, pack: Int64) -> EventLoopFuture<AgentSettings> {
        change(in: .setIntervals) { (settings) throws(SettingsError) in
            try settings.setIntervals(gather: gather, pack: pack)
        }
    }

    package func setCacheLimit(_ limit: CacheLimit) -> EventLoopFuture<AgentSettings> {
        change(in: .setCacheLimit) { (settings) throws(SettingsError) in
            switch limit {
            case .bytes(let bytes): try settings.setCacheLimit(bytes)
            case .unlimited: try settings.setCacheLimit(nil)
            }
        }
    }

    package func setLocationOptions(_ wanted: LocationOptionsChange) -> EventLoopFuture<AgentSettings> {
        change(in: .setLocationOptions) { (settings) throws(SettingsError) in
            var patch = SettingsPatch()
            // 0 turns an option off.
            if let accuracy = wanted.desiredAccuracy { patch.desiredAccuracy = .set(accuracy == 0 ? nil : accuracy) }
            if let distance = wanted.distanceFilter { patch.distanceFilter = .set(distance == 0 ? nil : distance) }
            patch.activity = wanted.activity?.rawValue
            if let delay = wanted.parkingDelay { patch.parkingDelay = .set(delay == 0 ? nil : delay) }
            patch.parkingInterval = wanted.parkingInterval
            try settings.apply(patch)
        }
    }

    package func resetSettings() -> EventLoopFuture<AgentSettings> {
        let defaults = Agent.defaultSettings(configuration)
        remembered.settings = nil
        remember()
        adopt(defaults)
        return loop.makeSucceededFuture(settingsReport)
    }

    /// What is in force while nobody has set anything.
    static func defaultSettings(_ configuration: AgentConfiguration) -> Settings {
        var settings = Settings()
        settings.keepAlive = configuration.gnss.isKeptOpen
        // The configuration has checked its limit by the same rule.
        try? settings.setCacheLimit(configuration.cache.limit.map(Int64.init))
        var parking = SettingsPatch()
        parking.parkingDelay = .set(configuration.parking.delay.map(Int64.init))
        parking.parkingInterval = Int64(configuration.parking.interval)
        try? settings.apply(parking)
        return settings
    }

    private func change(
        in method: AgentMethod, _ make: (inout Settings) throws(SettingsError) -> Void
    ) -> EventLoopFuture<AgentSettings> {
        var changed = settingsInForce
        do {
            try make(&changed)
        } catch {
            return loop.makeFailedFuture(
                AgentControlError(.parameterError, in: method, reason: error.detail, parameter: error.code.rawValue))
        }
        remembered.settings = .init(changed)
        remember()
        adopt(changed)
        return loop.makeSucceededFuture(settingsReport)
    }

    func adopt(_ new: Settings) {
        let old = settingsInForce
        settingsInForce = new
        if new.keepAlive != old.keepAlive { perform(service.keepAliveChanged(new.keepAlive)) }
        if new.gatherInterval != old.gatherInterval { sampler.setInterval(new.gatherInterval) }
        if new.location != old.location { sampler.setOptions(new.location) }
        perform(uplink.intervalsChanged(gather: new.gatherInterval, pack: new.packInterval, now: now))
        if new.cacheLimit != old.cacheLimit {
            let limit = new.cacheLimit
            onDisk { $0.setLimit(bytes: limit) }
        }
    }

    // MARK: Cache

    package func cacheInfo(entities: [String]?) -> EventLoopFuture<CacheInfoReply> {
        let known = Dictionary(snapshot.entities.map { ($0.entity, $0) }, uniquingKeysWith: { $1 })
        let names = entities ?? Array(known.keys)
        let rows = Set(names).sorted().map { name in
            EntityCache(
                entity: name, points: Int64(clamping: known[name]?.count ?? 0), firstTime: known[name]?.firstTime,
                lastTime: known[name]?.lastTime)
        }
        return loop.makeSucceededFuture(CacheInfoReply(cache: cacheStatus, entities: rows))
    }

    package func clearCache(_ selection: CacheSelection) -> EventLoopFuture<ClearCacheReply> {
        let promise = loop.makePromise(of: ClearCacheReply.self)
        let now = now
        let accepted = onDisk { cache -> Result<ClearedCount, TrackCacheError> in
            Result { () throws(TrackCacheError) in
                try cache.clear(
                    entities: selection.entities, from: selection.from, through: selection.through, now: now)
            }
        } then: { [self] result in
            switch result {
            case .success(let cleared):
                log.notice("Cache cleared by request", metadata: ["points": "\(cleared.records)"])
                onEvent(.cache(cacheStatus))
                promise.succeed(ClearCacheReply(removed: Int64(clamping: cleared.records)))
            case .failure(let error): promise.fail(.parameterError, .clearCache, error.detail)
            }
        }
        if !accepted { promise.fail(.internalError, .clearCache, "the disk does not answer: nothing was cleared") }
        return promise.futureResult
    }
}

extension StopServiceReply {
    /// `before`: how many were acknowledged when the stop began.
    fileprivate init(_ ring: CacheSnapshot, entity: String, before: UInt64) {
        let remaining = ring.entities.first { $0.entity == entity }?.count ?? 0
        self.init(
            uploaded: Int64(clamping: ring.counters.acknowledged - before), remaining: Int64(clamping: remaining))
    }
}

extension EventLoopPromise {
    fileprivate func fail(
        _ code: AgentControlError.Code, _ method: AgentMethod, _ reason: String, _ parameter: String? = nil
    ) {
        fail(AgentControlError(code, in: method, reason: reason, parameter: parameter))
    }
}
