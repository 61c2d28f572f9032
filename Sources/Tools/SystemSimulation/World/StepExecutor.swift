internal import Dispatch
internal import Glibc
internal import Synchronization

/// Runs Swift's asynchronous work on the simulation's one thread, in the order in which it became ready, at the virtual
/// moment at which it did.
///
/// A real store answers from threads of its own. While such a call is under way (``beginOutside()``) the simulation waits
/// for it, so that nothing else can happen in between and the order stays the same in every run. Only one call is under way
/// at a time: of two, the one that ends first would see, or not see, what the other has done.
final class StepExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isDraining = false
        var isOutside = false
        /// Those who wait for their call's turn, in their order.
        var turns: [CheckedContinuation<Void, Never>] = []
    }

    private let loop: VirtualLoop
    private let home = pthread_self()
    private let state = Mutex(State())
    private let arrival = DispatchSemaphore(value: 0)

    init(_ loop: VirtualLoop) {
        self.loop = loop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isHome = pthread_equal(home, pthread_self()) != 0
        let mustDrain = state.withLock { state in
            state.jobs.append(job)
            guard isHome, !state.isDraining else { return false }
            state.isDraining = true
            return true
        }
        if mustDrain { loop.execute { [self] in drain() } }
        if !isHome { arrival.signal() }
    }

    /// Returns when no other call is under way.
    func beginOutside() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.isOutside else {
                    state.isOutside = true
                    return true
                }
                state.turns.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    func endOutside() {
        let next = state.withLock { state in
            guard !state.turns.isEmpty else {
                state.isOutside = false
                return nil as CheckedContinuation<Void, Never>?
            }
            return state.turns.removeFirst()
        }
        next?.resume()
    }

    private enum Step {
        case run([UnownedJob])
        case wait
        case done
    }

    private func drain() {
        while true {
            let step = state.withLock { state -> Step in
                if !state.jobs.isEmpty {
                    defer { state.jobs = [] }
                    return .run(state.jobs)
                }
                if state.isOutside { return .wait }
                state.isDraining = false
                return .done
            }
            switch step {
            case .run(let jobs): for job in jobs { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
            case .wait: arrival.wait()
            case .done: return
            }
        }
    }
}
