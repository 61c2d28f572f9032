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
