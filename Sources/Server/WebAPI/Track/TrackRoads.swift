import JSON
import RoadMatching
import TrackAnalysis
import TrackModel
import TrackStore

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

    init(_ roads: (any Roads)?, for range: TrackRange) {
        self.roads = roads
        deadlines = roads?.deadlines(range.urgency)
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
        let found = await roads.match(samples, option.context(call, entity, deadlines))
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
        let context = option.context(call, entity, deadlines, by: travel)
        let found = await roads.routes(interruptions, context)
        routes = found
        state = state.map { found.isIdle ? $0 : $0.with(routes: found.state) } ?? found.state
    }
}

extension TrackRange {
    var urgency: RoadUrgency { isLong ? .long : .usual }
}

extension RoadsState {
    /// The member `roads` of an answer: what roads did for it.
    ///
    /// `implausible`: how many ways the engine knows that the vehicle cannot have driven.
    func write(_ options: WebAPIOptions, implausible: Int = 0, to object: inout JSONWriter) {
        object.object("roads") {
            $0.member("state", name)
            if let matched {
                $0.name("matched")
                $0.rounded(matched, digits: 3)
            }
            if let reason { $0.member("reason", reason) }
            if implausible > 0 { $0.member("implausible_routes", implausible) }
            switch self {
            case .used, .partly:
                if !options.roadAttribution.isEmpty { $0.member("attribution", options.roadAttribution) }
            case .none, .implausible, .noWay, .off, .unavailable: break
            }
        }
    }
}

/// What an answer says of the road under a point.
struct RoadLabel: Hashable, Sendable {
    let name: String?
    /// In the words of the published service, which gives no list of them.
    let grade: String?

    init(_ edge: RoadEdge, _ options: WebAPIOptions) {
        name = edge.name
        grade = options.showsRoadGrades ? edge.roadClass.map(Self.grade) : nil
    }

    private static func grade(_ roadClass: RoadClass) -> String {
        switch roadClass {
        case .motorway: "高速公路"
        case .trunk: "快速路"
        case .primary: "主干路"
        case .secondary: "次干路"
        case .tertiary, .unclassified, .residential: "支路"
        case .serviceOther: "其他"
        }
    }

    func write(to object: inout JSONWriter) {
        if let grade { object.member("road_grade", grade) }
        if let name { object.member("road_name", name) }
    }
}

extension ProcessOption {
    /// For whom this track is brought to its roads. `mode`: how a way is sought, if not as the track's entity travels.
    func context(
        _ call: APICall, _ entity: ExactName, _ deadlines: RoadDeadlines, by mode: TravelMode? = nil
    ) -> RoadRequestContext {
        RoadRequestContext(
            owner: "\(call.service.rawValue)/\(entity.text)", mode: mode ?? travel,
            speedCap: travel.speedCap(driving: call.options.analysis.metresASecond), deadlines: deadlines)
    }
}
