import Ingest
import ServiceLifecycle

/// The writer of points as a service: starts before whoever submits to it, and ends after them.
struct Storing: Service {
    /// Whoever submits has waited for its own batches before this service is told to end: what is left belongs to a store
    /// that hangs.
    private static let patience = Duration.seconds(2)

    let ingest: IngestWriter

    func run() async throws {
        let (ended, end) = AsyncStream<Void>.makeStream()
        let ingest = ingest
        // Not a child task: a store that hangs must not keep the process from ending.
        let work = Task {
            await ingest.run()
            end.finish()
        }
        try? await gracefulShutdown()
        ingest.finish()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in ended {} }
            group.addTask { try? await Task.sleep(for: Self.patience) }
            await group.next()
            group.cancelAll()
        }
        work.cancel()
    }
}
