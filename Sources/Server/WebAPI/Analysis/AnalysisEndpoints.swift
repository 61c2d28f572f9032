import JSON
import TrackAnalysis
import TrackStore

/// The module `analysis`: what a track tells of a drive.
enum AnalysisEndpoints {
    static let all = [stayPoints, drivingBehavior, trips]

    /// The parameters of every call here.
    static let parameters = TrackRange.parameters + ["process_option", "coord_type_output"]
}

/// The common part of this module's calls: a cleaned track, and how to show its places.
struct AnalysedTrack {
    let samples: [TrackSample]
    let writer: PlaceWriter
    private let asksForRoads: Bool
    private let holes: [TrackHole]

    /// `collapsing`: whether the drift of stops is taken out.
    init(_ call: APICall, _ store: any PointStore, collapsing: Bool) async throws {
        let range = try TrackRange(call)
        let option = ProcessOption(parsing: call.parameters["process_option"])
        writer = PlaceWriter(coordinateType: try call.outputType())
        let track = try await range.read(call, store, limit: call.options.maximumProcessedPoints)
        holes = track.holes
        asksForRoads = option.mapMatch
        samples =
            TrackCleaner.clean(
                TrackColumns(track.points.lazy.map(\.point)), option.analysisCleaning(collapsing: collapsing)
            ).samples
    }

    /// The members that every answer here ends with.
    func writeRemarks(to answer: inout JSONWriter) {
        if asksForRoads { Roads.writeOff(to: &answer) }
        holes.write(to: &answer)
    }
}
