internal import TrackModel

extension Way {
    /// False when the way surely does not cross an edge of a ring.
    package func mayCross(_ ring: Span<GridOffset>, southE7: Int32, westE7: Int32) -> Bool {
        var x = ShapeFrame.wrapped(Int64(start.longitudeE7) - Int64(westE7))
        // Wholly west of the corner is also, a turn away, far east of it: a wide shape may reach there.
        if x < 0, x + eastE7 < 0 { x += ShapeFrame.turn }
        let (startX, startY) = (Double(x), Double(Int64(start.latitudeE7) - Int64(southE7)))
        let (alongX, alongY) = (Double(eastE7), Double(northE7))
        let last = ring[ring.count - 1]
        var side = (Double(last.x) - startX) * alongY - (Double(last.y) - startY) * alongX
        // All vertices on one side of the way's line: no edge crosses it.
        for index in 0..<ring.count {
            let vertex = ring[index]
            let next = (Double(vertex.x) - startX) * alongY - (Double(vertex.y) - startY) * alongX
            if (side >= 0) != (next >= 0) || side == 0 { return true }
            side = next
        }
        return false
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
