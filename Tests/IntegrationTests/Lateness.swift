import Foundation
import Synchronization

/// By how much this machine has woken a sleeper late, all in all: what a bound on real time is widened by, so that it is
/// broken by a program that waits too long and not by one that does not get a turn.
final class Lateness: Sendable {
    private let state = Mutex((isEnded: false, total: Duration.zero))

    /// Measures from now on, on a thread of its own.
    init() {
        Thread.detachNewThread { [self] in
            var isEnded = false
            while !isEnded {
                let due = ContinuousClock.now + .milliseconds(20)
                usleep(20_000)
                let late = ContinuousClock.now - due
                isEnded = state.withLock { state in
                    state.total += max(late, .zero)
                    return state.isEnded
                }
            }
        }
    }

    /// Ends the measurement; milliseconds.
    func end() -> Int {
        state.withLock { state in
            state.isEnded = true
            return Int(state.total / .milliseconds(1))
        }
    }
}
