internal import Geodesy
internal import Glibc

/// A fence's shape in plain metres around the middle of its vertices: the shapes of histories are small.
struct PlainShape {
    private typealias Spot = (north: Double, east: Double)
    private typealias Edge = (start: Spot, end: Spot)

    private let origin: Degrees
    private let north: Double
    private let east: Double
    /// Of rings, or of a line; none around a centre.
    private let edges: [Edge]
    /// The edges enclose an area.
    private let isArea: Bool
    /// Metres around the edges or the centre that belong to the shape.
    private let margin: Double
    /// Metres, as the rule against jitter counts it: a radius, an offset, or twice the area by the length of the edge; with the
    /// buffer.
    let width: Double

    /// Nil: a shape that no history has.
    init?(_ draft: ShapeDraft) {
        guard draft.datum == .wgs84, let origin = Self.middle(of: draft) else { return nil }
        let (north, east) = Self.metres(at: origin)
        (self.origin, self.north, self.east) = (origin, north, east)
        func spot(_ place: Degrees) -> Spot {
            ((place.latitude - origin.latitude) * north, (place.longitude - origin.longitude) * east)
        }
        switch draft.outline {
        case .circle(_, let radius): (edges, isArea, margin) = ([], false, radius + draft.buffer)
        case .point: (edges, isArea, margin) = ([], false, draft.buffer)
        case .corridor(let line, let offset):
            let spots = line.map(spot)
            edges = zip(spots, spots.dropFirst()).map { ($0, $1) }
            (isArea, margin) = (false, offset + draft.buffer)
        case .polygon(let parts):
            let rings = parts.map { part in part.map { ring in Self.closed(ring.map(spot)) } }
            edges = rings.flatMap { $0.flatMap { $0 } }
            (isArea, margin) = (true, draft.buffer)
        }
        width = isArea ? Self.width(of: draft, edges, spot) + margin : margin
    }

    private static func middle(of draft: ShapeDraft) -> Degrees? {
        let places: [Degrees] =
            switch draft.outline {
            case .circle(let centre, _): [centre]
            case .point(let place): [place]
            case .polygon(let parts): parts.flatMap { $0.flatMap { $0 } }
            case .corridor(let line, _): line
            }
        let (latitudes, longitudes) = (places.map(\.latitude), places.map(\.longitude))
        guard let south = latitudes.min(), let north = latitudes.max(), let west = longitudes.min(),
            let east = longitudes.max()
        else { return nil }
        return Degrees(latitude: (south + north) / 2, longitude: (west + east) / 2)
    }

    /// Metres of a degree on the ellipsoid WGS 84.
    private static func metres(at place: Degrees) -> (north: Double, east: Double) {
        let (major, eccentricity) = (6_378_137.0, 0.006_694_379_990_14)
        let radians = place.latitude * .pi / 180
        let sine = sin(radians)
        let root = (1 - eccentricity * sine * sine).squareRoot()
        let meridian = major * (1 - eccentricity) / (root * root * root)
        return (meridian * .pi / 180, major / root * cos(radians) * .pi / 180)
    }

    private static func closed(_ spots: [Spot]) -> [Edge] {
        spots.indices.map { (spots[$0 == 0 ? spots.count - 1 : $0 - 1], spots[$0]) }
    }

    /// Twice the area by the length of the edges; the first ring of a part is its shell, the others are holes in it.
    private static func width(of draft: ShapeDraft, _ edges: [Edge], _ spot: (Degrees) -> Spot) -> Double {
        guard case .polygon(let parts) = draft.outline else { return 0 }
        var area = 0.0
        for part in parts {
            for (number, ring) in part.enumerated() {
                let own = closed(ring.map(spot)).reduce(0) {
                    $0 + $1.start.east * $1.end.north - $1.end.east * $1.start.north
                }
                area += number > 0 ? -abs(own) : abs(own)
            }
        }
        return area / edges.reduce(0) { $0 + length($1.start, $1.end) }
    }

    /// Metres from the edge, negative inside. Inside a buffer it is the distance from the outline less the buffer: it is no larger
    /// than the depth, and changes by no more than the place moves.
    func distance(to place: Degrees) -> Double {
        let spot = ((place.latitude - origin.latitude) * north, (place.longitude - origin.longitude) * east)
        var (nearest, isInside) = (edges.isEmpty ? Self.length((0, 0), spot) : .infinity, false)
        for (start, end) in edges {
            nearest = min(nearest, Self.distance(spot, from: start, to: end))
            guard isArea, (start.north > spot.0) != (end.north > spot.0) else { continue }
            let share = (spot.0 - start.north) / (end.north - start.north)
            if spot.1 < start.east + share * (end.east - start.east) { isInside.toggle() }
        }
        return (isInside ? -nearest : nearest) - margin
    }

    private static func distance(_ spot: Spot, from start: Spot, to end: Spot) -> Double {
        let (up, right) = (end.north - start.north, end.east - start.east)
        let square = up * up + right * right
        let along = (spot.north - start.north) * up + (spot.east - start.east) * right
        let share = square > 0 ? min(1, max(0, along / square)) : 0
        return length(spot, (start.north + share * up, start.east + share * right))
    }

    private static func length(_ start: Spot, _ end: Spot) -> Double {
        let (up, right) = (end.north - start.north, end.east - start.east)
        return (up * up + right * right).squareRoot()
    }

    /// Metres between two places.
    func length(from start: Degrees, to end: Degrees) -> Double {
        Self.length((start.latitude * north, start.longitude * east), (end.latitude * north, end.longitude * east))
    }
}
