internal import Glibc

/// A place on the sphere of ``GreatCircle``, or the difference of two places, as a vector from the earth's centre,
/// metres.
///
/// The x axis points to 0° N 0° E, the y axis to 0° N 90° E, the z axis to the north pole. So the antimeridian and the
/// poles are places like all others, and sums and means need no map projection. Places a millimetre apart still differ.
package struct EarthVector: Hashable, Sendable {
    package var x: Double
    package var y: Double
    package var z: Double

    @inlinable package init(x: Double, y: Double, z: Double) {
        self.x = x
        self.y = y
        self.z = z
    }

    package static let zero = EarthVector(x: 0, y: 0, z: 0)

    /// The place on the sphere.
    package init(_ place: Degrees) {
        let (latitude, longitude) = (place.latitude * (.pi / 180), place.longitude * (.pi / 180))
        let outwards = GreatCircle.earthRadius * cos(latitude)
        x = outwards * cos(longitude)
        y = outwards * sin(longitude)
        z = GreatCircle.earthRadius * sin(latitude)
    }

    /// The place on the sphere below or above the end of this vector; latitude 0 and longitude 0 for the centre.
    package var degrees: Degrees {
        let outwards = (x * x + y * y).squareRoot()
        return Degrees(latitude: atan2(z, outwards) * (180 / .pi), longitude: atan2(y, x) * (180 / .pi))
    }

    /// The vector of length 1 along the ground at this place, `course` degrees clockwise from true north.
    package func heading(_ course: Double) -> EarthVector {
        let outwards = (x * x + y * y).squareRoot()
        // At a pole every longitude is right; 0 is taken.
        let (sideward, upward) = outwards > 0 ? (y / outwards, x / outwards) : (0, 1)
        let (sine, cosine) = (z / GreatCircle.earthRadius, outwards / GreatCircle.earthRadius)
        let (east, north) = (sin(course * (.pi / 180)), cos(course * (.pi / 180)))
        return EarthVector(
            x: -sideward * east - sine * upward * north, y: upward * east - sine * sideward * north,
            z: cosine * north)
    }

    /// Metres along the great circle between two places on the sphere, never negative.
    ///
    /// Exact to a micrometre for neighbours, and to a metre for opposite places.
    package func distance(to other: EarthVector) -> Double {
        let chord = (other - self).length
        let ratio = chord / (2 * GreatCircle.earthRadius)
        // Below 60 km the next term of the series of the arc sine is less than a micrometre.
        if chord < 60_000 { return chord * (1 + ratio * ratio / 6) }
        return 2 * GreatCircle.earthRadius * asin(min(ratio, 1))
    }

    @inlinable package var squaredLength: Double { x * x + y * y + z * z }
    @inlinable package var length: Double { squaredLength.squareRoot() }

    @inlinable package func dot(_ other: EarthVector) -> Double { x * other.x + y * other.y + z * other.z }

    @inlinable package static func + (left: Self, right: Self) -> Self {
        Self(x: left.x + right.x, y: left.y + right.y, z: left.z + right.z)
    }

    @inlinable package static func - (left: Self, right: Self) -> Self {
        Self(x: left.x - right.x, y: left.y - right.y, z: left.z - right.z)
    }

    @inlinable package static func * (vector: Self, factor: Double) -> Self {
        Self(x: vector.x * factor, y: vector.y * factor, z: vector.z * factor)
    }

    @inlinable package static func += (left: inout Self, right: Self) { left = left + right }
    @inlinable package static func -= (left: inout Self, right: Self) { left = left - right }
}
