internal import AlarmLog
internal import NIOCore
internal import Synchronization
internal import TrackModel

/// The alarm journal on the thread of the disk ring. All work that may wait for the disk is on one thread.
final class AlarmWorker: AlarmExecutor, Sendable {
    private let disk: CacheWorker
    /// Only the disk thread uses the journal. Nobody ever waits for the lock; the compiler needs it.
    private let journal: Mutex<AlarmJournal>
    /// What the journal remembered of entities and fences when it was opened.
    let states: [FenceState]

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
