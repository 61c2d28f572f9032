package import FenceJudging
package import Logging
package import MetricsText
import Synchronization
import Systemd
import TrackModel
package import TrackStore

/// The only way for points into the store. The writer puts all batches that wait into one transaction, and reports the
/// results to the owners of the batches after the commit.
///
/// Sessions of the gateway and requests of the Web API submit to the same writer, so every point gets the same treatment.
/// Knows no channel, no TLS and no HTTP.
package final class IngestWriter: Sendable {
    struct State {
        var queue: IngestQueue
        /// The callers who wait until all jobs up to a number have ended.
        var waiters: [(through: UInt64, wake: AsyncStream<Void>.Continuation)] = []
        var isFinished = false
        /// Whether the last transaction failed.
        var isStoreFailing = false
        /// Since when the judge must read changed fences; nil: it need not.
        var wantsNotices: Timestamp?

        mutating func takeDueWaiters() -> [AsyncStream<Void>.Continuation] {
            guard !waiters.isEmpty else { return [] }
            let settled = queue.settledThrough
            guard waiters.contains(where: { $0.through <= settled }) else { return [] }
            defer { waiters.removeAll { $0.through <= settled } }
            return waiters.filter { $0.through <= settled }.map(\.wake)
        }
    }

    let store: any TrackStore
    let limits: IngestLimits
    let tasks: ServerTasks
    let logger: Logger
    /// Says whether the server may take points. Ask it before you check the times of points.
    package let clock: ClockGuard
    let counters = IngestCounters()
    let fenceJudge: IngestFenceJudge
    /// What the names of time zones stand for.
    package let zones: ZoneTable
    let requestNumbers = Atomic<UInt64>(0)
    let state: Mutex<State>
    private let work: AsyncStream<Void>
    let wake: AsyncStream<Void>.Continuation

    package init(
        store: any TrackStore, limits: IngestLimits = IngestLimits(), logger: Logger,
        tasks: ServerTasks = ServerTasks(), clock: ClockRule = ClockRule(), zones: @escaping ZoneTable = { _ in nil }
    ) {
        self.store = store
        self.zones = zones
        fenceJudge = IngestFenceJudge(
            store, zones: zones, logger: logger, executor: tasks.executor, output: limits.output)
        self.limits = limits
        self.tasks = tasks
        self.logger = logger
        self.clock = ClockGuard(clock, logger: logger)
        state = Mutex(State(queue: IngestQueue(capacity: limits.waitingBytes)))
        // One waiting wake-up is enough, because the writer then takes all jobs that wait.
        (work, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    package var counts: IngestCounts { counters.counts }

    /// Memory of the batches that wait for their transaction, bytes.
    package var waitingBytes: Int { state.withLock { $0.queue.reserved } }

    // MARK: Submitting

    /// Reserves memory for a job. True: the caller must pass the reservation to ``submit(_:)`` or ``cancel(_:)``. False:
    /// the writer calls `spaceIsFree` of the owner when the owner may ask again.
    package func reserve(_ cost: Int, for owner: any IngestOwner) -> Bool {
        state.withLock { $0.queue.reserve(cost, for: owner) }
    }

    /// Ends a reservation without a job.
    package func cancel(_ cost: Int, of sender: IngestSender) {
        let owners = state.withLock { $0.queue.cancel(cost, of: sender) }
        for owner in owners { owner.spaceIsFree() }
    }

    /// Takes a job with a reservation. Its owner gets the result, unless an earlier job of the same session fails.
    package func submit(_ job: IngestJob) {
        let owners = state.withLock { $0.queue.add(job) }
        wake.yield()
        for owner in owners { owner.spaceIsFree() }
    }

    /// Takes the jobs of a request with a reservation. False when the writer is finished and would never store the jobs;
    /// then the reservation has ended.
    func submit(_ jobs: [IngestJob]) -> Bool {
        let owners: [any IngestOwner]? = state.withLock { state in
            state.isFinished ? nil : jobs.flatMap { state.queue.add($0) }
        }
        guard let owners else {
            for job in jobs { cancel(job.cost, of: job.owner.sender) }
            return false
        }
        wake.yield()
        for owner in owners { owner.spaceIsFree() }
        return true
    }

    /// The source submits no more jobs. The jobs that it has submitted will still be stored.
    package func forget(_ source: IngestSource) {
        state.withLock { $0.queue.forget(source) }
    }

    /// Returns when all jobs that were submitted before this call have ended, or when the task is cancelled.
    package func settled() async {
        let (settled, wake) = AsyncStream<Void>.makeStream()
        state.withLock { state in
            let last = state.queue.added
            if state.queue.settledThrough >= last { wake.finish() } else { state.waiters.append((last, wake)) }
        }
        for await _ in settled {}
    }

    // MARK: Life

    /// Stores the submitted jobs until ``finish()``, and then the rest of them. After a cancellation it stores nothing.
    package func run() async {
        for await _ in work {
            await storeAll()
            await readChangedFences()
        }
        await storeAll()
        abandonRequests()
    }

    /// Ends ``run()`` when all jobs that were submitted before have ended. The writer refuses new requests from now on.
    package func finish() {
        state.withLock { $0.isFinished = true }
        wake.finish()
    }

    /// Answers the requests whose jobs the writer will not store any more.
    private func abandonRequests() {
        let jobs = state.withLock { state in
            state.isFinished = true
            return state.queue.abandonRequests()
        }
        for job in jobs { job.owner.settle([SettledJob(ticket: job.ticket, result: .failure(.busy))]) }
    }

    // MARK: Storing

    private func noteCommit() {
        let hasRecovered = state.withLock { state in
            defer { state.isStoreFailing = false }
            return state.isStoreFailing
        }
        guard hasRecovered else { return }
        logger.notice("the store works again", metadata: ["message_id": "\(MessageID.storeRecovered)"])
    }

    func store(_ batches: [IngestBatch], mayRetry: Bool) async -> [IngestOutcome] {
        let began = tasks.clock()
        let outcomes = await store.ingest(batches)
        let duration = tasks.clock() - began
        guard outcomes.count == batches.count else {
            logger.error("The store has answered with a wrong number of outcomes")
            return batches.map { _ in .failed(TrackStoreError(.failed, "a wrong number of outcomes")) }
        }
        if outcomes.contains(where: { $0.storeFailure == nil }) { counters.committed(in: duration) }
        return note(outcomes, of: batches, mayRetry: mayRetry)
    }

    /// Logs what an operator must know of a transaction.
    func note(
        _ outcomes: [IngestOutcome], of batches: [IngestBatch], mayRetry: Bool
    ) -> [IngestOutcome] {
        let failures = outcomes.compactMap(\.storeFailure)
        let stored = zip(batches, outcomes).filter { $0.1.isKept && $0.0.hint == nil }
        if let newest = stored.map(\.0.received).max() { clock.stored(at: newest) }
        if let failure = failures.first {
            counters.change { $0.failedCommits &+= 1 }
            state.withLock { $0.isStoreFailing = true }
            let willRetry = failure.isRetriable && mayRetry && !Task.isCancelled
            logger.error(
                "The store has not taken points",
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

    func settle(_ group: [IngestJob], _ results: [BatchResult]) {
        var byOwner: [IngestSource: (owner: any IngestOwner, jobs: [SettledJob])] = [:]
        var failed: Set<IngestSource> = []
        var rows: [IngestSender: (rows: Int, jobs: Int)] = [:]
        for (job, stored) in zip(group, results) {
            let result = counted(stored.outcome, of: job)
            if case .failure = result, case .session = job.owner.source, !job.isHint {
                failed.insert(job.owner.source)
            }
            byOwner[job.owner.source, default: (job.owner, [])].jobs.append(
                SettledJob(ticket: job.ticket, result: result, untold: stored.untold))
            if stored.rows > 0 {
                rows[job.owner.sender, default: (0, 0)].rows += stored.rows
                rows[job.owner.sender]?.jobs += 1
            }
        }
        // The queue must know the failed sessions before an owner hears of a failure: a later job may arrive at once.
        let (owners, waiters) = state.withLock { state in
            for (sender, work) in rows { state.queue.charge(sender, rows: work.rows, jobs: work.jobs) }
            return (state.queue.settle(group, failed: failed), state.takeDueWaiters())
        }
        for (owner, jobs) in byOwner.values { owner.settle(jobs) }
        for owner in owners { owner.spaceIsFree() }
        for waiter in waiters { waiter.finish() }
    }

    private func counted(_ outcome: IngestOutcome, of job: IngestJob) -> Result<UInt64, IngestFailure> {
        let result: Result<UInt64, IngestFailure> =
            switch outcome {
            case .stored(let through, _): .success(through)
            // Not beyond the batch's own last sequence, so that acknowledgements only grow, also with several entities.
            case .duplicate(let through, _): .success(min(through, job.batch.position?.last ?? through))
            case .replaced: .failure(.replaced)
            case .rewound: .failure(.rewound)
            // Another writer has changed the entity in the meantime.
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
    var isStale: Bool {
        if case .stale = self { true } else { false }
    }

    var isOutOfTurn: Bool {
        if case .failed(let error) = self { error.code == .outOfTurn } else { false }
    }

    var isRetriable: Bool {
        if case .failed(let error) = self { error.isRetriable } else { false }
    }

    /// The error, if the store failed. Nil if the batch itself was wrong, or if an earlier batch of the stream failed.
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
        self =
            switch error.code {
            case .unknownService: .unknownService
            case .full: .full
            default: error.isRetriable ? .busy : .failed
            }
    }
}

/// Counts since the start of the server, of batches from sessions and from the Web API.
package struct IngestCounts: Hashable, Sendable {
    package var storedBatches: UInt64 = 0
    /// Batches that the store already had.
    package var duplicateBatches: UInt64 = 0
    /// Points of stored batches.
    package var storedPoints: UInt64 = 0
    /// Batches whose claim had ended: a newer login made another claim, or the entity was deleted.
    package var replacedBatches: UInt64 = 0
    /// Batches that were computed from an older version of the entity.
    package var staleBatches: UInt64 = 0
    /// Batches whose session believed more to be stored than the store had: the store lost commits.
    package var rewoundBatches: UInt64 = 0
    /// Batches that were not stored because the store failed.
    package var failedBatches: UInt64 = 0
    /// Alarms of fences of stored batches.
    package var alarms: UInt64 = 0
    /// Alarms and messages to other entities that were not stored, because their entity made too many: ``OutputAllowance``.
    package var untoldAlarms: UInt64 = 0
    package var untoldMessages: UInt64 = 0
    /// Points of stored batches that came too late for the fences that watch their entity: a later one was judged before.
    package var latePoints: UInt64 = 0
    /// Points of stored batches that are dated too far ahead of the server's clock for the fences.
    package var pointsAhead: UInt64 = 0
    /// Fences that cannot be read and so are not judged, as far as the points of some entity asked for them: a number of now.
    package var unreadableFences = 0
    /// Live hints that reached the store.
    package var hints: UInt64 = 0
    /// The time that the store took for each committed transaction.
    package var commits = Histogram()
    /// Transactions that failed. A repeated transaction counts again.
    package var failedCommits: UInt64 = 0

    package init() {}
}

final class IngestCounters: Sendable {
    private let state = Mutex(IngestCounts())

    var counts: IngestCounts { state.withLock { $0 } }
    var unreadableFences: Int { state.withLock { $0.unreadableFences } }

    func committed(in duration: Duration) {
        state.withLock { $0.commits.record(duration) }
    }

    func change(_ change: (inout IngestCounts) -> Void) {
        state.withLock { change(&$0) }
    }
}

/// Limits of the batches that wait for the store.
package struct IngestLimits: Hashable, Sendable {
    /// Most bytes of all batches that wait for the store. When they are used, the writer accepts no batch. One vehicle, and the
    /// requests of one service together, may use a quarter.
    package var waitingBytes = 256 << 20
    /// Most batches of one transaction.
    package var groupBatches = 1024
    /// Most bytes of the batches of one transaction.
    package var groupBytes = 32 << 20
    /// Most rows that the batches of one transaction cause beside their points: alarms, messages and their receivers. A batch
    /// that causes more is alone in its transaction.
    package var groupRows = 4000
    /// What the points and reports of one entity may cause.
    package var output = OutputAllowance.Limits()
    /// The waits before the new tries of a transaction whose failure may pass. If the last try fails too, the writer
    /// reports the failure to the owners of the batches.
    package var retries: [Duration] = [0.05, 0.2, 1, 3, 5, 10].map { .seconds($0) }
    /// How long a request waits for room in a full queue.
    package var requestWait: Duration = .seconds(5)
    /// How long a request waits for the commit of its batches: twice the time of all tries of one transaction.
    package var requestAnswer: Duration = .seconds(40)

    package init() {}
}

/// Where the server's asynchronous work runs, and how it waits: in Swift's own pool and by its clock, or in a simulation.
package struct ServerTasks: Sendable {
    /// Nil means the thread pool of the process.
    package var executor: (any TaskExecutor)?
    /// Returns after the given time, or at once when the task is cancelled.
    package var sleep: @Sendable (Duration) async -> Void
    /// The clock that measures how long the store takes. No decision depends on it.
    package var clock: @Sendable () -> ContinuousClock.Instant = { .now }

    package init(
        executor: (any TaskExecutor)? = nil,
        sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) {
        self.executor = executor
        self.sleep = sleep
    }
}
