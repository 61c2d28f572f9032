internal import Glibc

/// Distances and directions on a sphere. They differ from the ellipsoid by at most 0.6 % and are cheap.
package enum GreatCircle {
    /// Mean radius R1 of the WGS 84 ellipsoid, metres: (2a + b) / 3 (Moritz, Geodetic Reference System 1980).
    package static let earthRadius = 6_371_008.7714

    /// Metres along the great circle, never negative. Accurate for any two places, even for opposite ones.
    ///
    /// This is the Vincenty formula for a sphere. The haversine formula loses digits near the antipode, and the cosine
    /// rule loses digits for places close to each other.
    package static func distance(from start: Degrees, to end: Degrees) -> Double {
        let (sine1, cosine1) = sineAndCosine(start.latitude)
        let (sine2, cosine2) = sineAndCosine(end.latitude)
        let difference = radians(end.longitude - start.longitude)
        // One minus the cosine of a small angle, without losing digits.
        let halfSine = sin(difference / 2)
        let versine = 2 * halfSine * halfSine
        let east = cosine2 * sin(difference)
        let north = sin(radians(end.latitude - start.latitude)) + sine1 * cosine2 * versine
        let along = sine1 * sine2 + cosine1 * cosine2 * (1 - versine)
        return earthRadius * atan2((east * east + north * north).squareRoot(), along)
    }

    /// The direction at `start` towards `end`, degrees from true north, 0 ..< 360; 0 when both are the same place.
    package static func bearing(from start: Degrees, to end: Degrees) -> Double {
        let (sine1, _) = sineAndCosine(start.latitude)
        let (_, cosine2) = sineAndCosine(end.latitude)
        let difference = radians(end.longitude - start.longitude)
        let halfSine = sin(difference / 2)
        let east = cosine2 * sin(difference)
        let north = sin(radians(end.latitude - start.latitude)) + sine1 * cosine2 * 2 * halfSine * halfSine
        let bearing = atan2(east, north) * (180 / Double.pi)
        let wrapped = bearing < 0 ? bearing + 360 : bearing
        return wrapped >= 360 ? 0 : wrapped
    }

    /// The place `distance` metres along the great circle that leaves `start` at `bearing` degrees.
    ///
    /// The longitude is within -180 ..< 180.
    package static func destination(from start: Degrees, bearing: Double, distance: Double) -> Degrees {
        let (sine1, cosine1) = sineAndCosine(start.latitude)
        let (sineBearing, cosineBearing) = sineAndCosine(bearing)
        let angle = distance / earthRadius
        let (sineAngle, cosineAngle) = (sin(angle), cos(angle))
        // The place as a vector in the plane of the start's meridian: upwards, sidewards, outwards.
        let up = sine1 * cosineAngle + cosine1 * sineAngle * cosineBearing
        let side = sineBearing * sineAngle
        let out = cosine1 * cosineAngle - sine1 * sineAngle * cosineBearing
        let latitude = atan2(up, (side * side + out * out).squareRoot()) * (180 / Double.pi)
        let longitude = remainder(start.longitude + atan2(side, out) * (180 / Double.pi), 360)
        return Degrees(latitude: latitude, longitude: longitude >= 180 ? longitude - 360 : longitude)
    }

    private static func radians(_ degrees: Double) -> Double { degrees * (Double.pi / 180) }

    private static func sineAndCosine(_ degrees: Double) -> (sine: Double, cosine: Double) {
        let angle = radians(degrees)
        return (sin(angle), cos(angle))
    }
}
