internal import Glibc
package import TrackModel

/// Distances on the WGS 84 ellipsoid that are exact enough for verdicts.
package enum SurfaceDistance {
    /// Metres between two places: Gauss' mid-latitude formula where its error stays below 9 mm, the geodesic elsewhere.
    ///
    /// The formula's error is at most 0.5 mm at 5 km and 4 mm at 10 km up to 60 degrees of latitude, 9 mm at 10 km and 70
    /// degrees, 5 mm at 5 km and 80 degrees.
    package static func between(_ start: Degrees, _ end: Degrees) -> Double {
        let planar = midLatitude(start, end)
        let isNear = planar <= reach(at: (start.latitude + end.latitude) / 2)
        return isNear ? planar : Geodesic.distance(from: start, to: end)
    }

    /// Metres between two places in WGS 84.
    package static func between(_ start: Coordinate, _ end: Coordinate) -> Double {
        between(Degrees(start), Degrees(end))
    }

    /// The longest distance in metres for which the mid-latitude formula serves; below 0 where it never does.
    @inline(__always)
    static func reach(at latitude: Double) -> Double {
        let size = latitude.magnitude
        return size <= 70 ? 10_000 : size <= 80 ? 5000 : -1
    }

    @inline(__always)
    static func midLatitude(_ start: Degrees, _ end: Degrees) -> Double {
        let scale = Ellipsoid.metresPerDegree(at: (start.latitude + end.latitude) / 2)
        let north = (end.latitude - start.latitude) * scale.north
        let east = shortWay(end.longitude - start.longitude) * scale.east
        return (north * north + east * east).squareRoot()
    }

    /// A difference of longitudes, the short way round.
    @inline(__always)
    static func shortWay(_ degrees: Double) -> Double {
        degrees.magnitude <= 180 ? degrees : remainder(degrees, 360)
    }
}

extension Degrees {
    package init(_ coordinate: Coordinate) {
        self.init(latitude: coordinate.latitude, longitude: coordinate.longitude)
    }
}

/// Lengths of shortest ways on the ellipsoid, for places that are far apart or near a pole.
enum Geodesic {
    /// Degrees of arc up to which the iteration converges for every pair of places.
    private static let convergent = 175.0

    /// Metres between two places, with an error below 1 mm; of nearly opposite places, below 1 m.
    ///
    /// T. Vincenty, Survey Review XXIII 176, 1975. The iteration converges for every pair of places that are not nearly
    /// opposite, so for every place that could be inside a fence.
    static func distance(from start: Degrees, to end: Degrees) -> Double {
        let sphere = GreatCircle.distance(from: start, to: end)
        guard sphere > 0 else { return 0 }
        if sphere < GreatCircle.earthRadius * .pi * convergent / 180, let length = converged(from: start, to: end) {
            return length
        }
        return byMiddle(from: start, to: end)
    }

    /// The shortest of the ways between nearly opposite places.
    ///
    /// Every way between them crosses the circle of the places that are a quarter of the earth from the start. The
    /// geodesic is the shortest of the ways over these places, and both of their halves are far from opposite.
    private static func byMiddle(from start: Degrees, to end: Degrees) -> Double {
        func length(_ bearing: Double) -> Double {
            let middle = GreatCircle.destination(
                from: start, bearing: bearing, distance: GreatCircle.earthRadius * .pi / 2)
            return (converged(from: start, to: middle) ?? 0) + (converged(from: middle, to: end) ?? 0)
        }
        let coarse = (0..<72).map { ($0, length(Double($0) * 5)) }
        let best = coarse.min { $0.1 < $1.1 }?.0 ?? 0
        var (low, high) = (Double(best) * 5 - 5, Double(best) * 5 + 5)
        for _ in 0..<40 {
            let third = (high - low) / 3
            if length(low + third) < length(high - third) { high -= third } else { low += third }
        }
        return length((low + high) / 2)
    }

