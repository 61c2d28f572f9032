package import TrackModel

/// The smallest box around the unwrapped vertices of a shape, in units of 1e-7 degree. Vertices and places are counted
/// from its south-west corner, so a shape across the antimeridian is like any other.
package struct ShapeFrame: Hashable, Sendable {
    package let southE7: Int32
    /// -1,800,000,000 ..< 1,800,000,000.
    package let westE7: Int32
    package let height: UInt32
    /// At most 360 degrees.
    package let width: UInt32

    static let turn: Int64 = 3_600_000_000

    /// Nil for an empty range or one that is larger than the earth. Longitudes may be any number of turns away.
    init?(south: Int64, west: Int64, north: Int64, east: Int64) {
        guard (-900_000_000...900_000_000).contains(south), (south...900_000_000).contains(north), west <= east,
            east - west <= Self.turn
        else { return nil }
        southE7 = Int32(south)
        westE7 = Int32(Self.wrapped(west))
        height = UInt32(north - south)
        width = UInt32(east - west)
    }

    /// A longitude within -180 ..< 180 degrees.
    static func wrapped(_ longitude: Int64) -> Int64 {
        let turned = (longitude + turn / 2) % turn
        return (turned < 0 ? turned + turn : turned) - turn / 2
    }

    /// A place counted from the corner, moved to within 180 degrees of the middle of the box.
    @inline(__always)
    package func offset(of place: Coordinate) -> (x: Int64, y: Int64) {
        var x = Int64(place.longitudeE7) - Int64(westE7)
        if x < 0 { x += Self.turn }
        if x > Int64(width) / 2 + Self.turn / 2 { x -= Self.turn }
        return (x, Int64(place.latitudeE7) - Int64(southE7))
    }

    @inline(__always)
    package func contains(x: Int64, y: Int64) -> Bool {
        x >= 0 && y >= 0 && x <= Int64(width) && y <= Int64(height)
    }

    /// Degrees of an offset; the longitude may be beyond 180.
    @inline(__always)
    func degrees(x: Double, y: Double) -> Degrees {
        Degrees(latitude: (Double(southE7) + y) / 1e7, longitude: (Double(westE7) + x) / 1e7)
    }
}
