import NIOCore
import NIOPosix
import Synchronization
import TrackStore
import WebAPI

/// Threads for the Web API's work alone: what vehicles upload is done by others, and the system's scheduler shares the cores
/// between both. Between two steps of one request everybody else has a turn, so a key that asks for much holds up its own requests.
final class WorkThreads: Sendable {
    /// Of the server, for as long as the process lives.
    static let shared = WorkThreads(max(2, System.coreCount))

    private struct Job: Sendable {
        let job: UnownedJob
        /// Lives as long as its jobs.
        let executor: Executor
    }

    private let pool: NIOThreadPool
    private let turns = Mutex(FairQueue<WorkOwner, Job>())

    init(_ count: Int) {
        pool = NIOThreadPool(numberOfThreads: count)
        pool.start()
    }

    /// For a test: nothing may be under way.
    func stop() async throws { try await pool.shutdownGracefully() }

    /// Where tasks of an owner run.
    func executor(for owner: WorkOwner) -> any TaskExecutor { Executor(threads: self, owner: owner) }

    private func add(_ job: Job, of owner: WorkOwner) {
        turns.withLock { $0.add(job, of: owner) }
        // Which job the thread does is seen when it is free: by then it may be another one's turn.
        pool.submit { [self] _ in
            guard let next = turns.withLock({ $0.next() }) else { return }
            next.job.runSynchronously(on: next.executor.asUnownedTaskExecutor())
        }
    }

    private final class Executor: TaskExecutor {
        private let threads: WorkThreads
        private let owner: WorkOwner

        init(threads: WorkThreads, owner: WorkOwner) { (self.threads, self.owner) = (threads, owner) }

        func enqueue(_ job: consuming ExecutorJob) {
            threads.add(Job(job: UnownedJob(job), executor: self), of: owner)
        }
    }
}
