internal import Dispatch
internal import NIOCore
internal import Synchronization

/// The event loop of one process of the simulation: the shared virtual loop, until the process dies. What a dead process
/// had scheduled never runs.
final class ProcessLoop: EventLoop {
    private let shared: VirtualLoop
    private let life = Atomic(true)

    init(_ shared: VirtualLoop) {
        self.shared = shared
    }

    var isAlive: Bool { life.load(ordering: .relaxed) }

    func kill() { life.store(false, ordering: .relaxed) }

    private struct Dead: Error {}

    var inEventLoop: Bool { shared.inEventLoop }
    var now: NIODeadline { shared.now }

    func execute(_ task: @escaping () -> Void) {
        shared.execute { [self] in
            if isAlive { task() }
        }
    }

    func scheduleTask<Value>(deadline: NIODeadline, _ task: @escaping () throws -> Value) -> Scheduled<Value> {
        shared.scheduleTask(deadline: deadline) { [self] in
            guard isAlive else { throw Dead() }
            return try task()
        }
    }

    func scheduleTask<Value>(in delay: TimeAmount, _ task: @escaping () throws -> Value) -> Scheduled<Value> {
        scheduleTask(deadline: shared.now + delay, task)
    }

    func shutdownGracefully(queue: DispatchQueue, _ callback: @escaping @Sendable ((any Error)?) -> Void) {
        queue.async { callback(nil) }
    }

    func preconditionInEventLoop(file: StaticString, line: UInt) {
        shared.preconditionInEventLoop(file: file, line: line)
    }

    func preconditionNotInEventLoop(file: StaticString, line: UInt) {}

    func _executeIsolatedUnsafeUnchecked(_ task: @escaping () -> Void) { execute(task) }

    // A process that dies leaves promises behind; nobody is to complain of them.
    func _promiseCreated(futureIdentifier: _NIOEventLoopFutureIdentifier, file: StaticString, line: UInt) {}
    func _promiseCompleted(
        futureIdentifier: _NIOEventLoopFutureIdentifier
    ) -> (file: StaticString, line: UInt)? { nil }
    func _preconditionSafeToSyncShutdown(file: StaticString, line: UInt) {}
    func _preconditionSafeToWait(file: StaticString, line: UInt) {}
}
