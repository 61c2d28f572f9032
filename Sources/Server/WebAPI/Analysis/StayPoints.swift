import JSON
import TrackAnalysis
import TrackModel
import TrackStore

extension AnalysisEndpoints {
    /// Metres of `stay_radius`, as published.
    private static let radii = 1.0...500.0

    /// `analysis/staypoint`
    static let stayPoints = Endpoint(
        "analysis/staypoint", .get, parameters + ["stay_time", "stay_radius"], about: \.namedEntity
    ) { (call, store: any PointStore) in
        let rule = try rule(call.parameters)
        let track = try await AnalysedTrack.read(call, store, collapsing: false)
        let stays = StayFinder.stays(rule, in: track.samples)
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
        // No stay is longer than the longest range.
        seconds = min(seconds, TrackRange.maximum + 1)
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
}
