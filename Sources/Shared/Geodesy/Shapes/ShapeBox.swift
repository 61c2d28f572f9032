package import TrackModel

/// A box of latitudes and longitudes in units of 1e-7 degree that may lie across the antimeridian.
package struct ShapeBox: Hashable, Sendable {
    package let southE7: Int32
    package let northE7: Int32
    /// -1,800,000,000 ..< 1,800,000,000.
    package let westE7: Int32
    /// From west to east, 0 ... 3,600,000,000.
    package let widthE7: UInt32

    /// The box around a frame, grown by so many metres on each side.
    package init(_ frame: ShapeFrame, grownBy metres: Double) {
        let south = Int64(frame.southE7)
        self.init(
            south: south, north: south + Int64(frame.height), west: Int64(frame.westE7), width: Int64(frame.width),
            grownBy: metres)
    }

    /// The box around the straight way between two places, grown by so many metres.
    package init(from start: Coordinate, to end: Coordinate, grownBy metres: Double = 0) {
        let east = ShapeFrame.wrapped(Int64(end.longitudeE7) - Int64(start.longitudeE7))
        let latitudes = (Int64(start.latitudeE7), Int64(end.latitudeE7))
        self.init(
            south: min(latitudes.0, latitudes.1), north: max(latitudes.0, latitudes.1),
            west: Int64(start.longitudeE7) + min(east, 0), width: Int64(east.magnitude), grownBy: metres)
    }

    private init(south: Int64, north: Int64, west: Int64, width: Int64, grownBy metres: Double) {
        // The shortest degree of latitude is 110,574 m long.
        let high = metres > 0 ? Int64((metres / 110_500 * 1e7).rounded(.up)) : 0
        let (low, top) = (max(south - high, -900_000_000), min(north + high, 900_000_000))
        southE7 = Int32(low)
        northE7 = Int32(top)
        let wide = Self.growth(by: metres, near: max(low.magnitude, top.magnitude))
        guard let wide, width + 2 * wide < ShapeFrame.turn else {
            westE7 = -1_800_000_000
            widthE7 = UInt32(ShapeFrame.turn)
            return
        }
        westE7 = Int32(ShapeFrame.wrapped(west - wide))
        widthE7 = UInt32(width + 2 * wide)
    }

    /// Units of longitude that a circle of so many metres reaches at most; nil when it may reach all of them.
    private static func growth(by metres: Double, near latitudeE7: UInt64) -> Int64? {
        guard metres > 0 else { return 0 }
        // `latitudeE7` is already that of the circle's far side.
        let (_, cosine) = Trigonometry.sineAndCosine(Double(latitudeE7) / 1e7)
        let scale = cosine * 111_000
        guard scale > metres / 90 else { return nil }
        return Int64((metres / scale * 1e7).rounded(.up))
    }

    @inline(__always)
    package func contains(_ place: Coordinate) -> Bool {
        guard place.latitudeE7 >= southE7, place.latitudeE7 <= northE7 else { return false }
        var x = Int64(place.longitudeE7) - Int64(westE7)
        if x < 0 { x += ShapeFrame.turn }
        return x <= Int64(widthE7)
    }

    package func intersects(_ other: ShapeBox) -> Bool {
        guard southE7 <= other.northE7, other.southE7 <= northE7 else { return false }
        var x = Int64(other.westE7) - Int64(westE7)
        if x < 0 { x += ShapeFrame.turn }
        // Either the other box begins in this one, or it reaches around to where this one begins.
        return x <= Int64(widthE7) || x + Int64(other.widthE7) >= ShapeFrame.turn
    }

    /// One or two ranges of longitudes within -180 ... 180 degrees.
    package var longitudes: (first: ClosedRange<Int32>, second: ClosedRange<Int32>?) {
        let east = Int64(westE7) + Int64(widthE7)
        // 180 degrees east and west are one meridian: a box that ends there has it under both numbers.
        guard east >= 1_800_000_000 else { return (westE7...Int32(east), nil) }
        let wrapped = Int32(clamping: min(east - ShapeFrame.turn, 1_800_000_000))
        return (westE7...1_800_000_000, -1_800_000_000...wrapped)
    }
}
