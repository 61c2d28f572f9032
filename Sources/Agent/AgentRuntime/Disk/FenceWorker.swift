internal import AlarmLog
internal import Geofencing
internal import LocalFences
internal import NIOCore
internal import Synchronization
internal import TimeZones

/// The file of the vehicle's own fences on the thread of the disk ring. All work that may wait for the disk is on one
/// thread.
final class FenceWorker: FenceKeeper, Sendable {
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

    func read(on loop: any EventLoop) -> EventLoopFuture<RecalledFences>? {
        disk.run(on: loop) { [self] in
            var found = file.withLock { RecalledFences($0) }
            found.readZones(from: system)
            return found
        }
    }

    func zones(_ names: [String], on loop: any EventLoop) -> EventLoopFuture<[String: ZoneOffsets]>? {
        disk.run(on: loop) { [self] in system.offsets(of: names) }
    }
}
