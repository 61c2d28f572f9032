internal import AgentLogic
internal import Logging
package import NIOCore
internal import Systemd

// Reloading and stopping.
extension Agent {
    /// Puts a new configuration into force as far as that is possible while running; returns the tables that need a
    /// restart. Throws when the new one cannot be used: then nothing has changed.
    func reload(_ new: AgentConfiguration) throws -> [String] {
        for warning in try surroundings.connector.reload(new.server) {
            log.warning("Credential warning", metadata: .event(.credentialWarning, ["warning": "\(warning)"]))
        }
        let old = configuration
        log.logLevel = Logger.Level(new.logLevel)
        configuration.server = new.server
        configuration.service.accessKey = new.service.accessKey
        configuration.service.applicationCode = new.service.applicationCode
        configuration.service.id = new.service.id
        if new.service.id != old.service.id { board.forgetColumns() }
        configuration.logLevel = new.logLevel
        // Certificates may have changed in place, so even an unchanged configuration is a reason to log in again.
        perform(uplink.configurationChanged(now: now))
        var needsRestart: [String] = []
        if new.gnss != old.gnss { needsRestart.append("gnss") }
        if new.cache != old.cache { needsRestart.append("cache") }
        if new.control != old.control { needsRestart.append("control") }
        if new.metrics != old.metrics { needsRestart.append("metrics") }
        if new.stateDirectory != old.stateDirectory { needsRestart.append("state") }
        if new.service.entity != old.service.entity {
            needsRestart.append("service.entity (or: saker service stop, start)")
        }
        return needsRestart
    }

    /// Ends everything in the reverse order of its start. What was told last stays remembered: the next start goes on.
    package func shutDown() -> EventLoopFuture<Void> {
        onEvent = { _ in }
        closeFeed()
        samplingEntity = nil
        perform(collector.flush())
        dismissProviders()
        perform(uplink.stop(drainThrough: 0, deadline: now, now: now))
        for timer in timers.values { timer.cancel() }
        timers = [:]
        return surroundings.disk.shutDown(on: loop, now: now)
    }
}
