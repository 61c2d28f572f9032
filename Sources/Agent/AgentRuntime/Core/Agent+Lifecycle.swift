internal import AgentLogic
internal import Logging
package import NIOCore
internal import Systemd
internal import TrackCache

// Reloading and stopping.
extension Agent {
    /// Puts a new configuration into force as far as that is possible while running; completes with the keys that need a
    /// restart. The connection is made anew when the server or the login is another, and else goes on. Fails when the new
    /// configuration cannot be used: then nothing has changed.
    func reload(_ new: AgentConfiguration) -> EventLoopFuture<[String]> {
        surroundings.connector.reload(new.server, on: loop).assumeIsolated().map { [self] warnings in
            for warning in warnings {
                log.warning("Credential warning", metadata: .event(.credentialWarning, ["warning": "\(warning)"]))
            }
            return adopt(new)
        }.nonisolated()
    }

    private func adopt(_ new: AgentConfiguration) -> [String] {
        let old = configuration
        log.logLevel = Logger.Level(new.logLevel)
        configuration.logLevel = new.logLevel
        configuration.server = new.server
        configuration.service.accessKey = new.service.accessKey
        configuration.service.applicationCode = new.service.applicationCode
        configuration.service.id = new.service.id
        configuration.service.isStartedAtFirstBoot = new.service.isStartedAtFirstBoot
        configuration.gnss = new.gnss
        configuration.cache.limit = new.cache.limit
        configuration.cache.syncInterval = new.cache.syncInterval
        if new.service.id != old.service.id { board.forgetColumns() }
        adoptGNSS(new.gnss, old.gnss)
        adoptCache(new.cache, old.cache)
        let isOtherLogin =
            new.server != old.server || new.service.id != old.service.id
            || new.service.accessKey != old.service.accessKey
            || new.service.applicationCode != old.service.applicationCode
        perform(isOtherLogin ? uplink.configurationChanged(now: now) : uplink.trustChanged(now: now))
        return Self.keysThatWait(new, old)
    }

    private func adoptGNSS(_ new: AgentConfiguration.GNSS, _ old: AgentConfiguration.GNSS) {
        var settings = settingsInForce
        settings.keepAlive = new.isKeptOpen
        adopt(settings)
        guard (new.host, new.port, new.device ?? "") != (old.host, old.port, old.device ?? "") else { return }
        feedStatus = FeedWatch(source: "\(new.host):\(new.port)", since: systemTime)
        guard feed != nil else { return }
        closeFeed()
        openFeed()
    }

    private func adoptCache(_ new: AgentConfiguration.Cache, _ old: AgentConfiguration.Cache) {
        // A limit that a person has set goes before the configuration's.
        if new.limit != old.limit, remembered.settings == nil {
            var settings = settingsInForce
            try? settings.setCacheLimit(new.limit.map(Int64.init))
            adopt(settings)
        }
        guard new.syncInterval != old.syncInterval else { return }
        let (milliseconds, now) = (Int64(new.syncInterval * 1000), now)
        onDisk { $0.setSyncInterval(milliseconds: milliseconds, now: now) }
    }

    /// What was opened once and stays open.
    private static func keysThatWait(_ new: AgentConfiguration, _ old: AgentConfiguration) -> [String] {
        var keys: [String] = []
        if new.service.tellsNewest != old.service.tellsNewest { keys.append("service.live_hint") }
        if new.parking != old.parking { keys.append("parking") }
        if new.hooks != old.hooks { keys.append("hooks") }
        if new.metrics != old.metrics { keys.append("metrics") }
        if new.cache.directory != old.cache.directory { keys.append("cache.directory") }
        if new.control.socket != old.control.socket { keys.append("control.socket") }
        if new.control.group != old.control.group { keys.append("control.group") }
        if new.stateDirectory != old.stateDirectory { keys.append("state.directory") }
        if new.service.entity != old.service.entity {
            // What was told last goes before the configuration, after a restart too.
            keys.append("service.entity (saker service stop; saker service start --entity \(new.service.entity))")
        }
        return keys
    }

    /// Ends everything in the reverse order of its start. What was told last stays remembered: the next start goes on.
    package func shutDown() -> EventLoopFuture<Void> {
        onChange = { _ in }
        isShutDown = true
        surroundings.connector.stopWatching()
        closeFeed()
        samplingEntity = nil
        perform(collector.flush())
        dismissProviders()
        perform(uplink.stop(drainThrough: 0, deadline: now, now: now))
        for timer in timers.values { timer.cancel() }
        timers = [:]
        let hooksEnd = surroundings.hooks?.shutDown(on: loop) ?? loop.makeSucceededVoidFuture()
        return hooksEnd.and(surroundings.disk.shutDown(on: loop, now: now)).map { _ in }
    }
}
