package import TrackModel

/// The number of one request to the server, as the link carries it.
package struct ServerRequestID: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Keeps the requests to the server that are no uploads, and decides which may be sent now, which wait for their turn,
/// and which are overdue. Knows no bytes and no clock.
///
/// Few requests are under way at a time, so that uploads never wait long behind them. Waiting requests are bounded in
/// number and in bytes. Every request ends: with its answer, or with one `fail`. Do the actions in their order; `now`
/// is a monotonic clock in milliseconds.
package struct RequestQueue: Hashable, Sendable {
    package enum Kind: Hashable, Sendable, CaseIterable {
        /// A Web API request.
        case call
        /// Custom points.
        case points
    }

    package enum Action: Hashable, Sendable {
        /// Send the request; `answered` follows when the answer has come.
        case send(ServerRequestID)
        /// The request ends without an answer. Forget it.
        case fail(ServerRequestID, Failure)
        /// Call `timerFired` once after this time; replaces an earlier one.
        case setTimer(milliseconds: Int64)
        case cancelTimer
        /// An answer is overdue: the link may be dead.
        case probeLink
    }

    package enum Failure: Hashable, Sendable {
        /// There is no link, or the link ended before the request was sent: nothing happened.
        case offline
        /// Too much waits already: nothing happened.
        case full
        /// The turn of the request never came: nothing happened.
        case notSent
        /// The link ended between the request and its answer: nobody knows what happened.
        case cut
        /// The request was sent and not answered in time: nobody knows what happened.
        case overdue
    }

    package struct Limits: Hashable, Sendable {
        /// Sent and not yet answered, a kind.
        package var sentCalls = 4
        package var sentPoints = 1
        /// Waiting for their turn, of both kinds together.
        package var waiting = 32
        /// Bytes of all requests, sent and waiting.
        package var bytes = 1 << 20
        /// Milliseconds from the request until it is sent, and from then until its answer.
        package var turn: Int64 = 30_000
        package var answer: Int64 = 30_000

        package init() {}

        func sent(_ kind: Kind) -> Int {
            switch kind {
            case .call: sentCalls
            case .points: sentPoints
            }
        }
    }

    private struct Entry: Hashable, Sendable {
        let id: ServerRequestID
        let kind: Kind
        let bytes: Int
        /// The deadline of the present step: the turn of the request, or its answer.
        var deadline: MonotonicTime
    }

    private let limits: Limits
    private var next: UInt64 = 1
    private var isOnline = false
    private var waiting: [Entry] = []
    private var sent: [Entry] = []
    private var timerAt: MonotonicTime?

    package init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Requests that have not ended.
    package var count: Int { waiting.count + sent.count }

    // MARK: Events

    /// A new request of so many bytes; the actions are about it.
    package mutating func add(_ kind: Kind, bytes: Int, now: MonotonicTime) -> (id: ServerRequestID, actions: [Action])
    {
        let id = ServerRequestID(rawValue: next)
        next += 1
        guard isOnline else { return (id, [.fail(id, .offline)]) }
        let held = (waiting + sent).reduce(0) { $0 + $1.bytes }
        // A request that is alone may have any size: its maker has bounds of its own.
        guard waiting.count < limits.waiting, count == 0 || held + bytes <= limits.bytes else {
            return (id, [.fail(id, .full)])
        }
        waiting.append(Entry(id: id, kind: kind, bytes: bytes, deadline: now + limits.turn))
        return (id, proceed(now: now))
    }

    /// The answer of a request has come. Nil when nobody waits for this answer: it came too late, or nobody asked.
    package mutating func answered(_ id: ServerRequestID, _ kind: Kind, now: MonotonicTime) -> [Action]? {
        guard let index = sent.firstIndex(where: { $0.id == id && $0.kind == kind }) else { return nil }
        sent.remove(at: index)
        return proceed(now: now)
    }

    /// The link is logged in.
    package mutating func linkUp(now: MonotonicTime) -> [Action] {
        isOnline = true
        return proceed(now: now)
    }

    /// The link takes no further request; answers to earlier requests may still come.
    package mutating func linkCloses(now: MonotonicTime) -> [Action] {
        isOnline = false
        let failed = waiting.map { Action.fail($0.id, .offline) }
        waiting = []
        return failed + rearm(now: now)
    }

    /// The link is gone.
    package mutating func linkDown(now: MonotonicTime) -> [Action] {
        isOnline = false
        let failed = sent.map { Action.fail($0.id, .cut) } + waiting.map { Action.fail($0.id, .offline) }
        sent = []
        waiting = []
        return failed + rearm(now: now)
    }

    package mutating func timerFired(now: MonotonicTime) -> [Action] {
        timerAt = nil
        let late = sent.filter { $0.deadline <= now }
        let unsent = waiting.filter { $0.deadline <= now }
        sent.removeAll { $0.deadline <= now }
        waiting.removeAll { $0.deadline <= now }
        return late.map { .fail($0.id, .overdue) } + unsent.map { .fail($0.id, .notSent) }
            + (late.isEmpty ? [] : [.probeLink]) + proceed(now: now)
    }

    // MARK: Turns

    /// Oldest first, each kind within its own limit: many requests of one kind never hold up the other kind.
    private mutating func proceed(now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        var left: [Entry] = []
        for var entry in waiting {
            guard sent.count(where: { $0.kind == entry.kind }) < limits.sent(entry.kind) else {
                left.append(entry)
                continue
            }
            entry.deadline = now + limits.answer
            sent.append(entry)
            actions.append(.send(entry.id))
        }
        waiting = left
        return actions + rearm(now: now)
    }

    private mutating func rearm(now: MonotonicTime) -> [Action] {
        let due = (waiting + sent).map(\.deadline).min()
        guard due != timerAt else { return [] }
        timerAt = due
        return [due.map { .setTimer(milliseconds: max($0 - now, 0)) } ?? .cancelTimer]
    }
}
