import RoadMatching
import Synchronization

/// Lets callers of the road engine wait for their turn, as ``CallQueue`` decides.
final class RoadCallLimiter: Sendable {
    private struct State {
        var queue: CallQueue<UInt64>
        var waiting: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        var next: UInt64 = 0
        /// Those under way. All turns are alike: it does not matter whose turn ends.
        var underWay: [UInt64] = []
    }

    private let state: Mutex<State>

    init(concurrency: Int) { state = Mutex(State(queue: CallQueue(concurrency: concurrency))) }

    /// Waits for a turn for at most some milliseconds. True: the caller has a turn and ends it with ``leave()``.
    func take(within timeout: Int64) async -> Bool {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        var timer: Task<Void, Never>?
        defer { timer?.cancel() }
        return await withCheckedContinuation { continuation in
            let admission = state.withLock { state in
                let admission = state.queue.admit(number)
                switch admission {
                case .start: state.underWay.append(number)
                case .wait: state.waiting[number] = continuation
                case .busy: break
                }
                return admission
            }
            switch admission {
            case .start: continuation.resume(returning: true)
            case .busy: continuation.resume(returning: false)
            case .wait:
                timer = Task {
                    guard (try? await Task.sleep(for: .milliseconds(timeout))) != nil else { return }
                    self.giveUp(number)
                }
            }
        }
    }

    func leave() {
        let started = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard let number = state.underWay.popLast(), let next = state.queue.leave(number) else { return nil }
            state.underWay.append(next)
            return state.waiting.removeValue(forKey: next)
        }
        started?.resume(returning: true)
    }

    private func giveUp(_ number: UInt64) {
        let waiting = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard let waiting = state.waiting.removeValue(forKey: number) else { return nil }
            _ = state.queue.leave(number)
            return waiting
        }
        waiting?.resume(returning: false)
    }
}
