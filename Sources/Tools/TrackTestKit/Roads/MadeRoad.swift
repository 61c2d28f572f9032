package import Geodesy
package import JSON
package import RoadMatching

/// A straight road eastwards at 47° N, in edges of 100 m with a corner in the middle of each.
package enum MadeRoad {
    package static let edge = 100.0
    private static let begin = Degrees(latitude: 47, longitude: 9)
    /// Metres on the sphere of a metre on the ellipsoid, eastwards from the begin.
    static let onSphere =
        1000 / SurfaceDistance.between(begin, GreatCircle.destination(from: begin, bearing: 90, distance: 1000))

    package static func place(_ along: Double, left: Double = 0) -> Degrees {
        let place = GreatCircle.destination(from: begin, bearing: 90, distance: along * onSphere)
        return left == 0 ? place : GreatCircle.destination(from: place, bearing: 0, distance: left)
    }
}

/// Google's encoding, six decimals.
package func encoded(_ places: [Degrees]) -> String {
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
    package init(_ value: JSONValue, status: Int = 200) {
        var writer = JSONWriter()
        writer.value(value)
        self.init(status: status, body: writer.bytes)
    }

    /// What the engine says when it knows no roads there.
    package static let nothingMatched = RoadReply(
        .object(["error_code": .integer(444), "error": .string("Map Match algorithm failed to find path")]), status: 400
    )
}
