import ConfigurationFile
import Logging
import ServiceLifecycle
import Systemd
import UnixSignals

/// SIGHUP: reads certificates and the log level again; what else changed waits for a restart, and is said to.
struct Reloading: Service {
    let configuration: ServerConfiguration
    let certificates: ServedCertificates
    let threshold: LogThreshold
    let notifier: Notifier
    let logger: Logger

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown()
        for await _ in signals {
            notifier.reloading()
            reload()
            notifier.ready()
        }
    }

    private func reload() {
        do throws(ConfigurationError) {
            let new = try ServerConfiguration.load(path: configuration.effective.path)
            threshold.current = new.logLevel
            logger.notice(
                "The configuration was read anew",
                metadata: [
                    "waiting_for_restart": "\(changes(in: new))", "message_id": "\(MessageID.configurationReloaded)",
                ])
        } catch {
            logger.error(
                "The configuration is refused, and the old one stays in force",
                metadata: ["reason": "\(error.detail)", "message_id": "\(MessageID.configurationRefused)"])
        }
        certificates.reload()
    }

    /// Names of the keys that only a restart applies.
    private func changes(in new: ServerConfiguration) -> String {
        let old = Dictionary(
            configuration.effective.entries.map { ("\($0.table).\($0.key)", $0.value) },
            uniquingKeysWith: { first, _ in first })
        let changed = new.effective.entries.filter { entry in
            let name = "\(entry.table).\(entry.key)"
            return name != "log.level" && old[name] != entry.value
        }
        return changed.isEmpty ? "nothing" : changed.map { "\($0.table).\($0.key)" }.joined(separator: ", ")
    }
}
