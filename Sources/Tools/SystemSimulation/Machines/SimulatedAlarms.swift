internal import AgentRuntime
internal import AlarmLog
internal import NIOCore
internal import TrackTestKit

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
