package import TrackModel

/// An area of one or more parts, with or without holes, whose edges are straight in latitude and longitude.
package struct PolygonShape: Hashable, Sendable {
    package let frame: ShapeFrame
    /// The rings one after the other, none closed by a repeated vertex.
    package let vertices: [GridOffset]
    /// Where each ring ends in `vertices`.
    package let ringEnds: [Int32]
    /// Twice the area over the perimeter, metres.
    let width: Double

    init(frame: ShapeFrame, rings: [[GridOffset]]) {
        self.frame = frame
        vertices = rings.flatMap { $0 }
        var end: Int32 = 0
        ringEnds = rings.map {
            end += Int32($0.count)
            return end
        }
        width = Self.width(frame, rings)
    }

    /// Exact. The boundary is inside.
    package func contains(_ place: Coordinate) -> Bool {
        let (x, y) = frame.offset(of: place)
        guard frame.contains(x: x, y: y) else { return false }
        return contains(x: x, y: y)
    }

    /// The same for an offset within the frame.
    package func contains(x: Int64, y: Int64) -> Bool {
        let all = vertices.span
        var isInside = false
        var start = 0
        for end in ringEnds {
            switch RingTest.position(x: x, y: y, in: all.extracting(start..<Int(end))) {
            case .onBoundary: return true
            case .inside: isInside.toggle()
            case .outside: break
            }
            start = Int(end)
        }
        return isInside
    }

    /// Metres to the nearest edge, not negative.
    func boundaryDistance(to place: Coordinate) -> Double {
        let (x, y) = frame.offset(of: place)
        var distance = EdgeDistance(frame: frame, x: x, y: y)
        let all = vertices.span
        var start = 0
        for end in ringEnds {
            distance.add(all.extracting(start..<Int(end)), isClosed: true)
            start = Int(end)
        }
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
        var start = 0
        return ringEnds.map { end in
            defer { start = Int(end) }
            return vertices[start..<Int(end)]
        }
    }

    func parts(of way: Way) -> [ClosedRange<Double>] {
        let (startX, startY) = frame.offset(of: way.start)
        let line = StraightLine(
            x: Double(startX), y: Double(startY), alongX: Double(way.eastE7), alongY: Double(way.northE7))
        var shares: [Double] = [0, 1]
        for ring in rings { line.addCrossings(with: ring, to: &shares) }
        if shares.count > 2 { shares.sort() }
        var parts: [ClosedRange<Double>] = []
        for (low, high) in zip(shares, shares.dropFirst()) where low < high {
            let (x, y) = line.offset((low + high) / 2)
            guard rings.reduce(false, { $0 != StraightLine.isInside(x: x, y: y, $1) }) else { continue }
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
