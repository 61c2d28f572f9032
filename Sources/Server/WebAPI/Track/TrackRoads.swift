import RoadMatching
import TrackAnalysis
import TrackModel

/// What roads tell of one reading of a track.
struct TrackRoads: Sendable {
    /// Nil when nobody asked for it, or there is no engine.
    private(set) var match: MatchedTrack?
    private(set) var routes: RoadRoutes?
    /// Nil when nobody asked for roads.
    private(set) var state: RoadsState?
    private let roads: (any Roads)?
    /// For all calls of this reading together.
    private let deadlines: RoadDeadlines?

    init(_ roads: (any Roads)?) {
        self.roads = roads
        deadlines = roads?.deadlines(.usual)
    }

    /// The same question gives the same answer as long as the map is the same.
    var isLasting: Bool {
        guard let state else { return true }
        return if case .used = state { true } else { false }
    }

    /// Metres on toll roads.
    var toll: Double { (match?.toll ?? 0) + (routes?.toll ?? 0) }

    /// Brings a cleaned track to its roads.
    mutating func match(_ samples: [TrackSample], _ option: ProcessOption, _ entity: ExactName, _ call: APICall) async {
        guard let roads, let deadlines else {
            state = .off
            return
        }
        let found = await roads.match(samples, option.errand(call, entity, deadlines))
        match = found.track
        state = found.state
    }

    /// Finds ways across the interruptions, for a mode that asks for routes. `option`: of the track; how it travels tells how
    /// fast a way may be, and the mode only which way it is.
    mutating func bridge(
        _ interruptions: [Interruption], _ mode: SupplementMode, of option: ProcessOption, _ entity: ExactName,
        _ call: APICall
    ) async {
        guard let travel = mode.travel else { return }
        guard let roads, let deadlines else {
            state = state ?? .off
            return
        }
        let errand = option.errand(call, entity, deadlines, by: travel)
        let found = await roads.routes(interruptions, errand)
        routes = found
        state = state.map { found.isIdle ? $0 : $0.with(routes: found.state) } ?? found.state
    }
}
