/// Why a call of the road engine gave nothing.
package enum RoadFailure: Error, Hashable, Sendable, CaseIterable {
    /// No answer in time.
    case timeout
    /// No connection, or the connection broke.
    case refused
    /// Too many calls wait already.
    case busy
    /// The circuit breaker is open.
    case open
    /// The answer cannot be read, or the engine says that it failed.
    case invalid
    /// The engine does not take the request: its limits are tighter than ours.
    case rejected
    /// The engine works and knows no roads there.
    case noMapHere
    /// The engine knows roads at both ends, and no way between them for this way of travelling.
    case noWay

    /// The word in answers and metrics.
    package var name: String {
        switch self {
        case .timeout: "timeout"
        case .refused: "refused"
        case .busy: "busy"
        case .open: "open"
        case .invalid, .rejected: "invalid"
        case .noMapHere: "no_map_here"
        case .noWay: "no_way"
        }
    }

    /// The engine works and answered; it has nothing to give.
    var isEmptyAnswer: Bool { self == .noMapHere || self == .noWay }

    /// Whether the engine itself is in trouble, which the circuit breaker counts. An answer, whatever it says, is none.
    package var isTrouble: Bool {
        switch self {
        case .timeout, .refused, .invalid: true
        case .busy, .open, .rejected, .noMapHere, .noWay: false
        }
    }
}
