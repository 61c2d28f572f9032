import Geodesy
import JSON
import TrackModel

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

/// A straight road eastwards at 47° N, in edges of 100 m with a corner in the middle of each.
enum MadeRoad {
    static let edge = 100.0

    static func place(_ along: Double, left: Double = 0) -> Degrees {
        let place = GreatCircle.destination(
            from: Degrees(latitude: 47, longitude: 9), bearing: 90, distance: along)
        return left == 0 ? place : GreatCircle.destination(from: place, bearing: 0, distance: left)
    }
}

/// Google's encoding, six decimals.
func encoded(_ places: [Degrees]) -> String {
    var text = ""
    var (latitude, longitude): (Int64, Int64) = (0, 0)
    func append(_ value: Int64) {
        var rest = value < 0 ? ~(value << 1) : value << 1
        while rest >= 32 {
            text.unicodeScalars.append(Unicode.Scalar(UInt8(rest & 31 | 32) + 63))
            rest >>= 5
        }
        text.unicodeScalars.append(Unicode.Scalar(UInt8(rest) + 63))
    }
    for place in places {
        let here = (Int64((place.latitude * 1e6).rounded()), Int64((place.longitude * 1e6).rounded()))
        append(here.0 - latitude)
        append(here.1 - longitude)
        (latitude, longitude) = here
    }
    return text
}

extension RoadReply {
    init(_ value: JSONValue, status: Int = 200) {
        var writer = JSONWriter()
        writer.value(value)
        self.init(status: status, body: writer.bytes)
    }

    init(_ text: String, status: Int = 200) { self.init(status: status, body: Array(text.utf8)) }
}
