internal import TrackModel

extension Way {
    /// A share of the way: much more than rounding moves a crossing.
    private static let slack = 1e-6

    /// False when the way surely does not cross an edge of a ring.
    package func mayCross(_ ring: Span<GridOffset>, southE7: Int32, westE7: Int32) -> Bool {
        let x = ShapeFrame.wrapped(Int64(start.longitudeE7) - Int64(westE7))
        let y = Int64(start.latitudeE7) - Int64(southE7)
        guard x < 0 else { return mayCross(ring, x: x, y: y) }
        // West of the corner is also, a turn away, far east of it: a wide shape may reach there.
        if mayCross(ring, x: x + ShapeFrame.turn, y: y) { return true }
        return x + eastE7 >= 0 && mayCross(ring, x: x, y: y)
    }

    /// The same for a way that begins at an offset from the ring's corner.
    private func mayCross(_ ring: Span<GridOffset>, x: Int64, y: Int64) -> Bool {
        let (low, high) = (min(y, y + northE7), max(y, y + northE7))
        var from = ring[ring.count - 1]
        for index in 0..<ring.count {
            let to = ring[index]
            defer { from = to }
            // Most edges lie north or south of the way.
            let (fromY, toY) = (Int64(from.y), Int64(to.y))
            if (fromY < low && toY < low) || (fromY > high && toY > high) { continue }
            if mayCross(from, to, x: Double(x), y: Double(y)) { return true }
        }
        return false
    }

    private func mayCross(_ from: GridOffset, _ to: GridOffset, x: Double, y: Double) -> Bool {
        let (fromX, fromY) = (Double(from.x) - x, Double(from.y) - y)
        let (toX, toY) = (Double(to.x) - x, Double(to.y) - y)
        let (alongX, alongY) = (Double(eastE7), Double(northE7))
        let (side, next) = (fromX * alongY - fromY * alongX, toX * alongY - toY * alongX)
        // Both ends lie on one side of the way's line.
        guard (side >= 0) != (next >= 0) || side == 0 else { return false }
        let (edgeX, edgeY) = (toX - fromX, toY - fromY)
        let meeting = fromX * edgeY - fromY * edgeX
        let whole = alongX * edgeY - alongY * edgeX
        // The edge meets the line before the way begins, or after it ends.
        let slack = Self.slack * whole.magnitude
        return whole == 0 || (meeting >= min(whole, 0) - slack && meeting <= max(whole, 0) + slack)
    }

    /// False when the way surely stays outside a circle.
    package func mayTouch(circleAround latitudeE7: Int32, _ longitudeE7: Int32, radius: Double) -> Bool {
        let latitude = Double(latitudeE7) / 1e7
        // The plane serves only for small circles far from the poles.
        guard radius <= 10_000, latitude.magnitude <= 75, longest < 20_000 else { return true }
        let scale = Ellipsoid.metresPerDegree(at: latitude)
        let (east, north) = (scale.east / 1e7, scale.north / 1e7)
        let x = Double(ShapeFrame.wrapped(Int64(start.longitudeE7) - Int64(longitudeE7))) * east
        let y = Double(Int64(start.latitudeE7) - Int64(latitudeE7)) * north
        let (alongX, alongY) = (Double(eastE7) * east, Double(northE7) * north)
        let square = alongX * alongX + alongY * alongY
        let share = square > 0 ? min(max(-(x * alongX + y * alongY) / square, 0), 1) : 0
        let (nearX, nearY) = (x + share * alongX, y + share * alongY)
        let reach = radius * 1.02 + 1
        return nearX * nearX + nearY * nearY <= reach * reach
    }
}
