import Logging
import TrackStore

/// Tells sessions that fences which concern their entities may have changed. This process and others change fences, so the
/// desk asks the store.
final class FenceNewsDesk: Sendable {
    private let store: any TrackStore
    private let registry: SessionRegistry
    private let sleep: @Sendable (Duration) async -> Void
    private let logger: Logger

    private static let newsAtOnce = 100

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
        var mark: FenceMark?
        let polling = ChangePolling(
            subject: "changed fences", interval: PushDesk.interval, sleep: sleep, logger: logger)
        await polling.run { () async throws(TrackStoreError) in
            let (through, news) = try await store.fenceNews(after: mark, limit: Self.newsAtOnce)
            mark = through
            guard let news else {
                for link in registry.links { link.perform { $0.fencesMayHaveChanged() } }
                return false
            }
            for change in news { tell(change) }
            return news.count == Self.newsAtOnce
        }
    }

    private func tell(_ news: FenceNews) {
        guard !news.concernsEveryone, let entities = news.entities else {
            for link in registry.links(of: news.service) { link.perform { $0.fencesMayHaveChanged() } }
            return
        }
        for entity in entities {
            for link in registry.links(of: entity, in: news.service) { link.perform { $0.fencesMayHaveChanged() } }
        }
    }
}
