internal import AgentRuntime
internal import AlarmLog
internal import Geofencing
internal import LocalFences
internal import NIOCore
internal import TrackTestKit

/// The file of the vehicle's own fences on the simulated disk and in its queue.
final class SimulatedFences: LocalFenceWriter {
    static let path = "\(SimulatedStateDisk.directory)/fences.data"

    private let executor: SimulatedCacheDisk
    private let memory: SimulatedStateDisk
    private let file: FenceFile
    /// The file was read again, and the agent is about to hear of it.
    var onRead: (LoadedLocalFences) -> Void = { _ in }

    init(executor: SimulatedCacheDisk, disk: DiskSimulation, memory: SimulatedStateDisk) {
        self.executor = executor
        self.memory = memory
        file = FenceFile(directory: SimulatedStateDisk.directory, files: disk)
    }

    func write(_ fences: KeptFences, nextFence: Int32, on loop: any EventLoop) -> EventLoopFuture<String?>? {
        executor.run(on: loop) { [file, memory] in
            memory.isFailing ? "the fences are refused" : file.write(fences, nextFence: nextFence)
        }
    }

    func read(on loop: any EventLoop) -> EventLoopFuture<LoadedLocalFences>? {
        let reading = executor.run(on: loop) { [file] in LoadedLocalFences(file) }
        reading?.assumeIsolated().whenSuccess { [unowned self] in onRead($0) }
        return reading
    }

    func zones(_ names: [String], on loop: any EventLoop) -> EventLoopFuture<[String: ZoneOffsets]>? {
        executor.run(on: loop) { [:] }
    }

    /// Its process is dead.
    func forget() { onRead = { _ in } }
}

/// The file of the server's fences in the same place.
final class SimulatedServerFences: ServerFenceWriter {
    private let executor: SimulatedCacheDisk
    private let memory: SimulatedStateDisk
    private let file: ServerFenceFile

    init(executor: SimulatedCacheDisk, disk: DiskSimulation, memory: SimulatedStateDisk) {
        self.executor = executor
        self.memory = memory
        file = ServerFenceFile(directory: SimulatedStateDisk.directory, files: disk)
    }

    func write(_ content: ServerFenceSet, on loop: any EventLoop) -> EventLoopFuture<String?>? {
        executor.run(on: loop) { [file, memory] in
            memory.isFailing ? "the fences are refused" : file.write(content.encoded)
        }
    }
}
