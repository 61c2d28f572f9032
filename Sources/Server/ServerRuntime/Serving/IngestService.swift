import Ingest
import ServiceLifecycle

/// The writer of points as a service: starts before whoever submits to it, and ends after them.
struct IngestService: Service {
    /// Whoever submits has waited for its own batches before this service is told to end: what is left belongs to a store
    /// that hangs.
    private static let stopTimeout = Duration.seconds(2)
    /// How often the writer hears of changed fences at least.
    private static let interval = Duration.seconds(1)

    let ingest: IngestWriter

    func run() async throws {
        let (ended, end) = AsyncStream<Void>.makeStream()
        let ingest = ingest
        // Not a child task: a store that hangs must not keep the process from ending.
        let work = Task {
            await ingest.run()
            end.finish()
        }
        // When no points come, changes of fences must not pile up for the first batch.
        let following = Task {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.interval)
                ingest.followFences(at: SystemClock.now())
            }
        }
        try? await gracefulShutdown()
        following.cancel()
        ingest.finish()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in ended {} }
            group.addTask { try? await Task.sleep(for: Self.stopTimeout) }
            await group.next()
            group.cancelAll()
        }
        work.cancel()
    }
}
