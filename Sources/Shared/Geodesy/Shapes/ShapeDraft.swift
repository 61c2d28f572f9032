internal import TrackModel

/// A shape as a person or a program describes it, in the datum of their choice. It keeps the numbers as given.
package struct ShapeDraft: Hashable, Sendable {
    package enum Outline: Hashable, Sendable {
        /// Radius in metres.
        case circle(centre: Degrees, radius: Double)
        /// Parts; each has a shell and then its holes.
        case polygon([[[Degrees]]])
        /// Offset in metres.
        case corridor([Degrees], offset: Double)
        /// A place that its buffer makes a circle.
        case point(Degrees)
    }

    package var outline: Outline
    package var datum: Datum
    /// Metres around the outline, 0 or more; above 0 for a point.
    package var buffer: Double

    package init(_ outline: Outline, datum: Datum = .wgs84, buffer: Double = 0) {
        self.outline = outline
        self.datum = datum
        self.buffer = buffer
    }

    /// Metres.
    package static let mostRadius = 1_000_000.0
    package static let mostOffset = 10_000.0
    package static let mostBuffer = 100_000.0
    package static let mostPolygonVertices = 100_000
    package static let mostCorridorVertices = 10_000

    /// The shape in WGS 84.
    ///
    /// `isKnown`: it was a shape before. Then the costly check whether edges cross is left out. `isStored`: some version of this
    /// program took it for a shape: what only the rules of this version refuse stays one.
    ///
    /// - Throws: ``ShapeError`` that names the value, the edge and the place, and the rule.
    package func shape(isKnown: Bool = false, isStored: Bool = false) throws(ShapeError) -> Shape {
        guard buffer >= 0, buffer <= Self.mostBuffer else {
            throw ShapeError(.buffer, "a buffer is 0 to 100,000 metres, not \(buffer)")
        }
        let converter = DatumReader(declared: datum, first: first)
        switch outline {
        case .circle(let centre, let radius):
            guard radius > 0, radius <= Self.mostRadius else {
                throw ShapeError(.radius, "a circle's radius is above 0 and at most 1,000,000 metres, not \(radius)")
            }
            let place = try converter.place(centre, "the centre")
            return Shape(.circle(CircleShape(centre: place, radius: radius + buffer)))
        case .point(let place):
            guard buffer > 0 else {
                throw ShapeError(.buffer, "a point needs a buffer above 0 metres: it has no area without one")
            }
            return Shape(.circle(CircleShape(centre: try converter.place(place, "the point"), radius: buffer)))
        case .polygon(let parts):
            return try PolygonDraft(parts: parts, converter: converter).shape(
                buffer: buffer, isKnown: isKnown, isStored: isStored)
        case .corridor(let line, let offset): return try corridor(line, offset: offset, converter)
        }
    }

    /// The vertex or centre that decides on the datum.
    var first: Degrees? {
        switch outline {
        case .circle(let centre, _): centre
        case .point(let place): place
        case .polygon(let parts): parts.first?.first?.first
        case .corridor(let line, _): line.first
        }
    }

    private func corridor(
        _ line: [Degrees], offset: Double, _ converter: DatumReader
    ) throws(ShapeError) -> Shape {
        guard offset > 0, offset <= Self.mostOffset else {
            throw ShapeError(.radius, "a corridor's offset is above 0 and at most 10,000 metres, not \(offset)")
        }
        guard (2...Self.mostCorridorVertices).contains(line.count) else {
            throw ShapeError(.count, "a corridor has 2 to 10,000 vertices, not \(line.count)")
        }
        // What is wrong with the line is told with the numbers that were given.
        if converter.datum != .wgs84 {
            _ = try LineVertex.unwrapped(try converter.given(line, named: "the corridor"), named: "the corridor")
        }
        let given = try converter.line(line, false, "the corridor")
        let line = try LineVertex.unwrapped(given, named: "the corridor")
        let vertices = line.indices.filter { $0 == 0 || line[$0].place != line[$0 - 1].place }.map { line[$0] }
        if vertices.count == 1, let only = given.first {
            return Shape(.circle(CircleShape(centre: only.place, radius: offset + buffer)))
        }
        let (frame, lines) = try PolygonDraft.framed([vertices], named: "the corridor")
        return Shape(.corridor(CorridorShape(frame: frame, vertices: lines[0], offset: offset + buffer)))
    }
}

extension ShapeDraft {
    /// Of the outline as given; 1 for a place.
    package var vertexCount: Int {
        switch outline {
        case .circle, .point: 1
        case .polygon(let parts): parts.reduce(0) { $0 + $1.reduce(0) { $0 + $1.count } }
        case .corridor(let line, _): line.count
        }
    }
}
