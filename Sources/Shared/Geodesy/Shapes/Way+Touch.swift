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
        // No vertex lies outside these numbers.
        let limits = 0...Int64(UInt32.max)
        guard high >= limits.lowerBound, low <= limits.upperBound else { return false }
        let (south, north) = (UInt32(max(low, limits.lowerBound)), UInt32(min(high, limits.upperBound)))
        var last = ring[ring.count - 1]
        // First which edges are neither north nor south of the way, without a branch, then those few.
        for start in stride(from: 0, to: ring.count, by: 64) {
            let count = min(64, ring.count - start)
            var (below, above) = (UInt64(0), UInt64(0))
            for index in 0..<count {
                let height = ring[start + index].y
                below |= (height < south ? 1 : 0) &<< UInt64(truncatingIfNeeded: index)
                above |= (height > north ? 1 : 0) &<< UInt64(truncatingIfNeeded: index)
            }
            // Bit n: the edge that ends in vertex n.
            let isBelow = below & (below &<< 1 | (last.y < south ? 1 : 0))
            let isAbove = above & (above &<< 1 | (last.y > north ? 1 : 0))
            var near = ~(isBelow | isAbove)
            if count < 64 { near &= (1 &<< UInt64(count)) - 1 }
            while near != 0 {
                let index = start + near.trailingZeroBitCount
                near &= near - 1
                let from = index == start ? last : ring[index - 1]
                if mayCross(from, ring[index], x: Double(x), y: Double(y)) { return true }
            }
            last = ring[start + count - 1]
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
