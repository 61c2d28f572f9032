package import MetricsText
import Synchronization

/// What became of the web connections of all listeners, for monitoring: by reason, never by who.
package final class WebCounters: Sendable {
    private struct State {
        var open = 0
        var ended: [String: UInt64] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// Open connections.
    package var open: Int { state.withLock { $0.open } }

    /// Connections that the server ended, by reason; every reason is there.
    package var ended: [(reason: String, count: UInt64)] {
        let known = state.withLock { $0.ended }
        return ConnectionTimeouts.Reason.allCases.map { ($0.rawValue, known[$0.rawValue] ?? 0) }
    }

    func opened() { state.withLock { $0.open += 1 } }

    func closed() { state.withLock { $0.open -= 1 } }

    func ended(_ reason: ConnectionTimeouts.Reason) {
        state.withLock { $0.ended[reason.rawValue, default: 0] &+= 1 }
    }
}

/// How long requests through HTTP took, from their last byte to the answer; of all listeners together.
package final class RequestDurations: Sendable {
    private let state = Mutex(Histogram())

    package init() {}

    package var histogram: Histogram { state.withLock { $0 } }

    func record(_ duration: Duration) {
        state.withLock { $0.record(duration) }
    }
}
