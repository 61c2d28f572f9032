internal import AgentControl
internal import LocalFences
internal import NIOCore
internal import Synchronization
internal import TrackModel

/// Reads the parts of imports of fences beside the event loop, in the order in which they came: a text has up to 24 MiB.
///
/// May touch: the executor of long work, and one timer.
final class FenceImporter {
    private enum Timer { case forget }

    /// What a part becomes.
    typealias Reading = Result<FenceImports.Taken, FenceRefusal>

    /// The imports under way. Only the executor uses them, one piece of work after the other; the compiler needs the lock.
    private final class State: Sendable {
        let imports = Mutex(FenceImports())
    }

    private let context: ShellContext
    private let executor: any LongWorkExecutor
    private let state = State()
    private let timers: ShellTimers<Timer>

    private static let pause: Int64 = 60_000

    init(_ context: ShellContext, executor: any LongWorkExecutor) {
        self.context = context
        self.executor = executor
        timers = ShellTimers(context)
    }

    /// Fails with an `AgentControlError`; the import is forgotten then, unless the error is `Busy`.
    func take(_ part: FenceImports.Part) -> EventLoopFuture<FenceImports.Taken> {
        let now = context.now
        let reading = executor.perform(on: context.loop) { [state] in
            state.imports.withLock { imports -> (Reading, Int) in
                do throws(FenceRefusal) {
                    return (.success(try imports.take(part, now: now)), imports.count)
                } catch {
                    return (.failure(error), imports.count)
                }
            }
        }
        guard let reading else { return context.loop.makeFailedFuture(Self.busy) }
        return reading.assumeIsolated().flatMapThrowing { [self] result, count in
            forgetLater(count)
            switch result {
            case .success(let taken): return taken
            case .failure(let refusal): throw AgentControlError(refusal, in: .importFences)
            }
        }.nonisolated()
    }

    /// The same for the rest of an import; nil when too much waits.
    func perform<Value: Sendable>(_ work: @escaping @Sendable () -> Value) -> EventLoopFuture<Value>? {
        executor.perform(on: context.loop, work)
    }

    static let busy = AgentControlError(
        .busy, in: .importFences,
        reason:
            "other imports of fences are being read: send the part once more in a moment, and each part after the reply to the one before"
    )

    /// An import that gets no part for long is forgotten.
    private func forgetLater(_ count: Int) {
        guard count > 0 else { return timers.cancel(.forget) }
        timers.set(.forget, milliseconds: Self.pause) { [self] in
            let now = context.now
            let left = perform { [state] in
                state.imports.withLock { imports in
                    imports.forget(now: now)
                    return imports.count
                }
            }
            guard let left else { return forgetLater(count) }
            left.assumeIsolated().whenSuccess { [self] in forgetLater($0) }
        }
    }

    func shutDown() { timers.cancelAll() }
}
