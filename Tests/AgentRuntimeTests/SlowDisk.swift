import AlarmLog
import NIOCore
import TrackCache
import TrackModel

@testable import AgentRuntime

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

extension SlowDisk: CacheExecutor where Subject == TrackCache {
    func shutDown(on loop: any EventLoop, now: MonotonicTime) -> EventLoopFuture<Void> {
        loop.makeSucceededVoidFuture()
    }
}
