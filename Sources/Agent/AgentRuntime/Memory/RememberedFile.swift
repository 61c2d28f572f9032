internal import AgentLogic
internal import Logging
internal import NIOCore
internal import Systemd

/// Does what a ``MemoryMachine`` decides about a file: writes, waits, and says in the system's journal when the disk refuses.
///
/// Owns the machine's timers. The shell that owns the machine makes one, and gives each action to it. May touch: these timers
/// and the system's journal.
final class RememberedFile {
    typealias Event = (inout MemoryMachine) -> [MemoryMachine.Action]

    /// What differs from file to file.
    struct Ways {
        let failing: Logger.Message
        let relieved: Logger.Message
        /// Writes what there is to remember now. Completes with nil when it is on the disk, otherwise with the reason. Nil:
        /// too much waits for the disk already, and nothing was done.
        let write: () -> EventLoopFuture<String?>?
        /// The machine is told an event.
        let happened: (@escaping Event) -> Void
        var answer: (RequestID, MemoryMachine.Durability) -> Void = { _, _ in }
    }

    private let context: ShellContext
    private let timers: ShellTimers<MemoryMachine.Timer>
    private let ways: Ways

    init(_ context: ShellContext, _ ways: Ways) {
        self.context = context
        self.ways = ways
        timers = ShellTimers(context)
    }

    func perform(_ action: MemoryMachine.Action) {
        switch action {
        case .write: write()
        case .answer(let caller, let durability): ways.answer(caller, durability)
        case .setTimer(let timer, let milliseconds):
            timers.set(timer, milliseconds: milliseconds) { [context, ways] in
                let now = context.now
                ways.happened { $0.timerFired(timer, now: now) }
            }
        case .cancelTimer(let timer): timers.cancel(timer)
        case .complain(let reason):
            context.log.error(ways.failing, metadata: .event(.stateNotRemembered, ["reason": "\(reason)"]))
        case .relieved: context.log.notice(ways.relieved, metadata: .event(.stateRemembered))
        }
    }

    func cancelTimers() { timers.cancelAll() }

    private func write() {
        guard let written = ways.write() else {
            return ways.happened { $0.failed(reason: "the disk hangs, and too much waits for it already") }
        }
        written.assumeIsolated().whenComplete { [ways] result in
            switch result {
            case .success(nil): ways.happened { $0.written() }
            case .success(let reason?): ways.happened { $0.failed(reason: reason) }
            // The process ends, and nobody writes any more.
            case .failure: break
            }
        }
    }
}
