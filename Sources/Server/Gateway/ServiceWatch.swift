import Logging
import TrackModel
import TrackStore

/// Ends the sessions of services that were deleted, whoever deleted them.
///
/// Services are deleted by another process (`saker-server service delete`), so the store is asked from time to time. Every
/// session is looked at each time, so a login that read the store before the deletion is found too.
final class ServiceWatch: Sendable {
    /// How often the store is asked: a session ends within a second after the deletion.
    static let interval = Duration.milliseconds(500)

    private let store: any ServiceDeletionStore
    private let registry: SessionRegistry
    private let sleep: @Sendable (Duration) async -> Void
    private let logger: Logger

    init(
        store: any ServiceDeletionStore, registry: SessionRegistry, sleep: @escaping @Sendable (Duration) async -> Void,
        logger: Logger
    ) {
        self.store = store
        self.registry = registry
        self.sleep = sleep
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
                if !isFailing {
                    logger.error("The store cannot tell of services", metadata: ["reason": "\(error.detail)"])
                }
                isFailing = true
            }
            await sleep(Self.interval)
        }
    }

    private func look() async throws(TrackStoreError) {
        let services = registry.services
        guard !services.isEmpty else { return }
        for service in try await store.deletedServices(among: services) {
            let links = registry.links(of: service)
            guard !links.isEmpty else { continue }
            logger.notice(
                "a service was deleted, and its sessions end",
                metadata: ["service": "\(service.rawValue)", "sessions": "\(links.count)"])
            for link in links { link.perform { $0.serviceEnded() } }
        }
    }
}
