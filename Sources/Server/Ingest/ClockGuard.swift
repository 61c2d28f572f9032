package import Logging
import Synchronization
import Systemd
package import TrackModel

/// Checks the server's clock before points are taken, and logs when the result of the check changes.
package final class ClockGuard: Sendable {
    private struct State {
        var rule: ClockRule
        var isWrong = false
    }

    private let state: Mutex<State>
    private let logger: Logger

    package init(_ rule: ClockRule, logger: Logger) {
        state = Mutex(State(rule: rule))
        self.logger = logger
    }

    /// A sentence that says why the server may take no points at this time of its clock; nil when it may.
    package func problem(at now: Timestamp) -> String? {
        let (problem, isNews) = state.withLock { state in
            let problem = state.rule.problem(at: now)
            defer { state.isWrong = problem != nil }
            return (problem, state.isWrong != (problem != nil))
        }
        guard isNews else { return problem }
        if let problem {
            logger.error(
                "no points are taken: the server's clock is wrong",
                metadata: ["reason": "\(problem)", "message_id": "\(MessageID.clockWrong)"])
        } else {
            logger.notice(
                "the server's clock can be right: points are taken again",
                metadata: ["message_id": "\(MessageID.clockRight)"])
        }
        return problem
    }

    /// The store has committed points that the server received at this time.
    func stored(at time: Timestamp) { state.withLock { $0.rule.stored(at: time) } }
}
