/// What roads did for an answer, in words for the client.
package enum RoadsState: Hashable, Sendable {
    /// Every part that was sent lies on roads.
    case used(matched: Double)
    /// Some of it does.
    case partly(matched: Double)
    /// The engine works and knows no roads here.
    case none
    /// No engine is configured, or nobody asked for roads.
    case off
    case unavailable(RoadFailure)

    /// The share of a part's sent points beyond which the part counts as matched.
    static let matchedShare = 0.95

    /// The state after matching. `failures` are those of the calls that gave nothing.
    package init(_ track: MatchedTrack, failures: [RoadFailure]) {
        let isComplete = failures.isEmpty && track.partShares.allSatisfy { $0 >= Self.matchedShare }
        if track.matched > 0 || track.partShares.isEmpty {
            self = isComplete ? .used(matched: track.matched) : .partly(matched: track.matched)
        } else if let trouble = failures.first(where: { $0 != .noMapHere }) {
            self = .unavailable(trouble)
        } else {
            self = .none
        }
    }

    /// The word in answers.
    package var name: String {
        switch self {
        case .used: "used"
        case .partly: "partly"
        case .none: "none"
        case .off: "off"
        case .unavailable: "unavailable"
        }
    }

    /// The share of points on roads, when there are some.
    package var matched: Double? {
        switch self {
        case .used(let matched), .partly(let matched): matched
        case .none, .off, .unavailable: nil
        }
    }

    /// The word for the failure.
    package var reason: String? {
        if case .unavailable(let failure) = self { failure.name } else { nil }
    }
}
