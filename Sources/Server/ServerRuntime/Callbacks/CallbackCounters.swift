import Synchronization

/// Counts of requests to operators' URLs since the start of the server.
final class CallbackCounters: Sendable {
    struct Counts: Hashable, Sendable {
        /// Requests that were taken, and requests that were not.
        var taken: UInt64 = 0
        var failed: UInt64 = 0
        /// Alarms that an operator's server took, and alarms that were given up.
        var takenAlarms: UInt64 = 0
        var givenUpAlarms: UInt64 = 0
    }

    private let state = Mutex(Counts())

    init() {}

    var counts: Counts { state.withLock { $0 } }

    func count(_ change: (inout Counts) -> Void) { state.withLock { change(&$0) } }
}
