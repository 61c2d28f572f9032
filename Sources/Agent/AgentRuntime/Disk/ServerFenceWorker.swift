internal import AlarmLog
internal import LocalFences
internal import NIOCore
internal import Synchronization

/// The file of the server's fences on the thread of the disk ring. All work that may wait for the disk is on one thread.
final class ServerFenceWorker: ServerFenceKeeper, Sendable {
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
