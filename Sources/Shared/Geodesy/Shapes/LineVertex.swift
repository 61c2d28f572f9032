internal import TrackModel

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
