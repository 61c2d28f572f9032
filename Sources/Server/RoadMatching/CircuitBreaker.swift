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

/// Who may call the road engine now, and who waits: first come, first served.
package struct CallQueue<Caller: Hashable & Sendable>: Hashable, Sendable {
    package enum Admission: Hashable, Sendable {
        case start
        case wait
        /// Too many wait: the caller falls back.
        case busy
    }

    /// Calls under way at a time.
    private let concurrency: Int
    private let longest: Int
    private var underWay: Set<Caller> = []
    private var waiting: [Caller] = []

    package init(concurrency: Int = 4, waiting longest: Int = 64) {
        self.concurrency = max(1, concurrency)
        self.longest = longest
    }

    /// Somebody wants to call. A caller has one call at a time.
    package mutating func admit(_ caller: Caller) -> Admission {
        if underWay.count < concurrency, waiting.isEmpty {
            underWay.insert(caller)
            return .start
        }
        guard waiting.count < longest else { return .busy }
        waiting.append(caller)
        return .wait
    }

    /// A call has ended, or its caller waits no longer. The caller that starts now, if one does.
    package mutating func leave(_ caller: Caller) -> Caller? {
        waiting.removeAll { $0 == caller }
        guard underWay.remove(caller) != nil, !waiting.isEmpty else { return nil }
        let next = waiting.removeFirst()
        underWay.insert(next)
        return next
    }
}
