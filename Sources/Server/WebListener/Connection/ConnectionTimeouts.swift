import NIOCore

/// What one web connection waits for, and until when. A value: events go in with their times, actions come out.
///
/// Every wait has an end: for a request, for its body, for its answer, for the client to take the answer, for the rest of a
/// body that nobody wants, and for the client to hang up.
struct ConnectionTimeouts: Hashable, Sendable {
    struct Limits: Hashable, Sendable {
        /// For a request's headers, for its body, and for the next piece of an answer to be taken.
        var client: TimeAmount
        /// For the answer to be made.
        var answer: TimeAmount
        /// From a refusal to the end.
        var parting: TimeAmount
        /// Requests that a client may send ahead of their answers.
        var requestsAhead: Int
    }

    enum Wait: Hashable, Sendable {
        /// Also between requests, and for the handshake.
        case request
        case body
        case answer
        /// The rest of a body, after its answer.
        case rest
        /// The connection was refused: nothing more is taken.
        case end
    }

    /// Why a connection ends that its client did not end.
    enum Reason: String, Hashable, Sendable, CaseIterable {
        /// The client did not send or take in time.
        case time
        /// The answer was not made in time.
        case answer
        /// Too many requests ahead of their answers.
        case pipelining
        /// Too many bytes are held for all connections.
        case memory
        /// Another connection took its place.
        case replaced
        /// It was one too many of its address, or of all, and no other could go for it.
        case address
        case connections
    }

    enum Action: Hashable, Sendable {
        case close(Reason)
        /// Say so first, as HTTP does.
        case refuse(Reason)
    }

    private let limits: Limits
    private(set) var wait = Wait.request
    private var waitSince: NIODeadline
    private var unanswered = 0
    /// No part of a request is missing.
    private(set) var isComplete = true
    /// The answer that is next has begun to go out.
    private var hasBegun = false
    /// Pieces of answers that the client has not taken.
    private var untaken = 0
    private var tookAt: NIODeadline

    init(_ limits: Limits, at now: NIODeadline) {
        self.limits = limits
        waitSince = now
        tookAt = now
    }

    // MARK: The client's half

    /// The headers of a request are here.
    mutating func head(at now: NIODeadline) -> Action? {
        unanswered += 1
        isComplete = false
        guard unanswered <= limits.requestsAhead else { return .close(.pipelining) }
        if unanswered == 1 { begin(.body, now) }
        return nil
    }

    /// The last byte of a request is here.
    mutating func end(at now: NIODeadline) {
        isComplete = true
        switch wait {
        case .body: begin(.answer, now)
        case .rest: begin(.request, now)
        case .request, .answer, .end: break
        }
    }

    // MARK: The server's half

    /// A piece of an answer goes out.
    mutating func wrote(at now: NIODeadline) {
        hasBegun = true
        if untaken == 0 { tookAt = now }
        untaken += 1
    }

    /// The client took one.
    mutating func took(at now: NIODeadline) {
        untaken -= 1
        tookAt = now
    }

    /// The last piece of an answer goes out.
    mutating func answered(at now: NIODeadline) {
        // What could not be read as a request is answered too.
        unanswered = max(0, unanswered - 1)
        hasBegun = false
        if unanswered == 0 {
            begin(isComplete ? .request : .rest, now)
        } else {
            begin(unanswered == 1 && !isComplete ? .body : .answer, now)
        }
    }

    /// The refusal goes out.
    mutating func refused(at now: NIODeadline) { begin(.end, now) }

    var isOver: Bool { wait == .end }

    /// The request that is being received is the one that is answered next.
    var isNextIncomplete: Bool { unanswered == 1 && !isComplete }

    /// Requests whose answers have not gone out.
    var requests: Int { unanswered }

    // MARK: Time

    /// When ``check(at:)`` has something to say, if nothing happens before.
    var deadline: NIODeadline {
        let taking = untaken > 0 ? tookAt + limits.client : .distantFuture
        return min(taking, waitEnd)
    }

    private var waitEnd: NIODeadline {
        switch wait {
        case .request, .body, .rest: waitSince + limits.client
        // While it goes out, the time counts from the last piece.
        case .answer: (hasBegun ? max(waitSince, tookAt) : waitSince) + limits.answer
        case .end: waitSince + limits.parting
        }
    }

    func check(at now: NIODeadline) -> Action? {
        guard now >= deadline else { return nil }
        guard now >= waitEnd else { return .close(.time) }
        return wait == .answer ? .close(.answer) : giveUp(.time)
    }

    /// The connection must end for this reason.
    func giveUp(_ reason: Reason) -> Action {
        // A refusal is no answer to a request before it, nor an end to an answer that has begun.
        isNextIncomplete && wait == .body && !hasBegun && untaken == 0 ? .refuse(reason) : .close(reason)
    }

    private mutating func begin(_ next: Wait, _ now: NIODeadline) {
        wait = next
        waitSince = now
    }
}
