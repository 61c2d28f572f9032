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
        var broken: [HistoryOutcome] = []
    }

    private let options: HistoryOptions
    private let isMixed: Bool
    private let keepsGoing: Bool
    private let state: Mutex<State>

    /// `isMixed`: each history has options of its own, drawn from its seed. `keepsGoing`: also after a history broke.
    init(seeds: Range<UInt64>, options: HistoryOptions, isMixed: Bool, keepsGoing: Bool) {
        self.options = options
        self.isMixed = isMixed
        self.keepsGoing = keepsGoing
        state = Mutex(State(next: seeds.lowerBound, end: seeds.upperBound))
    }

    /// Runs all seeds, or all before the first that breaks a guarantee. Returns the sum of the histories, and those that
    /// broke, by their seeds. What is returned does not depend on the number of threads when all seeds run; else the first
    /// of the broken ones does not.
    func run(threads: Int) -> (total: HistorySummary, broken: [HistoryOutcome]) {
        let others = (1..<max(threads, 1)).compactMap { _ in detach() }
        work()
        for other in others { pthread_join(other, nil) }
        return state.withLock { ($0.total, $0.broken.sorted { $0.seed < $1.seed }) }
    }

    private func work() {
        while let seed = take() {
            let outcome = History(seed: seed, options: isMixed ? options.mixed(seed: seed) : options).run()
            state.withLock { state in
                state.total.add(outcome.summary)
                if outcome.violation != nil { state.broken.append(outcome) }
            }
        }
    }

    /// Gives seeds out in order. When a history breaks, all earlier ones are running or done.
    private func take() -> UInt64? {
        state.withLock { state in
            guard state.next < state.end, keepsGoing || state.broken.isEmpty else { return nil }
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