    private static func converged(from start: Degrees, to end: Degrees) -> Double? {
        let flattening = Ellipsoid.flattening
        let (sine1, cosine1) = reducedLatitude(start.latitude)
        let (sine2, cosine2) = reducedLatitude(end.latitude)
        let difference = remainder(end.longitude - start.longitude, 360) * (Double.pi / 180)
        var lambda = difference
        for _ in 0..<100 {
            let (sineLambda, cosineLambda) = (sin(lambda), cos(lambda))
            let side = cosine2 * sineLambda
            let up = cosine1 * sine2 - sine1 * cosine2 * cosineLambda
            let sineSigma = (side * side + up * up).squareRoot()
            guard sineSigma > 0 else { return 0 }
            let cosineSigma = sine1 * sine2 + cosine1 * cosine2 * cosineLambda
            let sigma = atan2(sineSigma, cosineSigma)
            let sineAlpha = cosine1 * cosine2 * sineLambda / sineSigma
            let cosineAlpha2 = 1 - sineAlpha * sineAlpha
            // On the equator the middle is nowhere, and its factor is 0.
            let middle = cosineAlpha2 > 1e-15 ? cosineSigma - 2 * sine1 * sine2 / cosineAlpha2 : 0
            let c = flattening / 16 * cosineAlpha2 * (4 + flattening * (4 - 3 * cosineAlpha2))
            let inner = middle + c * cosineSigma * (2 * middle * middle - 1)
            let next = difference + (1 - c) * flattening * sineAlpha * (sigma + c * sineSigma * inner)
            let step = (next - lambda).magnitude
            lambda = next
            guard step < 1e-12 else { continue }
            let ratio = Ellipsoid.semiMajorAxis / Ellipsoid.semiMinorAxis
            let u2 = cosineAlpha2 * (ratio * ratio - 1)
            let a = 1 + u2 / 16_384 * (4096 + u2 * (u2 * (320 - 175 * u2) - 768))
            let b = u2 / 1024 * (256 + u2 * (u2 * (74 - 47 * u2) - 128))
            let third = b / 6 * middle * (4 * sineSigma * sineSigma - 3) * (4 * middle * middle - 3)
            let second = b / 4 * (cosineSigma * (2 * middle * middle - 1) - third)
            return Ellipsoid.semiMinorAxis * a * (sigma - b * sineSigma * (middle + second))
        }
        return nil
    }

    /// Sine and cosine of the latitude on the auxiliary sphere.
    private static func reducedLatitude(_ latitude: Double) -> (sine: Double, cosine: Double) {
        let (sine, cosine) = Trigonometry.sineAndCosine(latitude)
        let flat = (1 - Ellipsoid.flattening) * sine
        let length = (flat * flat + cosine * cosine).squareRoot()
        return (flat / length, cosine / length)
    }
}

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

/// Sine and cosine from additions and multiplications only.
///
/// The C library's functions may differ in the last bit between two machines. A fence is judged on the vehicle and at the
/// server, and both must come to the same verdict, so the verdict uses these functions.
enum Trigonometry {
    /// Sine and cosine of an angle in degrees within -90...90, with an error of about one unit in the last place.
    @inline(__always)
    static func sineAndCosine(_ degrees: Double) -> (sine: Double, cosine: Double) {
        let size = degrees.magnitude
        let isSteep = size > 45
        // The subtraction is exact: both numbers are within a factor of two.
        let (sine, cosine) = reduced((isSteep ? 90 - size : size) * (Double.pi / 180))
        let (upright, flat) = isSteep ? (cosine, sine) : (sine, cosine)
        return (degrees < 0 ? -upright : upright, flat)
    }

    /// Taylor's series for an angle in radians within 0...pi / 4. The first term left out is below 1e-17.
    @inline(__always)
    private static func reduced(_ angle: Double) -> (sine: Double, cosine: Double) {
        let square = angle * angle
        var sine = 1 / 355_687_428_096_000.0
        sine = sine * square - 1 / 1_307_674_368_000.0
        sine = sine * square + 1 / 6_227_020_800.0
        sine = sine * square - 1 / 39_916_800.0
        sine = sine * square + 1 / 362_880.0
        sine = sine * square - 1 / 5040.0
        sine = sine * square + 1 / 120.0
        sine = sine * square - 1 / 6.0
        var cosine = 1 / 20_922_789_888_000.0
        cosine = cosine * square - 1 / 87_178_291_200.0
        cosine = cosine * square + 1 / 479_001_600.0
        cosine = cosine * square - 1 / 3_628_800.0
        cosine = cosine * square + 1 / 40_320.0
        cosine = cosine * square - 1 / 720.0
        cosine = cosine * square + 1 / 24.0
        cosine = cosine * square - 1 / 2.0
        return (angle + angle * square * sine, 1 + square * cosine)
    }
}
