internal import AgentControl
internal import LocalFences
internal import NIOCore
internal import Synchronization
internal import TrackModel

/// Reads the parts of imports of fences beside the event loop, in the order in which they came: a text has up to 24 MiB. Works
/// out there what whole imports make of the fences, one import after the other.
///
/// Owns the imports that wait for their turn. May touch: the executor of long work, and its timers.
final class FenceImporter {
    private enum Timer { case forget, again }

    /// The fences that an import changes.
    struct Fences {
        /// Begins with the fences as they are.
        let begin: (FenceImports.Whole) throws(FenceRefusal) -> FenceImportWork
        let isCurrent: (FenceImportWork) -> Bool
        /// Puts it in force; nil when the fences have changed since the beginning.
        let adopt: (FenceImportWork.Done) -> LocalFenceTable.Imported?
    }

    private struct Waiting {
        let whole: FenceImports.Whole
        let fences: Fences
        let promise: EventLoopPromise<LocalFenceTable.Imported>
    }

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
    /// The first one is worked out.
    private var waiting: [Waiting] = []
    private var isShutDown = false
    /// An import was worked out several times for fences that changed meanwhile: while this is true, nobody may change them.
    private(set) var isExclusive = false

    private static let pause: Int64 = 60_000
    /// Milliseconds until the executor is asked again when too much waits for it.
    private static let againPause: Int64 = 500
    /// Whole imports that wait: each may have 200,000 vertices.
    private static let mostWaiting = 4
    /// How often an import is worked out while others may change fences, and how often at all: another entity, and dates that go
    /// back, change fences too.
    private static let (sharedAttempts, mostAttempts) = (3, 10)

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

    /// Puts a whole import in force, all of it or nothing. Fails with an `AgentControlError`.
    func putInForce(_ whole: FenceImports.Whole, _ fences: Fences) -> EventLoopFuture<LocalFenceTable.Imported> {
        guard waiting.count < Self.mostWaiting, !isShutDown else {
            return context.loop.makeFailedFuture(Self.notPutInForce)
        }
        let promise = context.loop.makePromise(of: LocalFenceTable.Imported.self)
        waiting.append(Waiting(whole: whole, fences: fences, promise: promise))
        if waiting.count == 1 { workOut() }
        return promise.futureResult
    }

    private func workOut(attempt: Int = 1) {
        guard let first = waiting.first else { return }
        do throws(FenceRefusal) {
            let work = try first.fences.begin(first.whole)
            let working = executor.perform(on: context.loop) { () -> Result<FenceImportWork.Done, FenceRefusal> in
                do throws(FenceRefusal) {
                    return .success(try work.run())
                } catch {
                    return .failure(error)
                }
            }
            guard let working else {
                return timers.set(.again, milliseconds: Self.againPause) { [self] in workOut(attempt: attempt) }
            }
            isExclusive = attempt > Self.sharedAttempts
            working.assumeIsolated().whenSuccess { [self] result in
                guard !isShutDown else { return }
                isExclusive = false
                switch result {
                case .success(let done):
                    if let outcome = first.fences.adopt(done) { return end(.success(outcome)) }
                case .failure(let refusal):
                    if first.fences.isCurrent(work) { return end(.failure(.init(refusal, in: .importFences))) }
                }
                guard attempt < Self.mostAttempts else { return end(.failure(Self.notPutInForce)) }
                workOut(attempt: attempt + 1)
            }
        } catch {
            end(.failure(.init(error, in: .importFences)))
        }
    }

    private func end(_ result: Result<LocalFenceTable.Imported, AgentControlError>) {
        waiting.removeFirst().promise.completeWith(result.mapError { $0 })
        workOut()
    }

    static let notPutInForce = AgentControlError(
        .busy, in: .importFences,
        reason:
            "other changes of fences are under way, and nothing has changed: import the whole file again in a moment")

    /// Whoever changes a fence while an import needs all of them as they are.
    static func exclusive(in method: AgentMethod) -> AgentControlError {
        AgentControlError(
            .busy, in: method,
            reason: "an import of fences is about to end, and nothing has changed: try again in a moment")
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
            let left = executor.perform(on: context.loop) { [state] in
                state.imports.withLock { imports in
                    imports.forget(now: now)
                    return imports.count
                }
            }
            guard let left else { return forgetLater(count) }
            left.assumeIsolated().whenSuccess { [self] in forgetLater($0) }
        }
    }

    func shutDown() {
        isShutDown = true
        isExclusive = false
        timers.cancelAll()
        for waiter in waiting { waiter.promise.fail(Self.notPutInForce) }
        waiting = []
    }
}
