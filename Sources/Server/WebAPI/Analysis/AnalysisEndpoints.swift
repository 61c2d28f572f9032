import JSON
import RoadMatching
import TrackAnalysis
import TrackModel
import TrackStore

/// The module `analysis`: what a track tells of a drive.
enum AnalysisEndpoints {
    static let all = [stayPoints, drivingBehavior, trips]

    /// The parameters of every call here.
    static let parameters = TrackRange.parameters + [TrackRange.long, "process_option", "coord_type_output", "explain"]
}

/// The common part of this module's calls: a cleaned track, and how to show its places.
struct AnalysedTrack {
    let samples: [TrackSample]
    let writer: PlaceWriter
    let option: ProcessOption
    private let range: TrackRange
    private let track: StoredTrack
    private let drops: DropReasons
    private let explanation: Explanation
    private let positions: PointWriter

    /// `collapsing`: whether the drift of stops is taken out.
    static func read(_ call: APICall, _ store: any PointStore, collapsing: Bool) async throws -> AnalysedTrack {
        let range = try TrackRange(call)
        let positions = try call.positionWriter()
        let explanation = try Explanation(parsing: call.parameters["explain"])
        let limit = call.options.maximumProcessedPoints
        let track = try await range.read(
            // One answer has all points that were left out.
            call, store, limit: explanation == .points ? limit : range.limit(limit, call.options))
        return AnalysedTrack(call, range, track, positions, explanation, collapsing: collapsing)
    }

    private init(
        _ call: APICall, _ range: TrackRange, _ track: StoredTrack, _ positions: PointWriter,
        _ explanation: Explanation, collapsing: Bool
    ) {
        self.range = range
        self.track = track
        self.positions = positions
        self.explanation = explanation
        option = ProcessOption(parsing: call.parameters["process_option"])
        writer = PlaceWriter(coordinateType: positions.coordinateType)
        (samples, drops) = track.cleaned(option.analysisCleaning(call.options.analysis, collapsing: collapsing))
    }

    /// The track on roads, with collapsed stops; nil when there is no engine.
    func match(_ call: APICall) async -> RoadMatch? {
        guard let roads = call.roads else { return nil }
        let cleaned = track.cleaned(option.analysisCleaning(call.options.analysis, collapsing: true)).samples
        return await roads.match(cleaned, option.context(call, range.entity, roads.deadlines(range.urgency)))
    }

    /// The members that every answer here ends with. `roads`: nil when they were not used. `breaks`: of the track's length.
    func writeRemarks(
        _ options: WebAPIOptions, roads: RoadsState? = nil, breaks: Int? = nil, to answer: inout JSONWriter
    ) {
        if let roads {
            roads.write(options, to: &answer)
        } else if option.mapMatch {
            RoadsState.off.write(options, to: &answer)
        }
        track.holes.write(to: &answer)
        guard explanation != .none else { return }
        explanation.write(
            drops.dropped.map { (track.points[$0.index].point, $0.reason) },
            breaks: breaks ?? samples.count { $0.followsBreak }, positions, to: &answer)
    }
}

extension StoredTrack {
    fileprivate func cleaned(_ options: CleaningOptions) -> (samples: [TrackSample], drops: DropReasons) {
        var samples: [TrackSample] = []
        samples.reserveCapacity(points.count)
        let drops = TrackCleaner.clean(points.points, options) { samples.append($0) }
        return (samples, drops)
    }
}

extension AnalysisEndpoints {
    /// Metres of `stay_radius`, as published.
    private static let radii = 1.0...500.0

    /// `analysis/staypoint`
    static let stayPoints = Endpoint(
        "analysis/staypoint", .get, parameters + ["stay_time", "stay_radius"], about: \.namedEntity
    ) { (call, store: any PointStore) in
        let rule = try rule(call.parameters)
        let track = try await AnalysedTrack.read(call, store, collapsing: false)
        var finder = StayFinder(rule, in: track.samples)
        while finder.step() { await Task.yield() }
        let stays = finder.stays()
        return Answer { answer in
            answer.member("staypoint_num", stays.count)
            answer.array("stay_points") { list in
                for stay in stays { list.object { write(stay, track.writer, to: &$0) } }
            }
            track.writeRemarks(call.options, to: &answer)
        }
    }

    /// Clients send 0 for what they leave open.
    private static func rule(_ parameters: Parameters) throws(APIFailure) -> StayRule {
        var seconds = try parameters.integer("stay_time") ?? 0
        var radius = try parameters.double("stay_radius") ?? 0
        if seconds <= 0 { seconds = 600 }
        if radius <= 0 { radius = 20 }
        // Longer than any track; in milliseconds it is a number yet.
        seconds = min(seconds, 1 << 40)
        guard radii.contains(radius) else { throw APIFailure(.parameter, "stay_radius is 1 to 500 metres") }
        return .stay(radius: radius, seconds: seconds)
    }

    private static func write(_ stay: StayPoint, _ writer: PlaceWriter, to object: inout JSONWriter) {
        object.member("start_time", stay.start.seconds)
        object.member("end_time", stay.end.seconds)
        object.member("duration", stay.duration)
        object.object("stay_point") { writer.write(stay.place, to: &$0) }
        writeOpen(start: stay.isOpenAtStart, end: stay.isOpenAtEnd, to: &object)
    }

    /// `open`, an addition to the published API: the range cuts the stay or the trip.
    static func writeOpen(start: Bool, end: Bool, to object: inout JSONWriter) {
        switch (start, end) {
        case (true, true): object.member("open", "both")
        case (true, false): object.member("open", "start")
        case (false, true): object.member("open", "end")
        case (false, false): break
        }
    }

    /// `analysis/trips`, an addition to the published API.
    static let trips = Endpoint("analysis/trips", .get, parameters, about: \.namedEntity) {
        (call, store: any PointStore) in
        // With collapsed stops the trips add up to the track's distance.
        let track = try await AnalysedTrack.read(call, store, collapsing: true)
        let trips = TripFinder.trips(in: track.samples)
        return Answer { answer in
            answer.member("trip_num", trips.count)
            answer.array("trips") { list in
                for trip in trips { list.object { write(trip, track.writer, to: &$0) } }
            }
            track.writeRemarks(call.options, to: &answer)
        }
    }

    private static func write(_ trip: Trip, _ writer: PlaceWriter, to object: inout JSONWriter) {
        object.member("start_time", trip.start.timestamp.seconds)
        object.member("end_time", trip.end.timestamp.seconds)
        object.member("duration", trip.duration)
        object.name("distance")
        object.rounded(trip.distance, digits: 4)
        object.name("unrecorded_distance")
        object.rounded(trip.unrecorded, digits: 4)
        if let speed = trip.maximumSpeed {
            object.name("max_speed")
            object.rounded(speed, digits: 3)
        }
        object.object("start_point") { writer.write(trip.start.place, to: &$0) }
        object.object("end_point") { writer.write(trip.end.place, to: &$0) }
        writeOpen(start: trip.isOpenAtStart, end: trip.isOpenAtEnd, to: &object)
    }
}
