package import TrackAnalysis

/// What the Web API asks of a road engine. Nothing here fails: without an answer the caller has its track as it was, and
/// the state says why.
package protocol Roads: Sendable {
    /// When the calls for a request that begins now must have ended. One request uses one value for all its calls.
    func deadlines(_ urgency: RoadUrgency) -> RoadDeadlines

    /// The roads under a cleaned track.
    func match(_ samples: [TrackSample], _ errand: RoadErrand) async -> RoadMatch

    /// Ways across the interruptions of a track.
    func routes(_ interruptions: [Interruption], _ errand: RoadErrand) async -> RoadRoutes
}

/// How long the asker can wait.
package enum RoadUrgency: Hashable, Sendable {
    case usual
    /// For the latest point, which is polled.
    case latest
}

/// For whom roads are asked.
package struct RoadErrand: Hashable, Sendable {
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
