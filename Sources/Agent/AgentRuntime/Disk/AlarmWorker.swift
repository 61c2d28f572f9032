internal import AlarmLog
internal import NIOCore
internal import Synchronization

/// The alarm journal on the thread of the disk ring: what one disk makes wait, waits in one place.
final class AlarmWorker: AlarmExecutor, Sendable {
    private let disk: CacheWorker
    /// Touched on the disk thread alone; the lock, never contended, says so to the compiler.
    private let journal: Mutex<AlarmJournal>

    /// Opens the journal on the calling thread, whatever the disk says. `limit`: bytes.
    init(directory: String, limit: Int, disk: CacheWorker) {
        self.disk = disk
        journal = Mutex(AlarmJournal(directory: directory, options: .init(limit: limit)))
    }

    func perform<Result: Sendable>(
        on loop: any EventLoop, _ operation: @escaping @Sendable (AlarmJournal) -> Result
    ) -> EventLoopFuture<Result>? {
        disk.run(on: loop) { [self] in journal.withLock { operation($0) } }
    }
}
