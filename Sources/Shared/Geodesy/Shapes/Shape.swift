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
