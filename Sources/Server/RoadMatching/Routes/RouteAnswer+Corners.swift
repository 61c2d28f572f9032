internal import Geodesy
package import TrackAnalysis

extension RouteAnswer {
    /// The corners of the route between two samples, with times as their lengths are.
    package func corners(from start: TrackSample, to end: TrackSample) -> [RoadVertex] {
        let lengths = PathLengths(shape.map { EarthVector($0) })
        guard let total = lengths.cumulative.last, total > 0 else { return [] }
        return lengths.between(0, total).map { metres, place in
            RoadVertex(place.degrees, share: metres / total, from: start, to: end)
        }
    }
}
