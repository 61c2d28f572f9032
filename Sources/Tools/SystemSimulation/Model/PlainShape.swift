internal import Geodesy
internal import Glibc

/// A fence's shape in plain metres around its first vertex or centre: the shapes of histories are small.
struct PlainShape {
    private enum Outline {
        case circle(radius: Double)
        case ring([(north: Double, east: Double)])
    }

    private let origin: Degrees
    private let north: Double
    private let east: Double
    private let outline: Outline

    /// Nil: a shape that no history has.
    init?(_ draft: ShapeDraft) {
        guard draft.datum == .wgs84, draft.buffer == 0 else { return nil }
        switch draft.outline {
        case .circle(let centre, let radius):
            (origin, outline) = (centre, .circle(radius: radius))
            (north, east) = Self.metres(at: centre)
        case .polygon(let parts):
            guard parts.count == 1, parts[0].count == 1, let first = parts[0][0].first else { return nil }
            let scale = Self.metres(at: first)
            (origin, north, east) = (first, scale.north, scale.east)
            outline = .ring(
                parts[0][0].map {
                    (($0.latitude - first.latitude) * scale.north, ($0.longitude - first.longitude) * scale.east)
                })
        case .corridor, .point: return nil
        }
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

    /// Metres from the edge, negative inside.
    func distance(to place: Degrees) -> Double {
        let (y, x) = ((place.latitude - origin.latitude) * north, (place.longitude - origin.longitude) * east)
        switch outline {
        case .circle(let radius): return (x * x + y * y).squareRoot() - radius
        case .ring(let corners):
            var (nearest, isInside) = (Double.infinity, false)
            for (index, end) in corners.enumerated() {
                let start = corners[index == 0 ? corners.count - 1 : index - 1]
                let (up, right) = (end.north - start.north, end.east - start.east)
                let share = ((y - start.north) * up + (x - start.east) * right) / (up * up + right * right)
                let (dy, dx) = (
                    y - start.north - min(1, max(0, share)) * up, x - start.east - min(1, max(0, share)) * right
                )
                nearest = min(nearest, (dx * dx + dy * dy).squareRoot())
                if (start.north > y) != (end.north > y), x < start.east + (y - start.north) / up * right {
                    isInside.toggle()
                }
            }
            return isInside ? -nearest : nearest
        }
    }

    /// Metres between two places.
    func length(from start: Degrees, to end: Degrees) -> Double {
        let (y, x) = ((end.latitude - start.latitude) * north, (end.longitude - start.longitude) * east)
        return (x * x + y * y).squareRoot()
    }

    /// Metres, as the rule against jitter counts it: a radius, or twice the area by the length of the edge.
    var width: Double {
        switch outline {
        case .circle(let radius): return radius
        case .ring(let corners):
            var (area, edge) = (0.0, 0.0)
            for (index, end) in corners.enumerated() {
                let start = corners[index == 0 ? corners.count - 1 : index - 1]
                area += start.east * end.north - end.east * start.north
                let (up, right) = (end.north - start.north, end.east - start.east)
                edge += (up * up + right * right).squareRoot()
            }
            return abs(area) / edge
        }
    }
}
