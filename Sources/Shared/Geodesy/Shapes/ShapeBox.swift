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

    /// One or two ranges of longitudes within -180 ... 180 degrees.
    package var longitudes: (first: ClosedRange<Int32>, second: ClosedRange<Int32>?) {
        let east = Int64(westE7) + Int64(widthE7)
        // 180 degrees east and west are one meridian: a box that ends there has it under both numbers.
        guard east >= 1_800_000_000 else { return (westE7...Int32(east), nil) }
        let wrapped = Int32(clamping: min(east - ShapeFrame.turn, 1_800_000_000))
        return (westE7...1_800_000_000, -1_800_000_000...wrapped)
    }
}

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

/// A vertex of an unwrapped line or ring, in units of 1e-7 degree, with the number that its giver knows it by.
struct LineVertex: Hashable {
    /// Longitude; may be beyond 180 degrees.
    var x: Int64
    let y: Int64
    /// From 1.
    let number: Int

    var place: (x: Int64, y: Int64) { (x, y) }
    var degrees: Degrees { Degrees(latitude: Double(y) / 1e7, longitude: Double(x) / 1e7) }

    /// A vertex of a shape: a place and its number as given. Parts of a cut edge share the number of the edge's start.
    struct Given: Hashable {
        let place: Coordinate
        let number: Int
    }

    /// Walks a line and moves each longitude by whole turns to within 180 degrees of the one before.
    ///
    /// - Throws: ``ShapeError`` for an edge of exactly 180 degrees of longitude, whose way round is unknown.
    static func unwrapped(_ line: [Given], named name: String) throws(ShapeError) -> [LineVertex] {
        var vertices: [LineVertex] = []
        vertices.reserveCapacity(line.count)
        var (west, east) = (Int64.max, Int64.min)
        for one in line {
            var x = Int64(one.place.longitudeE7)
            if let last = vertices.last {
                x = try next(after: last, x: x, y: Int64(one.place.latitudeE7), named: name)
            }
            (west, east) = (min(west, x), max(east, x))
            guard east - west <= ShapeFrame.turn else { throw tooWide(name) }
            vertices.append(LineVertex(x: x, y: Int64(one.place.latitudeE7), number: one.number))
        }
        return vertices
    }

    /// The same for a ring; the repeated first vertex at the end, if there is one, is dropped.
    ///
    /// - Throws: ``ShapeError`` also for a ring around a pole: it ends a whole turn from where it began.
    static func unwrappedRing(_ ring: [Given], named name: String) throws(ShapeError) -> [LineVertex] {
        var vertices = try unwrapped(ring, named: name)
        guard let first = vertices.first, let last = vertices.last else { return vertices }
        let closing = try next(after: last, x: first.x, y: first.y, named: name)
        guard closing == first.x else {
            throw ShapeError(
                .aroundPole,
                "\(name) runs around a pole: its end lies 360 degrees of longitude from its beginning at \(first.degrees.text);"
                    + " draw an area that does not contain a pole, or a circle")
        }
        if vertices.count > 1, last.place == first.place { vertices.removeLast() }
        return vertices
    }

    static func tooWide(_ name: String) -> ShapeError {
        ShapeError(.tooWide, "\(name) spans more than 360 degrees of longitude: draw an area smaller than the earth")
    }

    private static func next(after last: LineVertex, x: Int64, y: Int64, named name: String) throws(ShapeError) -> Int64
    {
        let difference = ShapeFrame.wrapped(x - last.x)
        // Wrapped to -180 ..< 180: exactly half a turn is the lower end.
        guard difference != -ShapeFrame.turn / 2 else {
            let end = Degrees(latitude: Double(y) / 1e7, longitude: Double(x) / 1e7)
            throw ShapeError(
                .halfTurn,
                "edge \(last.number) of \(name), from \(last.degrees.text) to \(end.text), spans exactly 180 degrees of"
                    + " longitude, so its way round the earth is not known: put a vertex between")
        }
        return last.x + difference
    }
}

/// A vertex in units of 1e-7 degree from the south-west corner of its shape's box.
package struct GridOffset: Hashable, Sendable {
    /// To the east, 0 ... 3,600,000,000.
    package let x: UInt32
    /// To the north, 0 ... 1,800,000,000.
    package let y: UInt32

    package init(x: UInt32, y: UInt32) {
        self.x = x
        self.y = y
    }
}
