package import TrackModel

/// An area of one or more parts, with or without holes, whose edges are straight in latitude and longitude.
package struct PolygonShape: Hashable, Sendable {
    package let frame: ShapeFrame
    /// Has the vertices of this shape, and perhaps of more.
    private var list: [GridOffset]
    private var first: Int32
    private let count: Int32
    /// How many vertices lie before the end of each ring but the last: nothing for a single ring.
    private let innerEnds: [Int32]
    /// Twice the area over the perimeter, metres.
    let width: Double

    init(frame: ShapeFrame, rings: [[GridOffset]]) {
        self.frame = frame
        list = rings.flatMap { $0 }
        (first, count) = (0, Int32(list.count))
        var end: Int32 = 0
        innerEnds = rings.dropLast().map {
            end += Int32($0.count)
            return end
        }
        width = Self.width(frame, rings)
    }

    /// The same area with its vertices in a list of more: many shapes in one piece of memory. `list` has the vertices of
    /// this shape from `start` on.
    package func sharing(_ list: [GridOffset], from start: Int) -> PolygonShape {
        var shape = self
        (shape.list, shape.first) = (list, Int32(start))
        return shape
    }

    private var range: Range<Int> { Int(first)..<Int(first) + Int(count) }

    /// The rings one after the other, none closed by a repeated vertex.
    package var vertices: ArraySlice<GridOffset> { list[range] }

    package static func == (left: Self, right: Self) -> Bool {
        left.frame == right.frame && left.width == right.width && left.innerEnds == right.innerEnds
            && left.vertices == right.vertices
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(frame)
        hasher.combine(innerEnds)
        hasher.combine(vertices)
    }

    /// How many rings there are: shells, and the holes in them.
    package var ringCount: Int { innerEnds.count + 1 }

    /// The places of a ring's vertices, counted from the shape's first one.
    @inline(__always)
    private func range(of ring: Int) -> Range<Int> {
        let start = ring > 0 ? Int(innerEnds[ring - 1]) : 0
        return start..<(ring < innerEnds.count ? Int(innerEnds[ring]) : Int(count))
    }

    /// Exact. The boundary is inside.
    package func contains(_ place: Coordinate) -> Bool {
        let (x, y) = frame.offset(of: place)
        guard frame.contains(x: x, y: y) else { return false }
        return contains(x: x, y: y)
    }

    /// The same for an offset within the frame.
    package func contains(x: Int64, y: Int64) -> Bool {
        let all = list.span.extracting(range)
        var isInside = false
        for ring in 0..<ringCount {
            switch RingTest.position(x: x, y: y, in: all.extracting(range(of: ring))) {
            case .onBoundary: return true
            case .inside: isInside.toggle()
            case .outside: break
            }
        }
        return isInside
    }

    /// Metres to the nearest edge, not negative.
    func boundaryDistance(to place: Coordinate) -> Double {
        let (x, y) = frame.offset(of: place)
        var distance = EdgeDistance(frame: frame, x: x, y: y)
        let all = list.span.extracting(range)
        for ring in 0..<ringCount { distance.search(all.extracting(range(of: ring)), isClosed: true) }
        for ring in 0..<ringCount { distance.measure(all.extracting(range(of: ring)), isClosed: true) }
        if distance.isExact { return distance.best }
        return EdgeSearch.distance(
            from: frame.degrees(x: Double(x), y: Double(y)), frame: frame, lines: rings, isClosed: true)
    }

    /// Metres, negative inside.
    package func signedDistance(to place: Coordinate) -> Double {
        let distance = boundaryDistance(to: place)
        return contains(place) ? -distance : distance
    }

    private var rings: [ArraySlice<GridOffset>] {
        (0..<ringCount).map { ring in
            let range = range(of: ring)
            return vertices[vertices.startIndex + range.lowerBound..<vertices.startIndex + range.upperBound]
        }
    }

    func parts(of way: Way) -> [ClosedRange<Double>] {
        let (startX, startY) = frame.offset(of: way.start)
        let line = StraightLine(
            x: Double(startX), y: Double(startY), alongX: Double(way.eastE7), alongY: Double(way.northE7))
        let all = list.span.extracting(range)
        var shares: [Double] = [0, 1]
        for ring in 0..<ringCount { line.addCrossings(with: all.extracting(range(of: ring)), to: &shares) }
        if shares.count > 2 { shares.sort() }
        var parts: [ClosedRange<Double>] = []
        for (low, high) in zip(shares, shares.dropFirst()) where low < high {
            let (x, y) = line.offset((low + high) / 2)
            var isInside = false
            for ring in 0..<ringCount where StraightLine.isInside(x: x, y: y, all.extracting(range(of: ring))) {
                isInside.toggle()
            }
            guard isInside else { continue }
            if let last = parts.last, last.upperBound == low {
                parts[parts.count - 1] = last.lowerBound...high
            } else {
                parts.append(low...high)
            }
        }
        return parts
    }

    private static func width(_ frame: ShapeFrame, _ rings: [[GridOffset]]) -> Double {
        let middle = (Double(frame.southE7) + Double(frame.height) / 2) / 1e7
        let scale = Ellipsoid.metresPerDegree(at: middle)
        let (east, north) = (scale.east / 1e7, scale.north / 1e7)
        var (area, perimeter) = (0.0, 0.0)
        for (number, ring) in rings.enumerated() {
            var twice = 0.0
            guard var last = ring.last else { continue }
            for vertex in ring {
                let (x0, y0) = (Double(last.x) * east, Double(last.y) * north)
                let (x1, y1) = (Double(vertex.x) * east, Double(vertex.y) * north)
                twice += x0 * y1 - x1 * y0
                perimeter += ((x1 - x0) * (x1 - x0) + (y1 - y0) * (y1 - y0)).squareRoot()
                last = vertex
            }
            let isHole = number > 0 && isHole(ring, in: rings)
            area += isHole ? -twice.magnitude / 2 : twice.magnitude / 2
        }
        return perimeter > 0 ? max(2 * area / perimeter, 0) : 0
    }

    /// Whether a ring lies in an odd number of others.
    private static func isHole(_ ring: [GridOffset], in rings: [[GridOffset]]) -> Bool {
        guard let first = ring.first else { return false }
        return rings.reduce(false) { isHole, other in
            guard other != ring else { return isHole }
            return isHole != (RingTest.position(x: Int64(first.x), y: Int64(first.y), in: other.span) == .inside)
        }
    }
}

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
