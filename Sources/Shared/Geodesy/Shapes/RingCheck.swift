/// The rules between the rings of a shape: no two edges cross, holes lie in their shell, parts beside each other.
struct RingCheck {
    /// Pairs of edges that are compared at most: a bound of about a second for shapes made to be slow.
    static let mostComparisons = 200_000_000
    static let mostRings = 10_000

    /// All rings; `shells` has for each ring the ring that is its shell, a shell's own number for a shell.
    let rings: [[LineVertex]]
    let shells: [Int]
    let names: [String]
    var comparisonLimit = RingCheck.mostComparisons

    func check() throws(ShapeError) {
        try checkCrossings()
        guard rings.count > 1 else { return }
        try checkNesting()
    }

    // MARK: Crossings

    private func edges() -> [RingEdge] {
        var edges: [RingEdge] = []
        edges.reserveCapacity(rings.reduce(0) { $0 + $1.count })
        for (number, ring) in rings.enumerated() {
            for index in ring.indices {
                edges.append(
                    RingEdge(
                        start: ring[index], end: ring[(index + 1) % ring.count], ring: number,
                        following: ring[(index + 2) % ring.count]))
            }
        }
        return edges
    }

    /// Goes through the edges in the order of the axis on which they overlap less, and compares those that overlap.
    private func checkCrossings() throws(ShapeError) {
        var edges = edges()
        let spreadX = spread(edges) { ($0.lowX, $0.highX) }
        let spreadY = spread(edges) { ($0.lowY, $0.highY) }
        let byX = spreadX <= spreadY
        edges.sort { byX ? $0.lowX < $1.lowX : $0.lowY < $1.lowY }
        var comparisons = 0
        for (position, edge) in edges.enumerated() {
            let limit = byX ? edge.highX : edge.highY
            for other in edges[(position + 1)...] {
                guard (byX ? other.lowX : other.lowY) <= limit else { break }
                comparisons += 1
                guard comparisons <= comparisonLimit else {
                    throw ShapeError(
                        .tooIntricate,
                        "too many long edges lie beside each other to check them all: draw the shape with fewer vertices"
                    )
                }
                let overlap =
                    byX
                    ? other.lowY <= edge.highY && other.highY >= edge.lowY
                    : other.lowX <= edge.highX && other.highX >= edge.lowX
                guard overlap, let place = edge.crossing(with: other) else { continue }
                throw crossingError(edge, other, at: place)
            }
        }
    }

    /// The overlaps to expect, as a share of the whole range.
    private func spread(_ edges: [RingEdge], range: (RingEdge) -> (low: Int64, high: Int64)) -> Double {
        var (least, most, sum) = (Int64.max, Int64.min, 0.0)
        for edge in edges {
            let (low, high) = range(edge)
            least = min(least, low)
            most = max(most, high)
            sum += Double(high - low)
        }
        return sum / max(Double(most - least), 1)
    }

    private func crossingError(_ one: RingEdge, _ two: RingEdge, at place: Degrees) -> ShapeError {
        let isInOrder = (one.ring, one.start.number) < (two.ring, two.start.number)
        let (first, second) = isInOrder ? (one, two) : (two, one)
        return ShapeError(
            .crossing,
            "\(text(first)) crosses \(text(second)) at \(place.text): no two edges of a shape may cross")
    }

    private func text(_ edge: RingEdge) -> String {
        "edge \(edge.start.number) of \(names[edge.ring]) (\(edge.start.degrees.text) to \(edge.end.degrees.text))"
    }

    // MARK: Nesting

    private func checkNesting() throws(ShapeError) {
        let boxes = rings.map(box)
        var comparisons = 0
        for number in rings.indices {
            let shell = shells[number]
            if shell != number, try isInside(number, of: shell, boxes, &comparisons) == false {
                throw ShapeError(
                    .holeOutside,
                    "\(names[number]) lies outside \(names[shell]), at \(place(of: number)): a hole lies in its own shell"
                )
            }
            var depth = 0
            for other in rings.indices where other != number {
                if try isInside(number, of: other, boxes, &comparisons) == true { depth += 1 }
            }
            guard (depth % 2 == 0) == (shell == number) else {
                throw ShapeError(
                    .partInside,
                    "\(names[number]), at \(place(of: number)), overlaps another ring of the shape: parts and holes lie"
                        + " beside each other")
            }
        }
    }

