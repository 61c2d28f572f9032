import DirectoryAccess
import Glibc
import MetricsText
import NIOCore
import NIOPosix
import ServiceLifecycle
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

/// Keeps what is free from staying with the process.
///
/// The C library gives each thread a heap that only shrinks at its end, and keeps the more free at that end the larger the blocks are that
/// it once saw: a fleet's backlogs would stay resident for good, and a quiet server would grow for hours.
struct HeapTrimming: Service {
    private static let interval = Duration.seconds(60)

    /// Bytes. The points of a day take some 3 MB, and reading them takes a fifth more CPU time when each of their blocks comes
    /// from the system.
    private static let limit: Int32 = 4 << 20

    init() { ProcessMemory.fixLimits(Self.limit) }

    /// Every minute what lies between blocks in use too.
    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try await Task.sleep(for: Self.interval)
                ProcessMemory.giveBack()
            }
        }
    }
}

/// How many files, and so how many connections, this process may have open.
enum FileLimit {
    /// What the store, the listeners and the web clients' answers take besides connections.
    static let ownFiles = 64

    /// Raises the soft limit to the hard one, which any process may; returns what holds from now on.
    ///
    /// Shells and systemd start programs with a soft limit of 1,024, for the sake of `select(2)`, which nothing here
    /// uses.
    static func raise() -> UInt64 {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return .max }
        guard limit.rlim_cur < limit.rlim_max else { return UInt64(limit.rlim_cur) }
        let former = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        return UInt64(setrlimit(resource, &limit) == 0 ? limit.rlim_cur : former)
    }
}

/// Lets one process serve a store: two would both merge it. Released when the process ends, however it ends.
final class ServeLock: Sendable {
    let path: String
    private let descriptor: Int32

    /// Throws `.address` when another process serves this store.
    convenience init(store: String) throws(ServerError) {
        let path = store + ".lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw ServerError(.store, "\(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        try self.init(path: path, descriptor: descriptor, store: store)
    }

    private init(path: String, descriptor: Int32, store: String) throws(ServerError) {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let isHeld = errno == EWOULDBLOCK
            close(descriptor)
            throw ServerError(
                isHeld ? .address : .store,
                isHeld ? "another saker-server serves \(store): stop it first" : "\(path) cannot be locked")
        }
        (self.path, self.descriptor) = (path, descriptor)
    }

    /// The same through an open directory.
    convenience init(store name: String, in directory: borrowing DirectoryHandle, owner: (user: UInt32, group: UInt32)?)
        throws(ServerError)
    {
        let path = "\(directory.path)/\(name).lock"
        let descriptor = openat(
            directory.descriptor, name + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw ServerError(.store, "\(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        if let owner { _ = fchown(descriptor, owner.user, owner.group) }
        try self.init(path: path, descriptor: descriptor, store: "\(directory.path)/\(name)")
    }

    /// Whether a process serves this store; nil when this user may not look.
    ///
    /// A server that starts at this very moment may find the look in its way; systemd then starts it once more.
    static func isHeld(store: String) -> Bool? {
        let descriptor = open(store + ".lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return errno == ENOENT ? false : nil }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return errno == EWOULDBLOCK ? true : nil }
        return false
    }

    deinit {
        // A child process between its fork and its exec has the file open too, and would keep the lock that long.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
