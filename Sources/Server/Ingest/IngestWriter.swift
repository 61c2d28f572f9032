package import Logging
import Synchronization
import Systemd
import TrackModel
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
    /// Says whether points may be taken at all. Ask it before points are judged by their times.
    package let clock: ClockGuard
    private let counters = IngestCounters()
    let requestNumbers = Atomic<UInt64>(0)
    private let state: Mutex<State>
    private let work: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    package init(
        store: any TrackStore, limits: IngestLimits = IngestLimits(), logger: Logger,
        tasks: ServerTasks = ServerTasks(), clock: ClockRule = ClockRule()
    ) {
        self.store = store
        self.limits = limits
        self.tasks = tasks
        self.logger = logger
        self.clock = ClockGuard(clock, logger: logger)
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
        let owners = state.withLock { $0.queue.add(job) }
        wake.yield()
        for owner in owners { owner.spaceIsFree() }
    }

    /// Takes jobs of a request whose memory is reserved. False, and the memory is given back, once the writer is
    /// finished: nobody would ever settle them.
    func submit(_ jobs: [IngestJob]) -> Bool {
        let owners: [any IngestOwner]? = state.withLock { state in
            state.isFinished ? nil : jobs.flatMap { state.queue.add($0) }
        }
        guard let owners else {
            cancel(jobs.reduce(0) { $0 + $1.cost })
            return false
        }
        wake.yield()
        for owner in owners { owner.spaceIsFree() }
        return true
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

    /// Stores what it can; batches that failed for a passing reason are tried again, the others of the group are not.
    private func ingest(_ group: [IngestJob]) async -> [IngestOutcome] {
        var outcomes = await commit(group.map(\.batch), mayRetry: !limits.retries.isEmpty)
        for (index, wait) in limits.retries.enumerated() {
            let failed = outcomes.indices.filter { outcomes[$0].isRetriable }
            guard !failed.isEmpty, !Task.isCancelled else { break }
            // A cancelled wait ends at once, and the next failure is the last.
            await tasks.sleep(wait)
            let again = await commit(failed.map { group[$0].batch }, mayRetry: index + 1 < limits.retries.count)
            for (place, outcome) in zip(failed, again) { outcomes[place] = outcome }
        }
        return outcomes
    }

    private func noteCommit() {
        let hasRecovered = state.withLock { state in
            defer { state.isStoreFailing = false }
            return state.isStoreFailing
        }
        guard hasRecovered else { return }
        logger.notice("the store works again", metadata: ["message_id": "\(MessageID.storeRecovered)"])
    }

    private func commit(_ batches: [IngestBatch], mayRetry: Bool) async -> [IngestOutcome] {
        let began = tasks.clock()
        let outcomes = await store.ingest(batches)
        let duration = tasks.clock() - began
        guard outcomes.count == batches.count else {
            logger.error("store answered with a wrong number of outcomes")
            return batches.map { _ in .failed(TrackStoreError(.failed, "a wrong number of outcomes")) }
        }
        let failures = outcomes.compactMap(\.storeFailure)
        if failures.count < outcomes.count { counters.committed(in: duration) }
        let stored = zip(batches, outcomes).filter { $0.1.isKept && $0.0.hint == nil }
        if let newest = stored.map(\.0.received).max() { clock.stored(at: newest) }
        if let failure = failures.first {
            counters.change { $0.failedCommits &+= 1 }
            state.withLock { $0.isStoreFailing = true }
            let willRetry = failure.isRetriable && mayRetry && !Task.isCancelled
            logger.error(
                "transaction failed",
                metadata: [
                    "reason": "\(failure.detail)", "batches": "\(failures.count)", "will_retry": "\(willRetry)",
                    "message_id": "\(MessageID.storeFailed)",
                ])
        } else {
            noteCommit()
        }
        for case (let batch, .rewound(let through)) in zip(batches, outcomes) {
            logger.critical(
                "the store has lost commits: it has less of a stream than it confirmed",
                metadata: [
                    "service": "\(batch.service.rawValue)", "entity": "\(batch.entity)", "stored_through": "\(through)",
                    "message_id": "\(MessageID.commitsLost)",
                ])
        }
        return outcomes
    }

    private func settle(_ group: [IngestJob], _ outcomes: [IngestOutcome]) {
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

    private func counted(_ outcome: IngestOutcome, of job: IngestJob) -> Result<UInt64, IngestFailure> {
        let result: Result<UInt64, IngestFailure> =
            switch outcome {
            case .stored(let through, _): .success(through)
            // No more than the batch itself has: acknowledgements ascend with the batches, whichever entities they are of.
            case .duplicate(let through, _): .success(min(through, job.batch.position?.last ?? through))
            case .replaced: .failure(.replaced)
            case .rewound: .failure(.rewound)
            // Another writer of the entity was faster.
            case .stale: .failure(.busy)
            case .failed(let error): .failure(IngestFailure(error))
            }
        counters.change { counts in
            switch outcome {
            case .stored where job.isHint: counts.hints &+= 1
            case _ where job.isHint: break
            case .stored:
                counts.storedBatches &+= 1
                counts.storedPoints &+= UInt64(job.batch.points.count)
            case .duplicate: counts.duplicateBatches &+= 1
            case .replaced: counts.replacedBatches &+= 1
            case .stale: counts.staleBatches &+= 1
            case .rewound: counts.rewoundBatches &+= 1
            case .failed: counts.failedBatches &+= 1
            }
        }
        return result
    }
}

extension IngestOutcome {
    fileprivate var isRetriable: Bool {
        if case .failed(let error) = self { error.isRetriable } else { false }
    }

    /// A failure of the store, not of the batch; what waits for an earlier batch fails with that one.
    fileprivate var storeFailure: TrackStoreError? {
        guard case .failed(let error) = self else { return nil }
        switch error.code {
        case .unknownService, .unknownEntity, .outOfTurn: return nil
        default: return error
        }
    }
}

extension IngestFailure {
    package init(_ error: TrackStoreError) {
        self = error.code == .unknownService ? .unknownService : error.isRetriable ? .busy : .failed
    }
}
