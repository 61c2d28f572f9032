import JSON
import RoadMatching
import TrackAnalysis
import TrackModel
import TrackStore

extension TrackEndpoints {
    /// `track/getlatestpoint`
    static let latestPoint = Endpoint(
        "track/getlatestpoint", .get, ["entity_name", "coord_type_output", "process_option", "explain"],
        about: \.namedEntity
    ) { (call, store: any EntityStore & PointStore & ColumnStore) in
        let name = try call.entityName()
        let points = try await call.pointWriter(store)
        let option = ProcessOption(parsing: call.parameters["process_option"])
        let explanation = try Explanation(parsing: call.parameters["explain"])
        guard let record = try await store.entity(named: name, in: call.service) else { throw APIFailure(.noEntity) }
        guard let latest = record.latest else {
            return Answer { $0.object("latest_point") { PointWriter.writeNothing(to: &$0) } }
        }
        let reading = try await LatestReading(of: name, latest: latest.point, option, call, store)
        let road = option.mapMatch ? try await LatestRoad(under: reading.point, of: name, option, call, store) : nil
        return Answer { answer in
            answer.object("latest_point") {
                points.write(road?.point ?? reading.point, to: &$0)
                ShownPoint.Processing(travel: reading.travel, road: road?.label).write(reading.point.fix, to: &$0)
            }
            if let limit = road?.limit { answer.member("limit_speed", limit) }
            road?.state.write(call.options, to: &answer)
            explanation.write(reading.dropped, points, to: &answer)
        }
    }
}

/// Which point of an entity is shown as its latest.
struct LatestReading: Sendable {
    let point: TrackPoint
    /// How the entity travels at the point; nil when the client has said how it travels.
    let travel: TravelKind?
    /// Why later points are not shown, in the order of the track.
    let dropped: [(point: TrackPoint, reason: DropReason)]
}

extension LatestReading {
    /// Milliseconds before the latest point that are read to judge it: ten minutes, and a day when nothing in them passes.
    private static let tails: [Int64] = [600_000, 86_400_000]
    /// Points of one tail. The operator's limits are those of a range that the client has chosen: here it has chosen none.
    private static let mostPoints = 200_000
    /// Points that are judged, however old they are, when nothing of the last day passes.
    private static let lastPoints = 200

    /// The newest point that the cleaning keeps. It is sought in the last day and in the last 200 points; where it keeps
    /// nothing, the newest of all is shown.
    init(
        of name: String, latest: TrackPoint, _ option: ProcessOption, _ call: APICall, _ store: any PointStore
    ) async throws {
        guard option.cleaning(call.options.analysis) != CleaningOptions() else {
            self.init(latest, option, call)
            return
        }
        for span in Self.tails {
            let range = TrackRange(
                service: call.service, entity: ExactName(name), from: latest.fix.time.adding(milliseconds: -span),
                through: latest.fix.time)
            let tail: [TrackPoint]
            do {
                tail = try await range.readOnce(call, store, limit: Self.mostPoints).points.map(\.point)
            } catch let error as TrackStoreError where error.code == .tooManyPoints {
                self.init(latest, option, call)
                return
            }
            if let reading = LatestReading(tail, upTo: latest, option, call) {
                self = reading
                return
            }
            if span == Self.tails.last, tail.count >= Self.lastPoints {
                self.init(latest, option, call)
                return
            }
        }
        let track = try await store.lastPoints(of: name, in: call.service, count: Self.lastPoints)
        call.note(track.holes)
        let last = track.points.map(\.point).filter { $0.fix.time <= latest.fix.time }
        self = LatestReading(last, upTo: latest, option, call) ?? LatestReading(latest, option, call)
    }

    /// The newest point, unjudged.
    private init(_ latest: TrackPoint, _ option: ProcessOption, _ call: APICall) {
        let columns = TrackColumns([latest])
        point = latest
        travel = option.kinds(of: [columns.sample(at: 0, index: 0)], call.options.analysis)?.last
        dropped = []
    }

    /// Nil when the cleaning keeps no point of the tail. The latest point may have been told ahead of its track.
    private init?(_ tail: [TrackPoint], upTo latest: TrackPoint, _ option: ProcessOption, _ call: APICall) {
        let tail = tail.last?.fix.time == latest.fix.time ? tail : tail + [latest]
        let columns = TrackColumns(tail)
        let cleaning = option.cleaning(call.options.analysis)
        var options = cleaning
        options.collapsesStops = false
        let (samples, drops) = TrackCleaner.clean(columns, options)
        guard !samples.isEmpty,
            let shown = LatestPoint.index(in: columns, options, now: call.now.milliseconds)
        else { return nil }
        var track = samples.filter { $0.index <= shown }
        if track.last?.index != shown { track.append(columns.sample(at: shown, index: shown)) }
        var ignored = DropReasons()
        if cleaning.collapsesStops { track = StopCollapse.apply(StopCollapse(), to: track, &ignored) }
        point = tail[shown]
        travel = option.kinds(of: track, call.options.analysis)?.last
        dropped = drops.dropped.filter { $0.index > shown }.map { (tail[$0.index], $0.reason) }
    }
}

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
        let context = option.context(call, range.entity, roads.deadlines(.latest))
        let match = await roads.match(stretch, context)
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
