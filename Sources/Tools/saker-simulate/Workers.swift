import Glibc
import Synchronization
import SystemSimulation

/// Runs histories on as many threads as the machine has cores. Each history belongs to the thread that runs it and
/// knows no other history.
final class Workers: Sendable {
    private struct State {
        var next: UInt64
        var end: UInt64
        var total = HistorySummary()
        var broken: HistoryOutcome?
    }

    private let options: HistoryOptions
    private let state: Mutex<State>

    init(seeds: Range<UInt64>, options: HistoryOptions) {
        self.options = options
        state = Mutex(State(next: seeds.lowerBound, end: seeds.upperBound))
    }

    /// Runs all seeds, or all before the first that breaks a guarantee. Returns the sum of the good histories, and the
    /// output of the broken one. The result does not depend on the number of threads.
    func run(threads: Int) -> (total: HistorySummary, broken: HistoryOutcome?) {
        let others = (1..<max(threads, 1)).compactMap { _ in detach() }
        work()
        for other in others { pthread_join(other, nil) }
        return state.withLock { ($0.total, $0.broken) }
    }

    private func work() {
        while let seed = take() {
            let outcome = History(seed: seed, options: options).run()
            state.withLock { state in
                state.total.add(outcome.summary)
                guard outcome.violation != nil, seed < state.broken?.seed ?? .max else { return }
                state.broken = outcome
            }
        }
    }

    /// Gives seeds out in order. When a history breaks, all earlier ones are running or done.
    private func take() -> UInt64? {
        state.withLock { state in
            guard state.next < state.end, state.broken == nil else { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }

    private func detach() -> pthread_t? {
        var thread = pthread_t()
        let own = Unmanaged.passRetained(self)
        let made = pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<Workers>.fromOpaque(context).takeRetainedValue().work() }
                return nil
            }, own.toOpaque())
        guard made == 0 else {
            own.release()
            return nil
        }
        return thread
    }
}
