import Logging
import Synchronization
import TrackStore

/// The one writer: puts all batches that wait into one transaction, and tells their senders after its commit.
final class IngestWriter: Sendable {
    private let store: any TrackStore
    private let limits: GatewayLimits
    private let retries: [Duration]
    private let tasks: GatewayTasks
    private let logger: Logger
    private let counters: GatewayCounters
    private let queue: Mutex<IngestQueue>
    private let work: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    init(
        store: any TrackStore, limits: GatewayLimits, retries: [Duration], tasks: GatewayTasks, logger: Logger,
        counters: GatewayCounters
    ) {
        self.store = store
        self.limits = limits
        self.retries = retries
        self.tasks = tasks
        self.logger = logger
        self.counters = counters
        queue = Mutex(IngestQueue(capacity: limits.waitingBytes))
        // One waiting wake-up is as good as many: whoever wakes takes all there is.
        (work, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func reserve(_ cost: Int, for owner: any IngestOwner) -> Bool {
        queue.withLock { $0.reserve(cost, for: owner) }
    }

    func cancel(_ cost: Int) {
        let owners = queue.withLock { $0.cancel(cost) }
        for owner in owners { owner.spaceIsFree() }
    }

    func submit(_ job: IngestJob) {
        queue.withLock { $0.add(job) }
        wake.yield()
    }

    /// Memory of what waits to be stored, bytes.
    var waitingBytes: Int { queue.withLock { $0.reserved } }

    func forget(_ owner: UInt64) {
        queue.withLock { $0.forget(owner) }
    }

    /// Stores until ``finish()`` and then what is left; after a cancellation it stores nothing more.
    func run() async {
        for await _ in work { await storeAll() }
        await storeAll()
    }

    /// Ends ``run()`` once all that was submitted before is settled.
    func finish() { wake.finish() }

    private func storeAll() async {
        while !Task.isCancelled,
            let group = queue.withLock({
                $0.takeGroup(batches: limits.groupBatches, bytes: limits.groupBytes)
            })
        {
            settle(group, await ingest(group))
        }
    }

    private func ingest(_ group: [IngestJob]) async -> [Result<IngestOutcome, IngestFailure>] {
        let batches = group.map(\.batch)
        var tries = 0
        while true {
            do throws(TrackStoreError) {
                let began = tasks.clock()
                let outcomes = try await store.ingest(batches)
                counters.committed(in: tasks.clock() - began)
                guard outcomes.count == group.count else {
                    logger.error("store answered with a wrong number of outcomes")
                    return Array(repeating: .failure(.failed), count: group.count)
                }
                return outcomes.map { .success($0) }
            } catch {
                counters.add(to: \.failedCommits)
                let willRetry = error.isRetriable && tries < retries.count && !Task.isCancelled
                logger.error(
                    "transaction failed",
                    metadata: [
                        "reason": "\(error.detail)", "batches": "\(group.count)", "will_retry": "\(willRetry)",
                    ])
                guard willRetry else {
                    return Array(repeating: .failure(error.isRetriable ? .busy : .failed), count: group.count)
                }
                // A cancelled wait ends at once, and the next failure is the last.
                await tasks.sleep(retries[tries])
                tries += 1
            }
        }
    }

    private func settle(_ group: [IngestJob], _ results: [Result<IngestOutcome, IngestFailure>]) {
        var byOwner: [UInt64: (owner: any IngestOwner, jobs: [SettledJob])] = [:]
        var failed: Set<UInt64> = []
        for (job, result) in zip(group, results) {
            let result = Self.flattened(result)
            if job.ticket == .hint {
                if case .success = result { counters.add(to: \.hints) }
            } else {
                if case .failure = result { failed.insert(job.owner.number) }
                counters.count(result, points: job.batch.points.count)
            }
            let settled = SettledJob(ticket: job.ticket, payloadBytes: job.payloadBytes, result: result)
            byOwner[job.owner.number, default: (job.owner, [])].jobs.append(settled)
        }
        // Before anyone hears of a failure: a job that arrives meanwhile must find the session broken.
        let owners = queue.withLock { $0.settle(group, failed: failed) }
        for (owner, jobs) in byOwner.values { owner.settle(jobs) }
        for owner in owners { owner.spaceIsFree() }
    }

    /// An outcome that says failed is a failure like any other.
    private static func flattened(
        _ result: Result<IngestOutcome, IngestFailure>
    ) -> Result<IngestOutcome, IngestFailure> {
        guard case .success(.failed(let error)) = result else { return result }
        if error.code == .unknownService { return .failure(.unknownService) }
        return .failure(error.isRetriable ? .busy : .failed)
    }
}
