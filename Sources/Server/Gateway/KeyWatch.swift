import Logging
import TrackModel
import TrackStore

/// Ends the sessions of access keys that do not open their service any more, whoever ended the keys.
///
/// Keys are changed by another process (`saker-server service rotate-key`), so the store is asked from time to time.
final class KeyWatch: Sendable {
    /// How often the store is asked.
    static let interval = Duration.seconds(2)

    private let store: any TrackStore
    private let registry: SessionRegistry
    private let sleep: @Sendable (Duration) async -> Void
    private let now: @Sendable () -> Timestamp
    private let logger: Logger

    init(
        store: any TrackStore, registry: SessionRegistry, sleep: @escaping @Sendable (Duration) async -> Void,
        now: @escaping @Sendable () -> Timestamp, logger: Logger
    ) {
        self.store = store
        self.registry = registry
        self.sleep = sleep
        self.now = now
        self.logger = logger
    }

    /// Works until it is cancelled.
    func run() async {
        var isFailing = false
        while !Task.isCancelled {
            do throws(TrackStoreError) {
                try await look()
                isFailing = false
            } catch {
                if !isFailing { logger.error("The store cannot tell of keys", metadata: ["reason": "\(error.detail)"]) }
                isFailing = true
            }
            await sleep(Self.interval)
        }
    }

    private func look() async throws(TrackStoreError) {
        let uses = registry.keys
        guard !uses.isEmpty else { return }
        for use in try await store.endedKeys(among: uses, at: now()) {
            let links = registry.links(using: use)
            guard !links.isEmpty else { continue }
            logger.notice(
                "an access key has ended, and its sessions end with it",
                metadata: ["service": "\(use.service.rawValue)", "sessions": "\(links.count)"])
            for link in links { link.perform { $0.keyEnded() } }
        }
    }
}