    private func place(of ring: Int) -> String { rings[ring].first?.degrees.text ?? "" }

    private func box(_ ring: [LineVertex]) -> (west: Int64, south: Int64, east: Int64, north: Int64) {
        var box = (west: Int64.max, south: Int64.max, east: Int64.min, north: Int64.min)
        for vertex in ring {
            box = (min(box.west, vertex.x), min(box.south, vertex.y), max(box.east, vertex.x), max(box.north, vertex.y))
        }
        return box
    }

    /// Whether a ring lies in another one, by its first vertex that is not on it; nil when all of them are.
    private func isInside(
        _ ring: Int, of other: Int, _ boxes: [(west: Int64, south: Int64, east: Int64, north: Int64)],
        _ comparisons: inout Int
    ) throws(ShapeError) -> Bool? {
        let (inner, outer) = (boxes[ring], boxes[other])
        guard inner.west >= outer.west, inner.east <= outer.east, inner.south >= outer.south, inner.north <= outer.north
        else { return false }
        let offsets = rings[other].map { GridOffset(x: UInt32($0.x - outer.west), y: UInt32($0.y - outer.south)) }
        for vertex in rings[ring] {
            comparisons += offsets.count
            guard comparisons <= comparisonLimit else {
                throw ShapeError(
                    .tooIntricate,
                    "too many vertices of \(names[ring]) lie on \(names[other]) to check them all: draw them with fewer"
                )
            }
            switch RingTest.position(x: vertex.x - outer.west, y: vertex.y - outer.south, in: offsets.span) {
            case .inside: return true
            case .outside: return false
            case .onBoundary: continue
            }
        }
        return nil
    }
}

/// An edge of a ring on its way through the checks.
struct RingEdge {
    let start: LineVertex
    let end: LineVertex
    /// Which ring of the shape, from 0.
    let ring: Int
    /// The end of the ring's next edge.
    let following: LineVertex

    var lowX: Int64 { min(start.x, end.x) }
    var highX: Int64 { max(start.x, end.x) }
    var lowY: Int64 { min(start.y, end.y) }
    var highY: Int64 { max(start.y, end.y) }

    /// Where this edge crosses another one, degrees; nil when it does not, or only touches it.
    func crossing(with other: RingEdge) -> Degrees? {
        let startSide = RingTest.side(of: start.place, from: other.start.place, to: other.end.place)
        let endSide = RingTest.side(of: end.place, from: other.start.place, to: other.end.place)
        let otherStart = RingTest.side(of: other.start.place, from: start.place, to: end.place)
        let otherEnd = RingTest.side(of: other.end.place, from: start.place, to: end.place)
        if startSide * endSide < 0, otherStart * otherEnd < 0 { return intersection(with: other) }
        // A vertex on the other edge, and the ring goes on beyond that edge.
        if endSide == 0, otherStart * otherEnd < 0, passes(through: other, cameFrom: startSide) { return end.degrees }
        if otherEnd == 0, startSide * endSide < 0, other.passes(through: self, cameFrom: otherStart) {
            return other.end.degrees
        }
        return nil
    }

    private func passes(through other: RingEdge, cameFrom side: Int) -> Bool {
        side * RingTest.side(of: following.place, from: other.start.place, to: other.end.place) < 0
    }

    private func intersection(with other: RingEdge) -> Degrees {
        let (dx, dy) = (Double(end.x - start.x), Double(end.y - start.y))
        let (otherX, otherY) = (Double(other.end.x - other.start.x), Double(other.end.y - other.start.y))
        let (gapX, gapY) = (Double(other.start.x - start.x), Double(other.start.y - start.y))
        let share = (gapX * otherY - gapY * otherX) / (dx * otherY - dy * otherX)
        return Degrees(
            latitude: (Double(start.y) + share * dy) / 1e7, longitude: (Double(start.x) + share * dx) / 1e7)
    }
}
