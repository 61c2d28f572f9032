/// What roads did for an answer, in words for the client.
package enum RoadsState: Hashable, Sendable {
    /// Every part that was sent lies on roads, and every way that was asked for is known. `matched` is the share of the
    /// points on roads, nil when only ways were asked for, or when nothing was sent because the vehicle only stood.
    case used(matched: Double?)
    /// Some of it does.
    case partly(matched: Double?)
    /// The engine works and knows no roads here.
    case none
    /// The engine answered, and nothing of it is believed: its roads are not where the vehicle was, or the vehicle cannot have
    /// driven any of its ways.
    case implausible
    /// The engine knows roads here, and no way between the ends of any interruption for this way of travelling.
    case noWay
    /// No engine is configured, or nobody asked for roads.
    case off
    case unavailable(RoadFailure)

    /// The share of a part's sent points beyond which the part counts as matched.
    static let matchedShare = 0.95

    /// The state after matching. `failures` are those of the calls that gave nothing.
    package init(_ track: MatchedTrack, failures: [RoadFailure]) {
        let isComplete = failures.isEmpty && track.partShares.allSatisfy { $0 >= Self.matchedShare }
        if track.partShares.isEmpty, failures.isEmpty {
            self = .used(matched: nil)
        } else if track.matched > 0 {
            self = isComplete ? .used(matched: track.matched) : .partly(matched: track.matched)
        } else if let trouble = failures.first(where: { !$0.isEmptyAnswer }) {
            self = .unavailable(trouble)
        } else {
            self = track.disbelieved > 0 ? .implausible : .none
        }
    }

    /// The state after asking for routes: `found` of `asked` are believed, and `implausible` others are known.
    package init(found: Int, asked: Int, implausible: Int = 0, failures: [RoadFailure]) {
        if found == asked {
            self = .used(matched: nil)
        } else if found > 0 {
            self = .partly(matched: nil)
        } else if let trouble = failures.first(where: { !$0.isEmptyAnswer }) {
            self = .unavailable(trouble)
        } else {
            self = implausible > 0 ? .implausible : failures.contains(.noWay) ? .noWay : .none
        }
    }

    /// The state of an answer that asked for a match and for routes.
    package func with(routes: RoadsState) -> RoadsState {
        switch (self, routes) {
        case (_, .off), (.used, .used): self
        case (.off, _): routes
        case (.used, _), (.partly, _), (_, .used), (_, .partly): .partly(matched: matched)
        case (.none, _), (.implausible, _), (.noWay, _), (.unavailable, _): self
        }
    }

    /// The word in answers.
    package var name: String {
        switch self {
        case .used: "used"
        case .partly: "partly"
        case .none, .implausible, .noWay: "none"
        case .off: "off"
        case .unavailable: "unavailable"
        }
    }

    /// The share of points on roads, when it is known.
    package var matched: Double? {
        switch self {
        case .used(let matched), .partly(let matched): matched
        case .none, .implausible, .noWay, .off, .unavailable: nil
        }
    }

    /// The word for why there are no roads, when more is known than that there are none.
    package var reason: String? {
        switch self {
        case .unavailable(let failure): failure.name
        case .implausible: "implausible"
        case .noWay: "no_way"
        case .used, .partly, .none, .off: nil
        }
    }
}
