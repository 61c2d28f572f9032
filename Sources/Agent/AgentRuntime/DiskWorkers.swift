internal import AlarmLog
internal import DiskRing
internal import Geofencing
internal import LocalFences
internal import NIOCore
internal import NIOPosix
internal import Synchronization
internal import TimeZones
internal import TrackModel

/// The disk ring on a thread of its own: a slow `fdatasync` holds up nothing but the next disk operation.
///
/// Operations run in the order in which they were asked for. Each leaves a ``CacheSnapshot`` behind, so that status and
/// uplink never wait for the disk.
final class CacheWorker: CacheExecutor, Sendable {
    private let thread: NIOThreadPool
    /// Only the disk thread uses the ring. Nobody ever waits for the lock; the compiler needs it.
    private let cache: Mutex<DiskRing>
    private let waiting = Mutex(0)

    /// Operations that may wait for a disk that hangs: more than ten minutes of points at one a second.
    static let maximumWaiting = 1024

    private init(_ cache: consuming sending DiskRing) {
        self.cache = Mutex(cache)
        thread = NIOThreadPool(numberOfThreads: 1)
        thread.start()
    }

    /// Opens the ring on the calling thread; see ``DiskRing`` for what it throws. `prepare`: what is done with it first.
    static func open(
        directory: String, options: DiskRingOptions, now: MonotonicTime,
        prepare: (DiskRing) -> Void = { _ in }
    ) throws(DiskRingError) -> (CacheWorker, CacheSnapshot) {
        let cache = try DiskRing(directory: directory, options: options, now: now)
        prepare(cache)
        let snapshot = CacheSnapshot(cache)
        return (CacheWorker(cache), snapshot)
    }

    /// Runs an operation on the ring and completes on the given loop; nil when too many operations wait already.
    func perform<Result: Sendable>(
        on loop: any EventLoop, _ operation: @escaping @Sendable (DiskRing) -> Result
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

/// The alarm journal on the thread of the disk ring. All work that may wait for the disk is on one thread.
final class AlarmWorker: AlarmExecutor, Sendable {
    private let disk: CacheWorker
    /// Only the disk thread uses the journal. Nobody ever waits for the lock; the compiler needs it.
    private let journal: Mutex<AlarmJournal>
    /// What the journal remembered of entities and fences when it was opened.
    let states: [JournalFenceState]

    /// Opens the journal on the calling thread, whatever the disk says. `limit`: bytes.
    init(directory: String, limit: Int, disk: CacheWorker, now: MonotonicTime) {
        self.disk = disk
        let opened = AlarmJournal(directory: directory, options: .init(limit: limit), now: now)
        states = opened.fenceStates
        journal = Mutex(opened)
    }

    func perform<Result: Sendable>(
        on loop: any EventLoop, _ operation: @escaping @Sendable (AlarmJournal) -> Result
    ) -> EventLoopFuture<Result>? {
        disk.run(on: loop) { [self] in journal.withLock { operation($0) } }
    }
}

/// The file of the vehicle's own fences on the thread of the disk ring. All work that may wait for the disk is on one
/// thread.
final class FenceWorker: LocalFenceWriter, Sendable {
    private let disk: CacheWorker
    /// Only the disk thread uses the file. Nobody ever waits for the lock; the compiler needs it.
    private let file: Mutex<FenceFile>
    private let system: SystemZones

    init(directory: String, zones: SystemZones, disk: CacheWorker) {
        self.disk = disk
        system = zones
        file = Mutex(FenceFile(directory: directory))
    }

    func write(_ fences: KeptFences, nextFence: Int32, on loop: any EventLoop) -> EventLoopFuture<String?>? {
        disk.run(on: loop) { [self] in file.withLock { $0.write(fences, nextFence: nextFence) } }
    }

    func read(on loop: any EventLoop) -> EventLoopFuture<LoadedLocalFences>? {
        disk.run(on: loop) { [self] in
            var found = file.withLock { LoadedLocalFences($0) }
            found.readZones(from: system)
            return found
        }
    }

    func zones(_ names: [String], on loop: any EventLoop) -> EventLoopFuture<[String: ZoneOffsets]>? {
        disk.run(on: loop) { [self] in system.offsets(of: names) }
    }
}

/// The file of the server's fences on the thread of the disk ring. All work that may wait for the disk is on one thread.
final class ServerFenceWorker: ServerFenceWriter, Sendable {
    private let disk: CacheWorker
    /// Only the disk thread uses the file. Nobody ever waits for the lock; the compiler needs it.
    private let file: Mutex<ServerFenceFile>

    init(directory: String, disk: CacheWorker) {
        self.disk = disk
        file = Mutex(ServerFenceFile(directory: directory))
    }

    func write(_ content: ServerFenceSet, on loop: any EventLoop) -> EventLoopFuture<String?>? {
        disk.run(on: loop) { [self] in
            let bytes = content.encoded
            return file.withLock { $0.write(bytes) }
        }
    }
}

/// The file of the durable state on the thread of the disk ring. All work that may wait for the disk is on one
/// thread.
final class StateWorker: DurableStateStore, Sendable {
    private let disk: CacheWorker
    /// Only the disk thread uses the file. Nobody ever waits for the lock; the compiler needs it.
    private let file: Mutex<StateFile>

    init(directory: String, disk: CacheWorker) {
        self.disk = disk
        file = Mutex(StateFile(directory: directory))
    }

    func write(_ state: DurableState, on loop: any EventLoop) -> EventLoopFuture<String?>? {
        disk.run(on: loop) { [self] in
            file.withLock { $0.write(state) }
        }
    }
}
