package import TrackModel

/// All places within a distance of a centre. It may contain a pole.
package struct CircleShape: Hashable, Sendable {
    package let centre: Coordinate
    /// Metres, above 0.
    package let radius: Double
    /// True when the plane around the centre is good enough to begin a search in.
    private let isSmall: Bool

    init(centre: Coordinate, radius: Double) {
        self.centre = centre
        self.radius = radius
        isSmall = radius <= 10_000 && centre.latitude.magnitude <= 75
    }

    /// Metres, negative inside.
    @inline(__always)
    package func signedDistance(to place: Coordinate) -> Double {
        SurfaceDistance.between(centre, place) - radius
    }

    func parts(of way: Way) -> [ClosedRange<Double>] {
        let middle = Degrees(centre)
        let signed = { (share: Double) in SurfaceDistance.between(middle, way.degrees(at: share)) - radius }
        guard isSmall, way.longest < 200_000 else {
            return PassageSearch.parts(length: way.longest, signedDistance: signed)
        }
        let nearest = nearest(of: way)
        let (start, end) = (signed(0), signed(1))
        var deepest = (share: nearest, value: signed(nearest))
        if start < deepest.value { deepest = (0, start) }
        if end < deepest.value { deepest = (1, end) }
        guard deepest.value <= 0 else { return [] }
        let entry = start <= 0 ? 0 : PassageSearch.root(0, start, deepest.share, deepest.value, of: signed)
        let exit = end <= 0 ? 1 : PassageSearch.root(deepest.share, deepest.value, 1, end, of: signed)
        return entry < exit ? [entry...exit] : []
    }

    /// The share of a way that is nearest to the centre, in the plane around the centre.
    private func nearest(of way: Way) -> Double {
        let scale = Ellipsoid.metresPerDegree(at: centre.latitude)
        let (east, north) = (scale.east / 1e7, scale.north / 1e7)
        let x = Double(ShapeFrame.wrapped(Int64(way.start.longitudeE7) - Int64(centre.longitudeE7))) * east
        let y = Double(Int64(way.start.latitudeE7) - Int64(centre.latitudeE7)) * north
        let (alongX, alongY) = (Double(way.eastE7) * east, Double(way.northE7) * north)
        let square = alongX * alongX + alongY * alongY
        return square > 0 ? min(max(-(x * alongX + y * alongY) / square, 0), 1) : 0
    }
}
