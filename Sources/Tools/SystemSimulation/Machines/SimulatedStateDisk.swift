internal import AgentRuntime
internal import AlarmLog
internal import Geofencing
internal import LocalFences
internal import NIOCore
internal import TrackTestKit

/// Trouble of the file of the durable state alone, beside the trouble of the disk that it stands on.
final class SimulatedStateDisk {
    /// The directory of the file.
    static let directory = "/var"

    /// Every write is refused.
    var isFailing = false
}

/// The agent's own file of the durable state, on the simulated disk and in its queue.
final class SimulatedStateStore: DurableStateStore {
    private let executor: SimulatedCacheDisk
    private let file: StateFile
    private let memory: SimulatedStateDisk

    init(executor: SimulatedCacheDisk, disk: DiskSimulation, memory: SimulatedStateDisk) {
        self.executor = executor
        self.memory = memory
        file = StateFile(directory: SimulatedStateDisk.directory, files: disk)
    }

    func write(_ state: DurableState, on loop: any EventLoop) -> EventLoopFuture<String?>? {
        executor.run(on: loop) { [file, memory] in
            memory.isFailing ? "the state is refused" : file.write(state)
        }
    }
}

/// The alarm journal on the simulated disk and in its queue.
final class SimulatedAlarms: AlarmExecutor {
    static let path = "\(SimulatedStateDisk.directory)/alarms.journal"

    let journal: AlarmJournal
    private let executor: SimulatedCacheDisk
    private let disk: DiskSimulation
    /// After each operation, before its result is known.
    var onOperation: (AlarmJournal) -> Void = { _ in }

    init(_ journal: AlarmJournal, executor: SimulatedCacheDisk, disk: DiskSimulation) {
        self.journal = journal
        self.executor = executor
        self.disk = disk
    }

    func perform<Result: Sendable>(
        on loop: any EventLoop, _ operation: @escaping @Sendable (AlarmJournal) -> Result
    ) -> EventLoopFuture<Result>? {
        executor.run(on: loop) { [journal, disk, unowned self] in
            let result = operation(journal)
            // In the dark nothing can be seen.
            if disk.hasPower { onOperation(journal) }
            return result
        }
    }

    /// Its process is dead.
    func forget() { onOperation = { _ in } }
}

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
