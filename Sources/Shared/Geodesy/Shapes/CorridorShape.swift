package import TrackModel

/// All places within a distance of a line, with round ends.
package struct CorridorShape: Hashable, Sendable {
    package let frame: ShapeFrame
    package let vertices: [GridOffset]
    /// Metres from the line, above 0.
    package let offset: Double

    init(frame: ShapeFrame, vertices: [GridOffset], offset: Double) {
        self.frame = frame
        self.vertices = vertices
        self.offset = offset
    }

    /// Metres, negative inside.
    package func signedDistance(to place: Coordinate) -> Double {
        let (x, y) = frame.offset(of: place)
        var distance = EdgeDistance(frame: frame, x: x, y: y)
        distance.search(vertices.span, isClosed: false)
        distance.measure(vertices.span, isClosed: false)
        if distance.isExact { return distance.best - offset }
        let far = EdgeSearch.distance(
            from: frame.degrees(x: Double(x), y: Double(y)), frame: frame, lines: [vertices[...]], isClosed: false)
        return far - offset
    }
}
