internal import TrackModel

/// The timers of an ``UplinkMachine``.
package enum UplinkTimer: Hashable, Sendable, CaseIterable {
    /// The deadline of connecting, handshake or login; the end of a wait.
    case step
    /// An answer is overdue.
    case acknowledgement
    case heartbeat
    /// The next report of the vehicle's health.
    case health
    /// Points wait for the rest of their pack; or the cache is to be read again.
    case pack
    /// The time limit of the last upload.
    case drain
}

/// Knows which timers run. So no timer is cancelled in vain, and a timer that fires late or early does no harm.
struct TimerSet: Hashable, Sendable {
    enum Firing: Hashable {
        /// The timer was cancelled meanwhile.
        case stale
        /// The timer was set again meanwhile, or its time has not come yet.
        case early(UplinkMachine.Action)
        case due
    }

    private var deadlines: [UplinkTimer: MonotonicTime] = [:]

    func isArmed(_ timer: UplinkTimer) -> Bool { deadlines[timer] != nil }

    mutating func set(_ timer: UplinkTimer, after milliseconds: Int64, now: MonotonicTime)
        -> UplinkMachine.Action
    {
        let delay = max(milliseconds, 0)
        deadlines[timer] = now + delay
        return .setTimer(timer, milliseconds: delay)
    }

    mutating func cancel(_ timer: UplinkTimer) -> [UplinkMachine.Action] {
        deadlines.removeValue(forKey: timer) == nil ? [] : [.cancelTimer(timer)]
    }

    mutating func cancelAll() -> [UplinkMachine.Action] {
        UplinkTimer.allCases.flatMap { cancel($0) }
    }

    mutating func fired(_ timer: UplinkTimer, now: MonotonicTime) -> Firing {
        guard let deadline = deadlines[timer] else { return .stale }
        guard now >= deadline else { return .early(.setTimer(timer, milliseconds: deadline - now)) }
        deadlines[timer] = nil
        return .due
    }
}

/// What an ``UplinkMachine`` keeps across sessions. Each session works with it.
struct UplinkContext: Hashable, Sendable {
    var counters = UplinkCounters()
    var timers = TimerSet()
    let timing: UplinkTiming
    /// Whether live hints are sent.
    var sendsLiveHint = false
    /// The owner has a point for a live hint: one was appended since this machine was made.
    var hasLiveHint = false
}
