/// The WGS 84 ellipsoid (NGA.STND.0036): its axes and its radii of curvature.
enum Ellipsoid {
    /// Metres.
    static let semiMajorAxis = 6_378_137.0
    static let flattening = 1 / 298.257_223_563
    static let semiMinorAxis = semiMajorAxis * (1 - flattening)
    static let eccentricitySquared = flattening * (2 - flattening)

    /// Metres for a degree to the north and for a degree to the east, at a latitude in degrees.
    @inline(__always)
    static func metresPerDegree(at latitude: Double) -> (north: Double, east: Double) {
        let (sine, cosine) = Trigonometry.sineAndCosine(latitude)
        let square = 1 - eccentricitySquared * sine * sine
        let normal = semiMajorAxis / square.squareRoot()
        let meridian = normal * (1 - eccentricitySquared) / square
        let radian = Double.pi / 180
        return (meridian * radian, normal * cosine * radian)
    }
}
