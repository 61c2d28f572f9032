import RoadMatching
import TrackAnalysis
import TrackModel
import TrackStore

/// What is known of the road under the latest point.
struct LatestRoad: Sendable {
    /// On the road, when it is known.
    let point: TrackPoint
    /// Nil when no road is known, as for the members below.
    let label: RoadLabel?
    /// km/h
    let limit: Double?
    let state: RoadsState
}

extension LatestRoad {
    /// Milliseconds before the point that are read. The end of them is sent.
    private static let tail: Int64 = 600_000

    init(
        under shown: TrackPoint, of entity: String, _ option: ProcessOption, _ call: APICall, _ store: any PointStore
    ) async throws {
        guard let roads = call.roads else {
            self.init(point: shown, label: nil, limit: nil, state: .off)
            return
        }
        let range = TrackRange(
            service: call.service, entity: ExactName(entity), from: shown.fix.time.adding(milliseconds: -Self.tail),
            through: shown.fix.time)
        var points = try await range.readOnce(call, store, limit: call.options.maximumRawPoints).points.map(\.point)
        // The latest point may have been told ahead of its track.
        if points.last?.fix.time != shown.fix.time { points.append(shown) }
        var cleaning = option.cleaning(call.options.analysis)
        cleaning.collapsesStops = false
        let stretch = LatestStretch.samples(of: TrackCleaner.clean(TrackColumns(points), cleaning).samples)
        // The cleaning may leave out a jump that is shown all the same.
        guard stretch.last?.index == points.count - 1 else {
            self.init(point: shown, label: nil, limit: nil, state: .none)
            return
        }
        let errand = option.errand(call, range.entity, roads.deadlines(.latest))
        let match = await roads.match(stretch, errand)
        guard let road = match.track.samples.last, let edge = road.edge else {
            let state: RoadsState =
                switch match.state {
                case .unavailable, .implausible: match.state
                default: .none
                }
            self.init(point: shown, label: nil, limit: nil, state: state)
            return
        }
        self.init(
            point: ShownPoint.placed(shown, road.sample), label: RoadLabel(edge, call.options), limit: edge.limit,
            state: match.state)
    }
}
