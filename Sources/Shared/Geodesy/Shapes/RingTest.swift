/// Whether a place lies in a ring: exact, by comparing products of integers that fit in 64 bits.
package enum RingTest {
    package enum Position: Hashable, Sendable {
        case outside
        case inside
        case onBoundary
    }

    /// The even-odd rule: a ray to the east crosses the ring an odd number of times. The place is in the box of the ring's
    /// shape, or at most 360 degrees from its corner.
    package static func position(x: Int64, y: Int64, in ring: Span<GridOffset>) -> Position {
        guard y >= 0 else { return .outside }
        var isInside = false
        var from = ring[ring.count - 1]
        var wasAbove = Int64(from.y) > y
        for index in 0..<ring.count {
            let to = ring[index]
            let isAbove = Int64(to.y) > y
            if isAbove != wasAbove {
                let (x0, y0) = (Int64(from.x) - x, Int64(from.y) - y)
                let (x1, y1) = (Int64(to.x) - x, Int64(to.y) - y)
                // Where the edge meets the ray's line: to the east exactly if the products are in the edge's order.
                let (left, right) = (x0 * y1, x1 * y0)
                if left == right { return .onBoundary }
                if (left > right) == isAbove { isInside.toggle() }
            } else if Int64(to.y) == y {
                let (x0, x1) = (Int64(from.x) - x, Int64(to.x) - x)
                if x1 == 0 || (from.y == to.y && (x0 < 0) != (x1 < 0)) { return .onBoundary }
            }
            (from, wasAbove) = (to, isAbove)
        }
        return isInside ? .inside : .outside
    }

    /// -1, 0 or 1: whether a place lies to the right of a directed line, on it, or to the left of it. Exact for
    /// differences of at most 360 degrees of longitude and 180 of latitude.
    static func side(
        of place: (x: Int64, y: Int64), from start: (x: Int64, y: Int64), to end: (x: Int64, y: Int64)
    ) -> Int {
        let left = (end.x - start.x) * (place.y - start.y)
        let right = (end.y - start.y) * (place.x - start.x)
        return left > right ? 1 : left < right ? -1 : 0
    }
}
