import Ingest
import Logging
import Synchronization
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
        let store: any EngineStore = TestStore()
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

/// Keeps what it is told.
final class TestOwner: IngestOwner {
    let source: IngestSource
    let sender: IngestSender
    private let settledJobs = Mutex<[SettledJob]>([])
    private let told: AsyncStream<Void>
    private let tell: AsyncStream<Void>.Continuation

    /// Each is a vehicle of its own, unless told otherwise.
    init(_ source: IngestSource, sender: IngestSender? = nil) {
        self.source = source
        self.sender = sender ?? vehicle("\(source)")
        (told, tell) = AsyncStream.makeStream()
    }

    var settled: [SettledJob] { settledJobs.withLock { $0 } }

    func settle(_ jobs: [SettledJob]) {
        settledJobs.withLock { $0 += jobs }
        tell.yield()
    }

    func spaceIsFree() {}

    /// Returns when so many jobs are settled.
    func settled(_ count: Int) async -> [SettledJob] {
        var iterator = told.makeAsyncIterator()
        while settled.count < count, await iterator.next() != nil {}
        return settled
    }
}

let service = 1 as Int64

/// A batch of so many custom points.
func batch(of points: Int, service: Int64 = service, entity: String = "car") throws -> IngestBatch {
    let place = try #require(Coordinate(latitudeE7: 1, longitudeE7: 1))
    return IngestBatch(
        service: try #require(ServiceID(rawValue: service)), entity: entity, position: nil,
        points: (0..<points).map { index in
            TrackPoint(Fix(time: Timestamp(milliseconds: 1_790_000_000_000 + Int64(index)), coordinate: place))
        }, sequences: [], payload: nil, received: Timestamp(milliseconds: 1_800_000_000_000))
}

/// A sender of this name.
func vehicle(_ name: String) -> IngestSender {
    guard let service = ServiceID(rawValue: service) else { preconditionFailure("the service has a number") }
    return .vehicle(EntityKey(service: service, name: name))
}
