import Ingest
import Logging
import Testing
import TrackModel
import TrackStore
import TrackTestKit

/// A running writer over a store whose transactions wait at a gate, with one service.
final class Bench {
    let store: any TrackStore
    let gate: GateStore
    let writer: IngestWriter
    let writing: Task<Void, Never>
    private var arrivals: AsyncStream<Int>.AsyncIterator

    init(
        isOpen: Bool = true, failures: [TrackStoreError] = [], limits: IngestLimits = IngestLimits(),
        log: any LogHandler = SwiftLogNoOpLogHandler(),
        sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) async throws {
        let store = TestStore()
        let made = try await store.createService(named: "test", at: Timestamp(milliseconds: 1))
        try #require(made.id.rawValue == service)
        let gate = GateStore(store, isOpen: isOpen, failures: failures)
        let writer = IngestWriter(
            store: gate, limits: limits, logger: Logger(label: "test") { _ in log },
            tasks: ServerTasks(sleep: sleep))
        writing = Task { await writer.run() }
        arrivals = gate.arrivals.makeAsyncIterator()
        (self.store, self.gate, self.writer) = (store, gate, writer)
    }

    deinit { writer.finish() }

    /// The number of batches of the next transaction that reaches the store.
    func nextTransaction() async -> Int? {
        var iterator = arrivals
        defer { arrivals = iterator }
        return await iterator.next(isolation: #isolation)
    }

    func submit(_ batch: IngestBatch, of owner: TestOwner, ticket: UInt64) throws {
        let cost = IngestJob.cost(payloadBytes: 0, points: batch.points.count)
        try #require(writer.reserve(cost, for: owner))
        writer.submit(IngestJob(owner: owner, ticket: ticket, batch: batch, cost: cost))
    }
}
