internal import Glibc

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
