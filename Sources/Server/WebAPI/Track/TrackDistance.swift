import Geodesy
import TrackModel

/// The length of a track: great circles between neighbours.
struct TrackDistance {
    /// Two points this far apart in time are an interruption.
    static let interruption: Int64 = 300_000

    /// Metres.
    private(set) var total = 0.0
    /// Metres travelled below the threshold.
    private(set) var slow = 0.0

    /// Points ascend in time; the threshold is km/h.
    ///
    /// Without a map of roads the route across an interruption is taken as the straight line.
    init(_ points: some Sequence<TrackPoint>, supplement: SupplementMode, slowBelow threshold: Double? = nil) {
        var previous: (place: Degrees, time: Timestamp)?
        for point in points {
            let here = (place: Place(point).wgs84, time: point.fix.time)
            defer { previous = here }
            guard let previous else { continue }
            let span = here.time.milliseconds(since: previous.time)
            if span >= Self.interruption, supplement == .none { continue }
            let length = GreatCircle.distance(from: previous.place, to: here.place)
            total += length
            guard let threshold else { continue }
            let speed = point.fix.speed.map { Double($0) * 0.036 } ?? (span > 0 ? length / Double(span) * 3600 : 0)
            if speed < threshold { slow += length }
        }
    }
}
