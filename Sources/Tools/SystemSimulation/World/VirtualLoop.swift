internal import Dispatch
internal import Glibc
internal import NIOCore

/// The one event loop of a history: virtual time that stands still while anything runs, and jumps to what comes next.
///
/// What is due at the same moment runs in the order in which it was asked for. NIO's own embedded loop makes a promise for
/// each task and copies its queue about; here a history's millions of events cost little more than what they do.
///
/// Unchecked, because no lock guards its state: all of it is touched on the thread that made the loop alone, and each call
/// that changes it insists on that.
final class VirtualLoop: EventLoop, @unchecked Sendable {
    private(set) var now = NIODeadline.uptimeNanoseconds(0)
    private var agenda = VirtualAgenda()
    /// Due now, behind what the agenda holds for this moment: that was asked for earlier.
    private var immediate: [() -> Void] = []
    private let home = pthread_self()
    private var isOver = false
    private var tasksAtOnce = 0

    /// So many tasks at one moment are no work any more: something asks for itself again and again.
    private static let mostTasksAtOnce = 2_000_000

    /// Time stands still: there is always something more to be done at this moment.
    var isStuck: Bool { tasksAtOnce > Self.mostTasksAtOnce }

    var inEventLoop: Bool { pthread_equal(home, pthread_self()) != 0 }

    // MARK: Asking

    func execute(_ task: @escaping () -> Void) {
        preconditionInEventLoop()
        if !isOver { immediate.append(task) }
    }

    /// Runs something at a time, or now if that is past; nobody is told when it is done.
    func at(_ deadline: NIODeadline, _ task: @escaping () -> Void) {
        preconditionInEventLoop()
        if isOver { return }
        if deadline <= now { immediate.append(task) } else { _ = agenda.add(deadline, task) }
    }

    func after(_ milliseconds: Int64, _ task: @escaping () -> Void) {
        at(now + .milliseconds(milliseconds), task)
    }

    @discardableResult
    func scheduleTask<Value>(deadline: NIODeadline, _ task: @escaping () throws -> Value) -> Scheduled<Value> {
        preconditionInEventLoop()
        let promise = makePromise(of: Value.self)
        guard !isOver else {
            promise.fail(EventLoopError.cancelled)
            return Scheduled(promise: promise, cancellationTask: {})
        }
        // Also what is due at once: it can still be cancelled.
        let ticket = agenda.add(max(deadline, now)) {
            do { promise.assumeIsolated().succeed(try task()) } catch { promise.fail(error) }
        }
        return Scheduled(promise: promise) { [unowned self] in agenda.cancel(ticket) }
    }

    @discardableResult
    func scheduleTask<Value>(in delay: TimeAmount, _ task: @escaping () throws -> Value) -> Scheduled<Value> {
        scheduleTask(deadline: now + delay, task)
    }

    // MARK: Running

    /// What is due now.
    func run() { advanceTime(to: now) }

    func advanceTime(by delay: TimeAmount) { advanceTime(to: now + delay) }

    /// Runs everything that is due until a time, in order, and ends at that time.
    func advanceTime(to end: NIODeadline) {
        preconditionInEventLoop()
        while !isStuck {
            runImmediate()
            guard let next = agenda.next, next <= end else { break }
            if next > now { tasksAtOnce = 0 }
            now = next
            while let task = agenda.take(dueBy: next) {
                task()
                tasksAtOnce += 1
            }
        }
        if !isStuck { now = max(now, end) }
    }

    private func runImmediate() {
        while !immediate.isEmpty, !isStuck {
            tasksAtOnce += immediate.count
            // What these ask for comes behind them.
            var tasks: [() -> Void] = []
            swap(&tasks, &immediate)
            for task in tasks { task() }
            if immediate.isEmpty {
                tasks.removeAll(keepingCapacity: true)
                immediate = tasks
            }
        }
    }

    /// Nothing more runs, and what waits is let go.
    func end() {
        isOver = true
        agenda = VirtualAgenda()
        immediate = []
    }

    // MARK: What NIO asks of a loop

    func preconditionInEventLoop(file: StaticString, line: UInt) {
        precondition(inEventLoop, "a history's loop belongs to the thread that made it", file: file, line: line)
    }

    func preconditionNotInEventLoop(file: StaticString, line: UInt) {}

    func shutdownGracefully(queue: DispatchQueue, _ callback: @escaping @Sendable ((any Error)?) -> Void) {
        queue.async { callback(nil) }
    }

    func _executeIsolatedUnsafeUnchecked(_ task: @escaping () -> Void) { execute(task) }

    func _submitIsolatedUnsafeUnchecked<Value>(_ task: @escaping () throws -> Value) -> EventLoopFuture<Value> {
        scheduleTask(deadline: now, task).futureResult
    }

    @discardableResult
    func _scheduleTaskIsolatedUnsafeUnchecked<Value>(
        deadline: NIODeadline, _ task: @escaping () throws -> Value
    ) -> Scheduled<Value> {
        scheduleTask(deadline: deadline, task)
    }

    @discardableResult
    func _scheduleTaskIsolatedUnsafeUnchecked<Value>(
        in delay: TimeAmount, _ task: @escaping () throws -> Value
    ) -> Scheduled<Value> {
        scheduleTask(in: delay, task)
    }

    // Processes die and leave promises behind; nobody is to complain of them.
    func _promiseCreated(futureIdentifier: _NIOEventLoopFutureIdentifier, file: StaticString, line: UInt) {}
    func _promiseCompleted(
        futureIdentifier: _NIOEventLoopFutureIdentifier
    ) -> (file: StaticString, line: UInt)? { nil }
    func _preconditionSafeToSyncShutdown(file: StaticString, line: UInt) {}
    func _preconditionSafeToWait(file: StaticString, line: UInt) {}
}
