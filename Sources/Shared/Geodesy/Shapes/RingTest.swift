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
        guard let level = UInt32(exactly: y) else { return .outside }
        var isInside = false
        var last = ring[ring.count - 1]
        // First which edges matter, without a branch, then those two or so: a branch for each edge costs more than its test.
        for start in stride(from: 0, to: ring.count, by: 64) {
            let count = min(64, ring.count - start)
            var (above, beside) = (UInt64(0), UInt64(0))
            for index in 0..<count {
                let height = ring[start + index].y
                above |= (height > level ? 1 : 0) &<< UInt64(truncatingIfNeeded: index)
                beside |= (height == level ? 1 : 0) &<< UInt64(truncatingIfNeeded: index)
            }
            // Bit n: the edge that ends in vertex n.
            var crossing = above ^ (above &<< 1 | (last.y > level ? 1 : 0))
            if count < 64 { crossing &= (1 &<< UInt64(count)) - 1 }
            var flat = beside & ~crossing
            while crossing != 0 {
                let index = start + crossing.trailingZeroBitCount
                crossing &= crossing - 1
                let (from, to) = (index == start ? last : ring[index - 1], ring[index])
                let (x0, y0) = (Int64(from.x) - x, Int64(from.y) - y)
                let (x1, y1) = (Int64(to.x) - x, Int64(to.y) - y)
                // Where the edge meets the ray's line: to the east exactly if the products are in the edge's order.
                let (left, right) = (x0 * y1, x1 * y0)
                if left == right { return .onBoundary }
                if (left > right) == (to.y > level) { isInside.toggle() }
            }
            while flat != 0 {
                let index = start + flat.trailingZeroBitCount
                flat &= flat - 1
                let (from, to) = (index == start ? last : ring[index - 1], ring[index])
                let (x0, x1) = (Int64(from.x) - x, Int64(to.x) - x)
                if x1 == 0 || (from.y == to.y && (x0 < 0) != (x1 < 0)) { return .onBoundary }
            }
            last = ring[start + count - 1]
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
