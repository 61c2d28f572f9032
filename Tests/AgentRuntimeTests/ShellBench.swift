import AgentControl
import AlarmLog
import DiskRing
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

/// Operations on something real that is on a disk; the test says when the disk has time for them.
final class SlowDisk<Subject: AnyObject> {
    let subject: Subject
    /// Whether the queue of the disk has room.
    var accepts = true
    private var waiting: [() -> Void] = []

    init(_ subject: Subject) { self.subject = subject }

    func perform<Result: Sendable>(
        on loop: any EventLoop, _ operation: @escaping @Sendable (Subject) -> Result
    ) -> EventLoopFuture<Result>? {
        guard accepts else { return nil }
        let promise = loop.makePromise(of: Result.self)
        waiting.append { [subject] in promise.succeed(operation(subject)) }
        return promise.futureResult
    }

    func work() {
        let due = waiting
        waiting = []
        for operation in due { operation() }
    }
}

extension SlowDisk: AlarmExecutor where Subject == AlarmJournal {}

extension SlowDisk: CacheExecutor where Subject == DiskRing {
    func shutDown(on loop: any EventLoop, now: MonotonicTime) -> EventLoopFuture<Void> {
        loop.makeSucceededVoidFuture()
    }
}
