internal import AgentRuntime
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
