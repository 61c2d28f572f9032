package import TrackAnalysis
package import TrackModel

/// What the Web API asks of a road engine. Nothing here fails: without an answer the caller has its track as it was, and
/// the state says why.
package protocol Roads: Sendable {
    /// When the calls for a request that begins now must have ended. One request uses one value for all its calls.
    func deadlines(_ urgency: RoadUrgency) -> RoadDeadlines

    /// The roads under a cleaned track.
    func match(_ samples: [TrackSample], _ context: RoadRequestContext) async -> RoadMatch

    /// Ways across the interruptions of a track.
    func routes(_ interruptions: [Interruption], _ context: RoadRequestContext) async -> RoadRoutes
}

/// How long the asker can wait.
package enum RoadUrgency: Hashable, Sendable {
    case usual
    /// For a track that may be longer than a day.
    case long
    /// For the latest point, which is polled.
    case latest
}

/// For whom roads are asked.
package struct RoadRequestContext: Hashable, Sendable {
    /// Names the service and the entity.
    package let owner: String
    /// What may travel on the roads.
    package let mode: TravelMode
    /// m/s above which the entity of the track does not travel. A way across an interruption may have another mode.
    package let speedCap: Double
    package let deadlines: RoadDeadlines

    package init(owner: String, mode: TravelMode, speedCap: Double, deadlines: RoadDeadlines) {
        (self.owner, self.mode, self.speedCap, self.deadlines) = (owner, mode, speedCap, deadlines)
    }
}

/// A track on roads, and what the engine did for it.
package struct RoadMatch: Sendable {
    package let track: MatchedTrack
    package let state: RoadsState

    package init(_ track: MatchedTrack, _ state: RoadsState) { (self.track, self.state) = (track, state) }
}

/// The believed routes across the interruptions of a track.
package struct RoadRoutes: Sendable {
    /// One for each interruption; nil where the straight line counts.
    package let answers: [RouteAnswer?]
    /// Routes that the engine knows and that the vehicle cannot have driven.
    package let implausible: Int
    package let state: RoadsState

    package init(_ answers: [RouteAnswer?], implausible: Int = 0, _ state: RoadsState) {
        (self.answers, self.implausible, self.state) = (answers, implausible, state)
    }

    /// There was no way to ask the engine for: so it says nothing of the engine that all of them were found.
    package var isIdle: Bool { state == .used(matched: nil) && answers.allSatisfy { $0 == nil } }

    /// Metres on toll roads.
    package var toll: Double { answers.reduce(0) { $0 + ($1?.toll ?? 0) } }
}

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

/// How long a request may wait for roads: each call, and all of them together.
package struct RoadDeadlines: Hashable, Sendable {
    /// Milliseconds.
    package static let connect: Int64 = 500
    package static let call: Int64 = 2000
    package static let request: Int64 = 2500
    /// Times that, for a track that may be longer than a day.
    package static let longTimes: Int64 = 4
    /// For the latest point, which is polled.
    package static let latest: Int64 = 300

    private let end: MonotonicTime
    private let call: Int64

    package init(start: MonotonicTime, request: Int64 = Self.request, call: Int64 = Self.call) {
        end = start + request
        self.call = call
    }

    /// When a call that begins now must have ended; nil when there is no time left for one.
    package func deadline(at now: MonotonicTime) -> MonotonicTime? {
        now < end ? min(end, now + call) : nil
    }
}
