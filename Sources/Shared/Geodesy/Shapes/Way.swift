package import TrackModel

/// The way between two points: straight in unwrapped latitude and longitude, the short way round.
package struct Way: Hashable, Sendable {
    package let start: Coordinate
    package let end: Coordinate
    /// From start to end, units of 1e-7 degree.
    let eastE7: Int64
    let northE7: Int64

    package init(from start: Coordinate, to end: Coordinate) {
        self.start = start
        self.end = end
        eastE7 = ShapeFrame.wrapped(Int64(end.longitudeE7) - Int64(start.longitudeE7))
        northE7 = Int64(end.latitudeE7) - Int64(start.latitudeE7)
    }

    /// Metres between the two points.
    package var length: Double { SurfaceDistance.between(start, end) }

    /// Degrees at a share of the way, 0 ... 1. The longitude may be beyond 180.
    func degrees(at share: Double) -> Degrees {
        Degrees(
            latitude: (Double(start.latitudeE7) + share * Double(northE7)) / 1e7,
            longitude: (Double(start.longitudeE7) + share * Double(eastE7)) / 1e7)
    }

    /// The place at a share of the way, 0 ... 1, rounded to the grid.
    package func place(at share: Double) -> Coordinate {
        guard share > 0 else { return start }
        guard share < 1 else { return end }
        let latitude = Int64(start.latitudeE7) + Int64((share * Double(northE7)).rounded())
        let longitude = ShapeFrame.wrapped(Int64(start.longitudeE7) + Int64((share * Double(eastE7)).rounded()))
        return Coordinate(latitudeE7: Int32(clamping: latitude), longitudeE7: Int32(longitude)) ?? end
    }

    /// At least the length of the way, metres, on any ellipsoid within 0.7 % of the sphere.
    package var longest: Double {
        let crossesEquator = (start.latitudeE7 < 0) != (end.latitudeE7 < 0)
        let flattest = crossesEquator ? 0 : min(start.latitude.magnitude, end.latitude.magnitude)
        let (_, cosine) = Trigonometry.sineAndCosine(flattest)
        let (north, east) = (Double(northE7) / 1e7, Double(eastE7) / 1e7 * cosine)
        return (north * north + east * east).squareRoot() * 111_800
    }
}
