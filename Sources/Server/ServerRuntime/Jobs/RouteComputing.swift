import Logging
import Synchronization
import TrackModel
import TrackStore
import WebAPI

/// Computes the frequent routes of jobs, one after the other, and removes jobs whose time is over.
struct RouteComputing: JobWork {
    static let interval = Duration.seconds(1)
    /// Attempts at a job that fails itself, while the store takes it back.
    private static let mostAttempts = 5

    /// Computes the routes of a job, and asks again and again whether to go on; nil when it was told to stop. Throws what may pass.
    typealias Compute = @Sendable (RouteJobRecord, () async throws -> Bool) async throws -> RouteJobResult?

    let store: any RouteJobStore
    let compute: Compute
    let logger: Logger
    /// For lines that clients cause.
    private let log: RequestLog
    let now: @Sendable () -> Timestamp
    /// Names the server among those that share a store. Who was killed has another number when it comes back: its claim ends by
    /// itself.
    private let worker = Int64.random(in: .min ... .max)
    private let failures = Failures()

    init(
        store: any RouteJobStore, logger: Logger, now: @escaping @Sendable () -> Timestamp, compute: @escaping Compute
    ) {
        (self.store, self.compute, self.logger, self.now) = (store, compute, logger, now)
        log = RequestLog(logger, now: now)
    }

    init(store: any RouteJobStore, router: APIRouter, logger: Logger) {
        self.init(store: store, logger: logger, now: SystemClock.now) {
            try await router.frequentRoutes($0, while: $1)
        }
    }

    /// Does every job that waits. False: one failed, and the others may fail the same way.
    func step() async -> Bool {
        while !Task.isCancelled {
            do {
                let time = now()
                let found = try await store.claimRouteJob(
                    by: worker, at: time, through: JobClaim.end(from: time))
                guard let job = found else { return true }
                guard await settle(job) else { return false }
            } catch {
                logger.error("frequent routes cannot be computed now", metadata: ["reason": "\(error)"])
                return false
            }
        }
        return true
    }

    /// False: it failed, and waits.
    private func settle(_ job: RouteJobRecord) async -> Bool {
        do {
            try await work(on: job)
            failures.forget(job.number)
            return true
        } catch {
            return await takeBack(job, after: error)
        }
    }

    private func work(on job: RouteJobRecord) async throws {
        var claim = JobClaim(at: now())
        let result = try await compute(job) {
            try await claim.holds(at: now()) { try await store.keepRouteJob(job.number, by: worker, through: $0) }
        }
        guard let result else {
            if Task.isCancelled { try await end(job, nil) }
            return
        }
        guard try await store.settleRouteJob(job.number, by: worker, result, at: now()) else { return }
        log.write(.info, "the frequent routes of a job are computed", of: job.service, ["job": "\(job.number)"])
    }

    /// False: the job waits, and is tried again after the others. A job that fails again and again while the store takes it back is
    /// refused.
    private func takeBack(_ job: RouteJobRecord, after failure: any Error) async -> Bool {
        var metadata = Self.metadata(job)
        metadata["reason"] = "\(failure)"
        let attempts = failures.add(job.number)
        do {
            guard attempts >= Self.mostAttempts else {
                try await end(job, nil)
                logger.error("frequent routes cannot be computed: the job is tried again", metadata: metadata)
                return false
            }
            try await end(job, APIRouter.routesThatFailed(attempts: attempts))
            failures.forget(job.number)
            log.write(.error, "frequent routes cannot be computed: the job is refused", of: job.service, metadata)
            return true
        } catch {
            // The store is in trouble, and not the job.
            failures.forget(job.number)
            metadata["store"] = "\(error)"
            logger.error(
                "frequent routes cannot be computed, and the job is tried again when its claim has ended",
                metadata: metadata)
            return false
        }
    }

    private static func metadata(_ job: RouteJobRecord) -> Logger.Metadata {
        ["service": "\(job.service.rawValue)", "job": "\(job.number)"]
    }

    /// Not in the cancelled task: the next process should not have to wait for the claim to end.
    private func end(_ job: RouteJobRecord, _ result: RouteJobResult?) async throws {
        let (store, worker, time) = (store, worker, now())
        _ = try await Task { try await store.settleRouteJob(job.number, by: worker, result, at: time) }.value
    }

    /// Jobs whose time is over.
    func clear() async {
        do throws(TrackStoreError) {
            _ = try await store.removeRouteJobs(doneBefore: now().adding(milliseconds: -RouteJobRules.kept))
        } catch {
            logger.warning(
                "old jobs of frequent routes could not be removed", metadata: ["reason": "\(error.detail)"])
        }
    }
}

/// How often each job has failed since the server started.
private final class Failures: Sendable {
    /// Jobs go with their entities: so many are remembered.
    private static let most = 1000
    private let counts = Mutex<[Int64: Int]>([:])

    /// Returns how many there are now.
    func add(_ job: Int64) -> Int {
        counts.withLock { counts in
            if counts.count >= Self.most, counts[job] == nil { counts.removeAll() }
            counts[job, default: 0] += 1
            return counts[job] ?? 1
        }
    }

    func forget(_ job: Int64) { counts.withLock { $0[job] = nil } }
}
