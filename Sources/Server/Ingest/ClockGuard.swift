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
        let (problem, isNew) = state.withLock { state in
            let problem = state.rule.problem(at: now)
            defer { state.isWrong = problem != nil }
            return (problem, state.isWrong != (problem != nil))
        }
        guard isNew else { return problem }
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

/// The rule when the server's clock counts as wrong: it is before the day on which this program was made, or more than
/// a day behind the newest stored points.
///
/// With a clock that is behind, correct points seem to be far in the future. The server would refuse them, and a refused
/// point is lost. So the server takes no points while its clock counts as wrong.
package struct ClockRule: Hashable, Sendable {
    /// By how many milliseconds the clock may be behind the newest stored points: one day. Nobody sets a right clock back
    /// by so much.
    package static let tolerance: Int64 = 86_400_000

    private let made: Timestamp
    /// When the server received the newest stored points, by its clock at that time.
    private var newest: Timestamp?

    /// `newest`: when the server received the newest stored points. Nil: nothing is stored, or `clock_may_go_back` is set.
    /// `made`: when this program was made.
    package init(newest: Timestamp? = nil, made: Timestamp = Timestamp(seconds: SakerVersion.madeAt)) {
        self.newest = newest
        self.made = made
    }

    /// The store has committed points that the server received at this time.
    package mutating func stored(at time: Timestamp) {
        newest = max(newest ?? time, time)
    }

    /// A sentence that says why the clock counts as wrong; nil when the clock can be right.
    package func problem(at now: Timestamp) -> String? {
        guard now >= made else {
            return
                "the server's clock says \(Self.day(now)), before this program was made (\(Self.day(made))): set the clock "
                + "on the server"
        }
        if let newest, now < newest.adding(milliseconds: -Self.tolerance) {
            return "the server's clock says \(Self.day(now)), more than a day before the newest stored points came "
                + "(\(Self.day(newest))): set the clock on the server, or set clock_may_go_back in [store] when that time "
                + "was wrong"
        }
        return nil
    }

    /// `1970-01-01 00:00:12 UTC`. The calendar is counted in years from March on, in which a leap day is the last.
    private static func day(_ time: Timestamp) -> String {
        let seconds = time.milliseconds.quotientDown(1000)
        let (days, rest) = (seconds.quotientDown(86_400), seconds - seconds.quotientDown(86_400) * 86_400)
        let shifted = days + 719_468
        let era = shifted.quotientDown(146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(year)-\(two(month))-\(two(day)) \(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60)) UTC"
    }
}

extension Int64 {
    fileprivate func quotientDown(_ divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
