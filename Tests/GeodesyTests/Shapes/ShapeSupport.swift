import TrackModel

@testable import Geodesy

func metres(_ left: Degrees, _ right: Degrees) -> Double { GreatCircle.distance(from: left, to: right) }

func place(_ latitude: Double, _ longitude: Double) -> Coordinate {
    guard let place = Coordinate(latitude: latitude, longitude: longitude) else { preconditionFailure("no place") }
    return place
}

func degrees(_ pairs: [(Double, Double)]) -> [Degrees] {
    pairs.map { Degrees(latitude: $0.0, longitude: $0.1) }
}

func circle(
    _ latitude: Double, _ longitude: Double, _ radius: Double, datum: Datum = .wgs84, buffer: Double = 0
) throws -> Shape {
    let centre = Degrees(latitude: latitude, longitude: longitude)
    return try ShapeDraft(.circle(centre: centre, radius: radius), datum: datum, buffer: buffer).shape()
}

func polygon(_ rings: [(Double, Double)]..., datum: Datum = .wgs84, buffer: Double = 0) throws -> Shape {
    try ShapeDraft(.polygon([rings.map(degrees)]), datum: datum, buffer: buffer).shape()
}

func corridor(_ line: [(Double, Double)], _ offset: Double, buffer: Double = 0) throws -> Shape {
    try ShapeDraft(.corridor(degrees(line), offset: offset), buffer: buffer).shape()
}

/// The corners of a box, from the south-west one anticlockwise.
func box(_ south: Double, _ north: Double, _ west: Double, _ east: Double) -> [(Double, Double)] {
    [(south, west), (south, east), (north, east), (north, west)]
}

let smallSquare = box(40.00, 40.01, 116.00, 116.01)
let largeSquare = box(40.00, 40.02, 116.00, 116.02)
let squareHole = box(40.008, 40.012, 116.008, 116.012)
let uShape = [
    (40.0, 116.0), (40.0, 116.03), (40.02, 116.03), (40.02, 116.02), (40.01, 116.02), (40.01, 116.01), (40.02, 116.01),
    (40.02, 116.0),
]
let fiji = [(-16.9, 179.95), (-16.9, -179.95), (-16.7, -179.95), (-16.7, 179.95)]

/// One place of an oracle: degrees, the signed distance in metres, and its tolerance.
struct Oracle: Sendable, CustomStringConvertible {
    let latitude: Double
    let longitude: Double
    let signed: Double
    var tolerance = 0.002

    init(_ latitude: Double, _ longitude: Double, _ signed: Double, _ tolerance: Double = 0.002) {
        (self.latitude, self.longitude) = (latitude, longitude)
        (self.signed, self.tolerance) = (signed, tolerance)
    }

    var place: Coordinate { GeodesyTests.place(latitude, longitude) }
    var description: String { "\(latitude), \(longitude)" }
}
