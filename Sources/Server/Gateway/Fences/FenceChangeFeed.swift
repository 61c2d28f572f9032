import Logging
import TrackStore

/// Tells sessions that fences which concern their entities may have changed. This process and others change fences, so
/// it asks the store.
final class FenceChangeFeed: Sendable {
    private let store: any TrackStore
    private let registry: SessionRegistry
    private let sleep: @Sendable (Duration) async -> Void
    private let logger: Logger

    private static let noticesAtOnce = 100

    init(
        store: any TrackStore, registry: SessionRegistry, sleep: @escaping @Sendable (Duration) async -> Void,
        logger: Logger
    ) {
        self.store = store
        self.registry = registry
        self.sleep = sleep
        self.logger = logger
    }

    /// Works until its task is cancelled.
    func run() async {
        var cursor: FenceChangeCursor?
        let polling = ChangePolling(
            subject: "changed fences", interval: PushDispatcher.interval, sleep: sleep, logger: logger)
        await polling.run { () async throws(TrackStoreError) in
            let (through, notices) = try await store.fenceNotices(after: cursor, limit: Self.noticesAtOnce)
            cursor = through
            guard let notices else {
                for link in registry.links { link.perform { $0.fencesMayHaveChanged() } }
                return false
            }
            for change in notices { tell(change) }
            return notices.count == Self.noticesAtOnce
        }
    }

    private func tell(_ notice: FenceChangeNotice) {
        guard !notice.concernsEveryone, let entities = notice.entities else {
            for link in registry.links(of: notice.service) { link.perform { $0.fencesMayHaveChanged() } }
            return
        }
        for entity in entities {
            for link in registry.links(of: entity, in: notice.service) { link.perform { $0.fencesMayHaveChanged() } }
        }
    }
}
