import AgentControl
import Logging
import NIOCore
import NIOEmbedded
import TrackModel

@testable import AgentRuntime

/// What a shell needs, in virtual time: the test advances the loop, and nothing else happens.
struct ShellBench {
    let loop = EmbeddedEventLoop()
    let context: ShellContext

    init(log: any LogHandler = SwiftLogNoOpLogHandler()) {
        context = ShellContext(loop: loop, clock: KernelClock(), log: Logger(label: "shell") { _ in log })
    }

    /// What a future of the loop has become; nil: it waits.
    func outcome<Value: Sendable>(_ future: EventLoopFuture<Value>) -> Result<Value, any Error>? {
        let box = NIOLoopBoundBox<Result<Value, any Error>?>(nil, eventLoop: loop)
        future.whenComplete { box.value = $0 }
        return box.value
    }

    /// The code of the refusal that a call of the control socket became.
    func refusal<Value: Sendable>(_ future: EventLoopFuture<Value>) -> AgentControlError.Code? {
        guard case .failure(let error)? = outcome(future) else { return nil }
        return (error as? AgentControlError)?.code
    }
}
