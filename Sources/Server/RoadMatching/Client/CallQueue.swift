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
