internal import Glibc

/// Lengths of shortest ways on the ellipsoid, for places that are far apart or near a pole.
enum Geodesic {
    /// Metres between two places, with an error below 1 mm; from 175 degrees of arc on the great circle's length, which
    /// differs by at most 0.6 %.
    ///
    /// T. Vincenty, Survey Review XXIII 176, 1975. The iteration converges for every pair of places that are not nearly
    /// opposite, so for every place that could be inside a fence.
    static func distance(from start: Degrees, to end: Degrees) -> Double {
        let sphere = GreatCircle.distance(from: start, to: end)
        guard sphere > 0 else { return 0 }
        guard sphere < GreatCircle.earthRadius * .pi * 175 / 180 else { return sphere }
        return converged(from: start, to: end) ?? sphere
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
