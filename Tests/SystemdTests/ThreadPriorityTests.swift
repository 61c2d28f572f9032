import Dispatch
import Glibc
import Testing

@testable import Systemd

/// A thread of the runtime asks the kernel for no nice value of its own. `scripts/walk-readme` looks into a real journal.
@Suite struct ThreadPriorityTests {
    /// The process has its value from whoever started it, and its first thread keeps it.
    @Test(arguments: [DispatchQoS.QoSClass.background, .utility, .default, .userInitiated, .userInteractive])
    func aWorkerThreadHasTheNiceValueOfItsProcess(_ kind: DispatchQoS.QoSClass) async {
        let nice = await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: kind).async {
                continuation.resume(returning: getpriority(Int32(PRIO_PROCESS.rawValue), 0))
            }
        }
        #expect(nice == getpriority(Int32(PRIO_PROCESS.rawValue), id_t(getpid())))
    }

    @Test(arguments: [TaskPriority.background, .low, .medium, .high])
    func aTaskRunsWithTheNiceValueOfTheProcess(_ priority: TaskPriority) async {
        let nice = await Task.detached(priority: priority) { getpriority(Int32(PRIO_PROCESS.rawValue), 0) }.value
        #expect(nice == getpriority(Int32(PRIO_PROCESS.rawValue), id_t(getpid())))
    }
}
