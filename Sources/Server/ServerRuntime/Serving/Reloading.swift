import ConfigurationFile
import Gateway
package import Logging
import ServiceLifecycle
import Synchronization
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

/// The certificates of both listeners: read again when told to, and by themselves when their files have changed.
final class ServedCertificates: Sendable {
    private struct State {
        /// As the files were when they were last read, or refused.
        var known: FileStamps
        /// As the last look found them.
        var seen: FileStamps
    }

    private let files: [String]
    private let reloadAll: @Sendable () throws -> Void
    private let logger: Logger
    private let state: Mutex<State>

    /// `reloadAll` reads the files again and throws, changing nothing that is in use, when they cannot be used.
    init(files: [String], logger: Logger, reloadAll: @escaping @Sendable () throws -> Void) {
        self.files = files
        self.logger = logger
        self.reloadAll = reloadAll
        let now = FileStamps(of: files)
        state = Mutex(State(known: now, seen: now))
    }

    /// Reads them now.
    func reload() {
        let found = FileStamps(of: files)
        state.withLock { $0 = State(known: found, seen: found) }
        do {
            try reloadAll()
            logger.notice("Certificates were read anew", metadata: ["message_id": "\(MessageID.certificateReloaded)"])
        } catch {
            logger.error(
                "the certificates are refused; the old ones stay in use",
                metadata: ["reason": "\(error)", "message_id": "\(MessageID.certificateRefused)"])
        }
    }

    /// Reads them when they have changed and rested since the last look: a certificate and its key are two files, and
    /// whoever replaces them needs a moment for both.
    func look() {
        let found = FileStamps(of: files)
        let isRested = state.withLock { state in
            defer { state.seen = found }
            return found != state.known && found == state.seen
        }
        if isRested { reload() }
    }
}

/// How some files were found: two that differ mean that there is something to read again.
struct FileStamps: Hashable, Sendable {
    private let stamps: [FileStatus?]

    init(of files: [String]) {
        stamps = files.map { FileStatus(of: $0) }
    }
}

/// Looks every few seconds.
struct CertificateFollowing: Service {
    private static let interval = Duration.seconds(2)

    let certificates: ServedCertificates

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try await Task.sleep(for: Self.interval)
                certificates.look()
            }
        }
    }
}

/// The least severity of the whole process, which a reload may change.
package final class LogThreshold: Sendable {
    private let level: Mutex<Logger.Level>

    package init(_ level: Logger.Level) {
        self.level = Mutex(level)
    }

    package var current: Logger.Level {
        get { level.withLock { $0 } }
        set { level.withLock { $0 = newValue } }
    }
}

/// Any log handler, with its level taken from one place: loggers that were made long ago follow a change.
package struct AdjustableLogHandler: LogHandler {
    private var inner: any LogHandler
    private let threshold: LogThreshold

    /// The inner handler must let everything through.
    package init(_ inner: any LogHandler, threshold: LogThreshold) {
        self.inner = inner
        self.inner.logLevel = .trace
        self.threshold = threshold
    }

    /// Setting it can only make one logger quieter than the process: that is what its holder wants.
    package var logLevel: Logger.Level {
        get { max(own ?? .trace, threshold.current) }
        set { own = newValue }
    }
    private var own: Logger.Level?

    package var metadata: Logger.Metadata {
        get { inner.metadata }
        set { inner.metadata = newValue }
    }

    package var metadataProvider: Logger.MetadataProvider? {
        get { inner.metadataProvider }
        set { inner.metadataProvider = newValue }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { inner[metadataKey: key] }
        set { inner[metadataKey: key] = newValue }
    }

    package func log(event: LogEvent) {
        inner.log(event: event)
    }
}
