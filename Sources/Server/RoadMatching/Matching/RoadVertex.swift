package import Geodesy
package import TrackAnalysis
package import TrackModel

/// A corner of the road between two samples: the Web API's point with `_supplement`.
package struct RoadVertex: Hashable, Sendable {
    /// WGS 84.
    package let place: Degrees
    /// Between the times of the samples, as the length is.
    package let time: Timestamp

    /// The corner as a sample of a line.
    package func sample(index: Int) -> TrackSample {
        TrackSample(index: index, time: time.milliseconds, latitudeE7: 0, longitudeE7: 0).moved(to: place)
    }

    /// The corner at a share of the way between two samples.
    init(_ place: Degrees, share: Double, from start: TrackSample, to end: TrackSample) {
        self.place = place
        // Neighbours are at most some years apart; times beyond that come from outside and must not trap.
        let span = Double(max(0, min(end.milliseconds(since: start), 1 << 50)))
        time = start.timestamp.adding(milliseconds: Int64((span * max(0, min(1, share))).rounded()))
    }
}
