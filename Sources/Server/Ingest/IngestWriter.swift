package import Logging
import Synchronization
import Systemd
package import TrackStore

/// The one way of points into the store: puts all batches that wait into one transaction, and tells their owners after
/// its commit.
///
/// The gateway's sessions and the Web API's requests submit to the same writer, so what hangs on a point hangs on every
/// point. Knows no channel, no TLS and no HTTP.
package final class IngestWriter: Sendable {
    private struct State {
        var queue: IngestQueue
        /// Whoever waits until all jobs up to a number are settled.
        var waiters: [(through: UInt64, wake: AsyncStream<Void>.Continuation)] = []
        var isFinished = false
        /// Whether the last transaction failed.
        var isStoreFailing = false

        mutating func takeDueWaiters() -> [AsyncStream<Void>.Continuation] {
            let settled = queue.settledThrough
            guard waiters.contains(where: { $0.through <= settled }) else { return [] }
            defer { waiters.removeAll { $0.through <= settled } }
            return waiters.filter { $0.through <= settled }.map(\.wake)
        }
    }

    private let store: any TrackStore
    let limits: IngestLimits
    let tasks: ServerTasks
    private let logger: Logger
    private let counters = IngestCounters()
    let requestNumbers = Atomic<UInt64>(0)
    private let state: Mutex<State>
    private let work: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    package init(
        store: any TrackStore, limits: IngestLimits = IngestLimits(), logger: Logger, tasks: ServerTasks = ServerTasks()
    ) {
        self.store = store
        self.limits = limits
        self.tasks = tasks
        self.logger = logger
        state = Mutex(State(queue: IngestQueue(capacity: limits.waitingBytes)))
        // One waiting wake-up is as good as many: whoever wakes takes all there is.
        (work, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    package var counts: IngestCounts { counters.counts }

    /// Memory of the batches that wait for their transaction, bytes.
    package var waitingBytes: Int { state.withLock { $0.queue.reserved } }

    // MARK: Submitting

    /// True when the memory is now the caller's, to be given to ``submit(_:)`` or ``cancel(_:)``. Otherwise the owner
    /// hears `spaceIsFree` when it may ask again.
    package func reserve(_ cost: Int, for owner: any IngestOwner) -> Bool {
        state.withLock { $0.queue.reserve(cost, for: owner) }
    }

    /// Gives a reservation back.
    package func cancel(_ cost: Int) {
        let owners = state.withLock { $0.queue.cancel(cost) }
        for owner in owners { owner.spaceIsFree() }
    }

    /// Takes a job whose memory is reserved. Its owner hears of its end, unless an earlier job of its session fails.
    package func submit(_ job: IngestJob) {
        state.withLock { $0.queue.add(job) }
        wake.yield()
    }

    /// Takes jobs of a request whose memory is reserved. False, and the memory is given back, once the writer is
    /// finished: nobody would ever settle them.
    func submit(_ jobs: [IngestJob]) -> Bool {
        let isTaken = state.withLock { state in
            if !state.isFinished { for job in jobs { state.queue.add(job) } }
            return !state.isFinished
        }
        if isTaken { wake.yield() } else { cancel(jobs.reduce(0) { $0 + $1.cost }) }
        return isTaken
    }

    /// The source submits nothing more. What it has submitted is stored all the same.
    package func forget(_ source: IngestSource) {
        state.withLock { $0.queue.forget(source) }
    }

    /// Returns when everything that was submitted before is settled, or when the task is cancelled.
    package func settled() async {
        let (settled, wake) = AsyncStream<Void>.makeStream()
        state.withLock { state in
            let last = state.queue.added
            if state.queue.settledThrough >= last { wake.finish() } else { state.waiters.append((last, wake)) }
        }
        for await _ in settled {}
    }

    // MARK: Life

    /// Stores what is submitted until ``finish()`` and then what is left; after a cancellation it stores nothing more.
    package func run() async {
        for await _ in work { await storeAll() }
        await storeAll()
        abandonRequests()
    }

    /// Ends ``run()`` once all that was submitted before is settled. Requests are refused from now on.
    package func finish() {
        state.withLock { $0.isFinished = true }
        wake.finish()
    }

    /// Requests wait for an answer, and none of what they submitted will be stored any more.
    private func abandonRequests() {
        let jobs = state.withLock { state in
            state.isFinished = true
            return state.queue.abandonRequests()
        }
        for job in jobs { job.owner.settle([SettledJob(ticket: job.ticket, result: .failure(.busy))]) }
    }

    // MARK: Storing

    private func storeAll() async {
        while !Task.isCancelled,
            let group = state.withLock({
                $0.queue.takeGroup(batches: limits.groupBatches, bytes: limits.groupBytes)
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
                let duration = tasks.clock() - began
                counters.committed(in: duration)
                noteCommit()
                guard outcomes.count == group.count else {
                    logger.error("store answered with a wrong number of outcomes")
                    return Array(repeating: .failure(.failed), count: group.count)
                }
                return outcomes.map { .success($0) }
            } catch {
                counters.change { $0.failedCommits &+= 1 }
                state.withLock { $0.isStoreFailing = true }
                let willRetry = error.isRetriable && tries < limits.retries.count && !Task.isCancelled
                logger.error(
                    "transaction failed",
                    metadata: [
                        "reason": "\(error.detail)", "batches": "\(group.count)", "will_retry": "\(willRetry)",
                        "message_id": "\(MessageID.storeFailed)",
                    ])
                guard willRetry else {
                    return Array(repeating: .failure(IngestFailure(error)), count: group.count)
                }
                // A cancelled wait ends at once, and the next failure is the last.
                await tasks.sleep(limits.retries[tries])
                tries += 1
            }
        }
    }

    private func noteCommit() {
        let hasRecovered = state.withLock { state in
            defer { state.isStoreFailing = false }
            return state.isStoreFailing
        }
        guard hasRecovered else { return }
        logger.notice("the store works again", metadata: ["message_id": "\(MessageID.storeRecovered)"])
    }

    private func settle(_ group: [IngestJob], _ outcomes: [Result<IngestOutcome, IngestFailure>]) {
        var byOwner: [IngestSource: (owner: any IngestOwner, jobs: [SettledJob])] = [:]
        var failed: Set<IngestSource> = []
        for (job, outcome) in zip(group, outcomes) {
            let result = counted(outcome, of: job)
            if case .failure = result, case .session = job.owner.source, !job.isHint {
                failed.insert(job.owner.source)
            }
            byOwner[job.owner.source, default: (job.owner, [])].jobs.append(
                SettledJob(ticket: job.ticket, result: result))
        }
        // Before anyone hears of a failure: a job that arrives meanwhile must find the session broken.
        let (owners, waiters) = state.withLock { ($0.queue.settle(group, failed: failed), $0.takeDueWaiters()) }
        for (owner, jobs) in byOwner.values { owner.settle(jobs) }
        for owner in owners { owner.spaceIsFree() }
        for waiter in waiters { waiter.finish() }
    }

    /// An outcome that says failed is a failure like any other.
    private func counted(
        _ outcome: Result<IngestOutcome, IngestFailure>, of job: IngestJob
    ) -> Result<UInt64, IngestFailure> {
        let result: Result<UInt64, IngestFailure> =
            switch outcome {
            case .success(.stored(let through)), .success(.duplicate(let through)): .success(through)
            case .success(.failed(let error)): .failure(IngestFailure(error))
            case .failure(let failure): .failure(failure)
            }
        counters.change { counts in
            switch outcome {
            case .success(.stored) where job.isHint: counts.hints &+= 1
            case _ where job.isHint: break
            case .success(.stored):
                counts.storedBatches &+= 1
                counts.storedPoints &+= UInt64(job.batch.points.count)
            case .success(.duplicate): counts.duplicateBatches &+= 1
            case .success(.failed), .failure: counts.failedBatches &+= 1
            }
        }
        return result
    }
}

extension IngestFailure {
    init(_ error: TrackStoreError) {
        self = error.code == .unknownService ? .unknownService : error.isRetriable ? .busy : .failed
    }
}
