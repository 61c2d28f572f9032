import JSON
import RoadMatching
import TrackAnalysis
import TrackModel
import TrackStore

/// The module `analysis`: what a track tells of a drive.
enum AnalysisEndpoints {
    static let all = [stayPoints, drivingBehavior, trips]

    /// The parameters of every call here.
    static let parameters = TrackRange.parameters + ["process_option", "coord_type_output", "explain"]
}

/// The common part of this module's calls: a cleaned track, and how to show its places.
struct AnalysedTrack {
    let samples: [TrackSample]
    let writer: PlaceWriter
    let option: ProcessOption
    private let range: TrackRange
    private let columns: TrackColumns
    private let track: StoredTrack
    private let drops: DropLedger
    private let explanation: Explanation
    private let positions: PointWriter

    /// `collapsing`: whether the drift of stops is taken out.
    static func read(_ call: APICall, _ store: any PointStore, collapsing: Bool) async throws -> AnalysedTrack {
        let range = try TrackRange(call)
        let positions = try call.positionWriter()
        let explanation = try Explanation(parsing: call.parameters["explain"])
        let track = try await range.read(call, store, limit: call.options.maximumProcessedPoints)
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
        columns = TrackColumns(track.points.points)
        (samples, drops) = TrackCleaner.clean(
            columns, option.analysisCleaning(call.options.analysis, collapsing: collapsing))
    }

    /// The track on roads, with collapsed stops; nil when there is no engine.
    func match(_ call: APICall) async -> RoadMatch? {
        guard let roads = call.roads else { return nil }
        let cleaned = TrackCleaner.clean(columns, option.analysisCleaning(call.options.analysis, collapsing: true))
            .samples
        return await roads.match(cleaned, option.errand(call, range.entity, roads.deadlines(.usual)))
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
