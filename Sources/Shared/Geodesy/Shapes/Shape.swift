package import TrackModel

/// The area of a fence on the WGS 84 ellipsoid, ready to be judged. ``ShapeDraft`` makes it and checks it.
///
/// Verdicts are exact: for polygons without a buffer by integers, else to the millimetres of ``SurfaceDistance``. The same
/// shape and place give the same verdict on every machine.
package struct Shape: Hashable, Sendable {
    package enum Body: Hashable, Sendable {
        /// No place at all: what the Web API makes of identical vertices.
        case nowhere
        case circle(CircleShape)
        /// With metres around it, 0 or more.
        case polygon(PolygonShape, buffer: Double)
        case corridor(CorridorShape)
    }

    package let body: Body

    init(_ body: Body) {
        self.body = body
    }

    /// The same area: see ``PolygonShape/sharing(_:from:)``.
    package init(_ polygon: PolygonShape, buffer: Double) {
        body = .polygon(polygon, buffer: buffer)
    }

    package static let nowhere = Shape(.nowhere)

    /// Whether a place is inside; the boundary is.
    package func contains(_ place: Coordinate) -> Bool {
        switch body {
        case .nowhere: false
        case .circle(let circle): circle.signedDistance(to: place) <= 0
        case .polygon(let polygon, let buffer):
            polygon.contains(place) || (buffer > 0 && polygon.boundaryDistance(to: place) <= buffer)
        case .corridor(let corridor): corridor.signedDistance(to: place) <= 0
        }
    }

    /// Metres to the boundary, negative inside; infinite for no area.
    package func signedDistance(to place: Coordinate) -> Double {
        switch body {
        case .nowhere: .infinity
        case .circle(let circle): circle.signedDistance(to: place)
        case .polygon(let polygon, let buffer): polygon.signedDistance(to: place) - buffer
        case .corridor(let corridor): corridor.signedDistance(to: place)
        }
    }

    /// The inside parts of a way.
    package func passage(of way: Way) -> Passage {
        switch body {
        case .nowhere: return Passage(parts: [])
        case .circle(let circle): return Passage(parts: circle.parts(of: way))
        case .polygon(let polygon, let buffer) where buffer == 0: return Passage(parts: polygon.parts(of: way))
        case .polygon, .corridor:
            let parts = PassageSearch.parts(length: way.longest) { signedDistance(to: way.place(at: $0)) }
            return Passage(parts: parts)
        }
    }

    /// Metres: the radius, the offset, or twice the area over the perimeter, with the buffer.
    package var width: Double {
        switch body {
        case .nowhere: 0
        case .circle(let circle): circle.radius
        case .polygon(let polygon, let buffer): polygon.width + buffer
        case .corridor(let corridor): corridor.offset
        }
    }

    /// Whether a visit between two points is no accident: true for areas, false for corridors, which roads cross.
    package var isArea: Bool {
        if case .corridor = body { return false }
        return true
    }

    /// The box of the shape, grown by so many metres; nil for no area.
    package func box(grownBy metres: Double = 0) -> ShapeBox? {
        switch body {
        case .nowhere: nil
        case .circle(let circle): ShapeBox(from: circle.centre, to: circle.centre, grownBy: circle.radius + metres)
        case .polygon(let polygon, let buffer): ShapeBox(polygon.frame, grownBy: buffer + metres)
        case .corridor(let corridor): ShapeBox(corridor.frame, grownBy: corridor.offset + metres)
        }
    }
}

/// All places within a distance of a centre. It may contain a pole.
package struct CircleShape: Hashable, Sendable {
    package let centre: Coordinate
    /// Metres, above 0.
    package let radius: Double
    /// True when the plane around the centre is good enough to begin a search in.
    private let isSmall: Bool

    init(centre: Coordinate, radius: Double) {
        self.centre = centre
        self.radius = radius
        isSmall = radius <= 10_000 && centre.latitude.magnitude <= 75
    }

    /// Metres, negative inside.
    @inline(__always)
    package func signedDistance(to place: Coordinate) -> Double {
        SurfaceDistance.between(centre, place) - radius
    }

    func parts(of way: Way) -> [ClosedRange<Double>] {
        let middle = Degrees(centre)
        let signed = { (share: Double) in SurfaceDistance.between(middle, way.degrees(at: share)) - radius }
        guard isSmall, way.longest < 200_000 else {
            return PassageSearch.parts(length: way.longest, signedDistance: signed)
        }
        let nearest = nearest(of: way)
        let (start, end) = (signed(0), signed(1))
        var deepest = (share: nearest, value: signed(nearest))
        if start < deepest.value { deepest = (0, start) }
        if end < deepest.value { deepest = (1, end) }
        guard deepest.value <= 0 else { return [] }
        let entry = start <= 0 ? 0 : PassageSearch.root(0, start, deepest.share, deepest.value, of: signed)
        let exit = end <= 0 ? 1 : PassageSearch.root(deepest.share, deepest.value, 1, end, of: signed)
        return entry < exit ? [entry...exit] : []
    }

    /// The share of a way that is nearest to the centre, in the plane around the centre.
    private func nearest(of way: Way) -> Double {
        let scale = Ellipsoid.metresPerDegree(at: centre.latitude)
        let (east, north) = (scale.east / 1e7, scale.north / 1e7)
        let x = Double(ShapeFrame.wrapped(Int64(way.start.longitudeE7) - Int64(centre.longitudeE7))) * east
        let y = Double(Int64(way.start.latitudeE7) - Int64(centre.latitudeE7)) * north
        let (alongX, alongY) = (Double(way.eastE7) * east, Double(way.northE7) * north)
        let square = alongX * alongX + alongY * alongY
        return square > 0 ? min(max(-(x * alongX + y * alongY) / square, 0), 1) : 0
    }
}

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
