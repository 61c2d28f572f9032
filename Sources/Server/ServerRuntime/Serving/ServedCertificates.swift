import ConfigurationFile
import Gateway
import Logging
import ServiceLifecycle
import Synchronization
import Systemd

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
