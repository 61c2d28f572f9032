internal import NIOCore
internal import Synchronization

/// The file of the remembered state on the thread of the disk ring: one disk's delays are met on one thread.
final class StateWorker: StateKeeper, Sendable {
    private let disk: CacheWorker
    /// Touched on the disk thread alone; the lock, never contended, says so to the compiler.
    private let file: Mutex<StateFile>

    init(directory: String, disk: CacheWorker) {
        self.disk = disk
        file = Mutex(StateFile(directory: directory))
    }

    func write(_ state: RememberedState, on loop: any EventLoop) -> EventLoopFuture<String?>? {
        disk.run(on: loop) { [self] in
            file.withLock { $0.write(state) }
        }
    }
}
