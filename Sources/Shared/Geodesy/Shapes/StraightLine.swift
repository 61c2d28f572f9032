/// A piece of a straight line in the grid of a shape, in floating point: for places on the way, not for verdicts.
struct StraightLine {
    let x: Double
    let y: Double
    let alongX: Double
    let alongY: Double

    func offset(_ share: Double) -> (x: Double, y: Double) { (x + share * alongX, y + share * alongY) }

    /// Appends the shares at which this piece meets the edges of a ring. Touches count, so a share may come twice.
    func addCrossings(with ring: Span<GridOffset>, to shares: inout [Double]) {
        var previous = ring[ring.count - 1]
        let (low, high) = (min(y, y + alongY), max(y, y + alongY))
        for index in 0..<ring.count {
            let vertex = ring[index]
            let (startX, startY) = (Double(previous.x), Double(previous.y))
            let (endX, endY) = (Double(vertex.x), Double(vertex.y))
            previous = vertex
            guard max(startY, endY) >= low, min(startY, endY) <= high else { continue }
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
        var previous = ring[ring.count - 1]
        var isInside = false
        for index in 0..<ring.count {
            let vertex = ring[index]
            let (y0, y1) = (Double(previous.y) - y, Double(vertex.y) - y)
            if (y0 > 0) != (y1 > 0) {
                let (x0, x1) = (Double(previous.x) - x, Double(vertex.x) - x)
                if (x0 * y1 > x1 * y0) == (y1 > y0) { isInside.toggle() }
            }
            previous = vertex
        }
        return isInside
    }
}
