import Geodesy
import TrackModel
import TrackTestKit

@testable import RoadMatching
@testable import TrackAnalysis

/// A sample at a place of the made road: metres along it, and metres to its left.
func sample(
    _ index: Int, _ seconds: Double, along: Double, left: Double = 0, speed: Double? = nil, radius: Double? = nil
) -> TrackSample {
    let place = MadeRoad.place(along, left: left)
    return TrackSample(
        index: index, time: 1_767_600_000_000 + Int64((seconds * 1000).rounded()),
        latitudeE7: Int32((place.latitude * 1e7).rounded()), longitudeE7: Int32((place.longitude * 1e7).rounded()),
        speed: speed.map { Int32($0 * 100) }, accuracy: radius.map { Int32($0 * 10) })
}

extension RoadReply {
    init(_ text: String, status: Int = 200) { self.init(status: status, body: Array(text.utf8)) }
}
