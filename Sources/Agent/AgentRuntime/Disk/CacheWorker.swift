internal import NIOCore
internal import NIOPosix
internal import Synchronization
internal import TrackCache
internal import TrackModel

/// The disk ring on a thread of its own: a slow `fdatasync` holds up nothing but the next disk operation.
///
/// Operations run in the order in which they were asked for. Each leaves a ``CacheSnapshot`` behind, so that status and
/// uplink never wait for the disk.
final class CacheWorker: CacheExecutor, Sendable {
    private let thread: NIOThreadPool
    /// Only the disk thread uses the ring. Nobody ever waits for the lock; the compiler needs it.
    private let cache: Mutex<TrackCache>
    private let waiting = Mutex(0)

    /// Operations that may wait for a disk that hangs: more than ten minutes of points at one a second.
    static let maximumWaiting = 1024

    private init(_ cache: consuming sending TrackCache) {
        self.cache = Mutex(cache)
        thread = NIOThreadPool(numberOfThreads: 1)
        thread.start()
    }

    /// Opens the ring on the calling thread; see ``TrackCache`` for what it throws. `prepare`: what is done with it first.
    static func open(
        directory: String, options: TrackCacheOptions, now: MonotonicTime,
        prepare: (TrackCache) -> Void = { _ in }
    ) throws(TrackCacheError) -> (CacheWorker, CacheSnapshot) {
        let cache = try TrackCache(directory: directory, options: options, now: now)
        prepare(cache)
        let snapshot = CacheSnapshot(cache)
        return (CacheWorker(cache), snapshot)
    }

    /// Runs an operation on the ring and completes on the given loop; nil when too many operations wait already.
    func perform<Result: Sendable>(
        on loop: any EventLoop, _ operation: @escaping @Sendable (TrackCache) -> Result
    ) -> EventLoopFuture<Result>? {
        run(on: loop) { [self] in cache.withLock { operation($0) } }
    }

    /// The same for other work on the disk's thread.
    func run<Result: Sendable>(
        on loop: any EventLoop, _ operation: @escaping @Sendable () -> Result
    ) -> EventLoopFuture<Result>? {
        let isAccepted = waiting.withLock { count in
            guard count < Self.maximumWaiting else { return false }
            count += 1
            return true
        }
        guard isAccepted else { return nil }
        return thread.runIfActive(eventLoop: loop) { [self] in
            defer { waiting.withLock { $0 -= 1 } }
            return operation()
        }
    }

    /// Waits for the operations that were asked for before, closes the ring and ends the thread.
    func shutDown(on loop: any EventLoop, now: MonotonicTime) -> EventLoopFuture<Void> {
        let closed = thread.runIfActive(eventLoop: loop) { [self] in cache.withLock { $0.close(now: now) } }
        let done = loop.makePromise(of: Void.self)
        closed.whenComplete { [thread] _ in
            thread.shutdownGracefully { _ in done.succeed() }
        }
        return done.futureResult
    }
}
