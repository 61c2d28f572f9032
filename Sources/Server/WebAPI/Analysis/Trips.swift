import JSON
import TrackAnalysis
import TrackModel
import TrackStore

extension AnalysisEndpoints {
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
