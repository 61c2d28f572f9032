package import TrackModel

/// Keeps callers from a road engine that is in trouble.
///
/// Some failures in a row open it. While it is open, every call falls back at once. After a wait one caller asks for
/// the engine's status: a good answer closes the breaker, a bad one doubles the wait.
package struct CircuitBreaker: Hashable, Sendable {
    package enum Permission: Hashable, Sendable {
        case call
        /// The caller asks for the status first, and tells the outcome.
        case probe
        case fallBack
    }

    package static let failures = 5
    /// Milliseconds.
    package static let firstWait: Int64 = 5000
    package static let longestWait: Int64 = 60_000

    private enum State: Hashable {
        case closed(failures: Int)
        case open(until: MonotonicTime)
        case probing
    }

    private var state = State.closed(failures: 0)
    private var wait = Self.firstWait

    package init() {}

    package var isOpen: Bool {
        if case .closed = state { false } else { true }
    }

    /// Somebody wants to call.
    package mutating func permission(at now: MonotonicTime) -> Permission {
        switch state {
        case .closed: return .call
        case .probing: return .fallBack
        case .open(let until):
            guard now >= until else { return .fallBack }
            state = .probing
            return .probe
        }
    }

    /// A call has an answer, also one that says that there are no roads.
    package mutating func succeeded() {
        // An answer to a call from before does not close the breaker.
        if case .closed = state { state = .closed(failures: 0) }
    }

    /// A call has failed, in a way that is the engine's trouble.
    package mutating func failed(at now: MonotonicTime) {
        guard case .closed(let before) = state else { return }
        state = before + 1 < Self.failures ? .closed(failures: before + 1) : .open(until: now + wait)
    }

    /// The status was answered.
    package mutating func probeSucceeded() {
        state = .closed(failures: 0)
        wait = Self.firstWait
    }

    /// The status was not answered.
    package mutating func probeFailed(at now: MonotonicTime) {
        wait = min(wait * 2, Self.longestWait)
        state = .open(until: now + wait)
    }
}
