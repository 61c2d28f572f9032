/// A piece of a straight line in the grid of a shape, in floating point: for places on the way, not for verdicts.
struct StraightLine {
    let x: Double
    let y: Double
    let alongX: Double
    let alongY: Double

    func offset(_ share: Double) -> (x: Double, y: Double) { (x + share * alongX, y + share * alongY) }

    /// Appends the shares at which this piece meets the edges of a ring. Touches count, so a share may come twice.
    func addCrossings(with ring: Span<GridOffset>, to shares: inout [Double]) {
        // Most edges lie wholly south or north of the piece, which whole numbers tell.
        let limits = 0...Double(UInt32.max)
        let (low, high) = (min(y, y + alongY).rounded(.up), max(y, y + alongY).rounded(.down))
        guard high >= limits.lowerBound, low <= limits.upperBound else { return }
        let (south, north) = (UInt32(max(low, limits.lowerBound)), UInt32(min(high, limits.upperBound)))
        var previous = ring[ring.count - 1]
        for index in 0..<ring.count {
            let (start, end) = (previous, ring[index])
            previous = end
            if start.y < south, end.y < south { continue }
            if start.y > north, end.y > north { continue }
            let (startX, startY) = (Double(start.x), Double(start.y))
            let (endX, endY) = (Double(end.x), Double(end.y))
            let (edgeX, edgeY) = (endX - startX, endY - startY)
            let denominator = alongX * edgeY - alongY * edgeX
            // Along the edge: the neighbouring edges give the places.
            guard denominator != 0 else { continue }
            let share = ((startX - x) * edgeY - (startY - y) * edgeX) / denominator
            let onEdge = ((startX - x) * alongY - (startY - y) * alongX) / denominator
            // A little more than the edge, so that rounding loses no crossing at a vertex.
            guard share > 0, share < 1, onEdge >= -1e-9, onEdge <= 1 + 1e-9 else { continue }
            shares.append(share)
        }
    }

    /// The even-odd rule in floating point.
    static func isInside(x: Double, y: Double, _ ring: Span<GridOffset>) -> Bool {
        guard y >= 0, y <= Double(UInt32.max) else { return false }
        // A vertex is above the place exactly if it is above the whole number below the place.
        let level = UInt32(y)
        var previous = ring[ring.count - 1]
        var isInside = false
        for index in 0..<ring.count {
            let (start, end) = (previous, ring[index])
            previous = end
            guard (start.y > level) != (end.y > level) else { continue }
            let (x0, y0) = (Double(start.x) - x, Double(start.y) - y)
            let (x1, y1) = (Double(end.x) - x, Double(end.y) - y)
            if (x0 * y1 > x1 * y0) == (y1 > y0) { isInside.toggle() }
        }
        return isInside
    }
}
