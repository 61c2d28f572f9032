internal import AgentLogic
internal import Logging
package import NIOCore
internal import Systemd
internal import TrackModel

// Reload of the configuration, and the end of the agent.
extension Agent {
    /// Puts into force what a running agent can change of a new configuration. Completes with the keys that need a restart.
    /// If the server or the login changed, the agent connects again; otherwise the connection goes on. Fails when the agent
    /// cannot use the new configuration; then nothing has changed.
    func reload(_ new: AgentConfiguration) -> EventLoopFuture<[String]> {
        link.reload(new.server).assumeIsolated().map { [self] warnings in
            for warning in warnings {
                context.log.warning(
                    "A file with a secret is open to others",
                    metadata: .event(.credentialWarning, ["warning": "\(warning)"]))
            }
            return adopt(new)
        }.nonisolated()
    }

    private func adopt(_ new: AgentConfiguration) -> [String] {
        let old = configuration
        context.log.logLevel = Logger.Level(new.logLevel)
        configuration.logLevel = new.logLevel
        configuration.server = new.server
        configuration.service.accessKey = new.service.accessKey
        configuration.service.applicationCode = new.service.applicationCode
        configuration.service.secretTrouble = new.service.secretTrouble
        configuration.service.id = new.service.id
        configuration.service.isStartedAtFirstBoot = new.service.isStartedAtFirstBoot
        configuration.gnss = new.gnss
        configuration.cache.limit = new.cache.limit
        configuration.cache.syncInterval = new.cache.syncInterval
        if new.service.id != old.service.id {
            attributeShell.forgetColumns()
            fenceShell.serviceChanged(to: new.service.id.rawValue)
            serverFences.runs(as: service.entity, service: new.service.id.rawValue)
        }
        settingsShell.keepAliveReloaded(new.gnss.isKeptOpen)
        gathering.reconfigure(new.gnss)
        if new.cache.limit != old.cache.limit { settingsShell.cacheLimitReloaded(new.cache.limit) }
        if new.cache.syncInterval != old.cache.syncInterval {
            cache.setSyncInterval(milliseconds: Int64(new.cache.syncInterval * 1000))
        }
        link.reconfigure(new.server, Login(new.service, boot: boot))
        return Self.keysThatWait(new, old)
    }

    /// The changed keys that need a restart, because the agent reads them only at its start.
    private static func keysThatWait(_ new: AgentConfiguration, _ old: AgentConfiguration) -> [String] {
        var keys: [String] = []
        if new.service.sendsLiveHint != old.service.sendsLiveHint { keys.append("service.live_hint") }
        if new.service.enrollment != old.service.enrollment { keys.append("service.enrollment") }
        if new.parking != old.parking { keys.append("parking") }
        if new.alarmJournalLimit != old.alarmJournalLimit { keys.append("alarms.journal_limit") }
        if new.hooks != old.hooks { keys.append("hooks") }
        if new.metrics != old.metrics { keys.append("metrics") }
        if new.cache.directory != old.cache.directory { keys.append("cache.directory") }
        if new.control.socket != old.control.socket { keys.append("control.socket") }
        if new.control.group != old.control.group { keys.append("control.group") }
        if new.stateDirectory != old.stateDirectory { keys.append("state.directory") }
        if new.service.entity != old.service.entity {
            // The last command has priority over the configuration, after a restart too.
            keys.append("service.entity (saker service stop; saker service start --entity \(new.service.entity))")
        }
        return keys
    }

    /// Ends everything in the reverse order of the start. The remembered state stays, so the next start continues.
    package func shutDown() -> EventLoopFuture<Void> {
        onChange = { _ in }
        hooks.beginShutDown()
        timers.cancelAll()
        // From here on what the vehicle does not do any more is nobody's command.
        link.stopTellingHealth()
        link.stopWatchingCertificates()
        gathering.shutDown()
        fenceShell.shutDown()
        serverFences.shutDown()
        earlyAlarms.shutDown()
        attributeShell.shutDown()
        link.shutDown()
        requests.shutDown()
        alarmShell.shutDown()
        service.shutDown()
        cache.shutDown()
        memory.shutDown()
        return hooks.shutDown().and(cache.close()).map { _ in }
    }
}
