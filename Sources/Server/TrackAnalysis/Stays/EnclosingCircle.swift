/// The smallest circle around points of a plane, metres.
struct EnclosingCircle: Hashable, Sendable {
    struct Point: Hashable, Sendable {
        var x: Double
        var y: Double

        @inline(__always)
        func squaredDistance(to other: Point) -> Double {
            let (east, north) = (x - other.x, y - other.y)
            return east * east + north * north
        }
    }

    private(set) var center: Point
    private(set) var squaredRadius: Double
    /// Positions of the points on its edge, at most three: without one of them it would be smaller.
    private(set) var support: [Int]

    /// The circle grows by the point that is farthest outside, until none is. Nil for no points.
    init?(_ points: [Point]) {
        guard let first = points.first else { return nil }
        (center, squaredRadius, support) = (first, 0, [0])
        while true {
            var (farthest, most) = (-1, squaredRadius * (1 + 1e-12) + 1e-12)
            for (position, point) in points.enumerated() {
                let squared = point.squaredDistance(to: center)
                if squared > most { (farthest, most) = (position, squared) }
            }
            // Rounding alone may keep a point outside.
            guard farthest >= 0, !support.contains(farthest), grow(to: farthest, of: points) else { return }
        }
    }

    /// Takes a point outside to the edge: the smallest circle around it and the points on the edge so far.
    private mutating func grow(to position: Int, of points: [Point]) -> Bool {
        let others = support
        var best: EnclosingCircle?
        func consider(_ edge: [Int]) {
            guard let circle = EnclosingCircle(through: edge, of: points), circle.squaredRadius > squaredRadius,
                circle.squaredRadius < best?.squaredRadius ?? .infinity,
                others.allSatisfy({
                    points[$0].squaredDistance(to: circle.center) <= circle.squaredRadius * (1 + 1e-9) + 1e-9
                })
            else { return }
            best = circle
        }
        for other in others { consider([position, other]) }
        for (place, other) in others.enumerated() {
            for third in others[(place + 1)...] { consider([position, other, third]) }
        }
        guard let best else { return false }
        self = best
        return true
    }

    /// The circle with two points at the ends of a diameter, or through three points that are not in a line.
    private init?(through edge: [Int], of points: [Point]) {
        let (first, second) = (points[edge[0]], points[edge[1]])
        support = edge
        guard edge.count == 3 else {
            center = Point(x: (first.x + second.x) / 2, y: (first.y + second.y) / 2)
            squaredRadius = center.squaredDistance(to: first)
            return
        }
        let third = points[edge[2]]
        let (bx, by, cx, cy) = (second.x - first.x, second.y - first.y, third.x - first.x, third.y - first.y)
        let twice = 2 * (bx * cy - by * cx)
        guard twice.magnitude > 1e-12 else { return nil }
        let (b, c) = (bx * bx + by * by, cx * cx + cy * cy)
        let (x, y) = ((cy * b - by * c) / twice, (bx * c - cx * b) / twice)
        center = Point(x: first.x + x, y: first.y + y)
        squaredRadius = x * x + y * y
    }
}
