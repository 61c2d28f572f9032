internal import AgentControl
internal import AgentLogic
internal import NIOCore
internal import TrackModel

/// The callers who wait to hear what becomes of a change on the disk. A `MemoryMachine` decides what they hear.
final class ChangeCallers {
    private let context: ShellContext
    private var callers: [RequestID: (MemoryMachine.Durability) -> Void] = [:]
    private var next: UInt64 = 1

    init(_ context: ShellContext) {
        self.context = context
    }

    /// The future completes with true when the change is on the disk, with false when the disk has not answered, and fails
    /// with `NotRemembered` when the change cannot be written.
    func add(_ method: AgentMethod) -> (RequestID, EventLoopFuture<Bool>) {
        let promise = context.loop.makePromise(of: Bool.self)
        let id = RequestID(rawValue: next)
        next += 1
        callers[id] = { durability in
            switch durability {
            case .durable: promise.succeed(true)
            case .pending: promise.succeed(false)
            case .failed(let reason):
                promise.fail(
                    AgentControlError(
                        .notRemembered, in: method,
                        reason: "done, and not remembered: \(reason); a restart forgets it unless a later try succeeds "
                            + "(saker status)"))
            }
        }
        return (id, promise.futureResult)
    }

    func answer(_ id: RequestID, _ durability: MemoryMachine.Durability) {
        callers.removeValue(forKey: id)?(durability)
    }

    /// The agent stops: nobody waits for the disk any more.
    func answerAll() {
        let left = callers.sorted { $0.key.rawValue < $1.key.rawValue }
        callers = [:]
        for (_, answer) in left { answer(.pending) }
    }
}
