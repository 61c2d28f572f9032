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
        var isFailing = false
        while !Task.isCancelled {
            do throws(TrackStoreError) {
                let (through, news) = try await store.fenceNews(after: mark, limit: Self.newsAtOnce)
                mark = through
                isFailing = false
                if let news {
                    for change in news { tell(change) }
                    if news.count == Self.newsAtOnce { continue }
                } else {
                    for link in registry.links { link.perform { $0.fencesMayHaveChanged() } }
                }
            } catch {
                // The end of the server cuts a reading short.
                guard !Task.isCancelled else { return }
                if !isFailing {
                    logger.error(
                        "The store cannot tell of changed fences", metadata: ["reason": "\(error.detail)"])
                }
                isFailing = true
            }
            await sleep(PushDesk.interval)
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
