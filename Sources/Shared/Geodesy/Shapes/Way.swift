package import TrackModel

/// The way between two points: straight in unwrapped latitude and longitude, the short way round.
package struct Way: Hashable, Sendable {
    package let start: Coordinate
    package let end: Coordinate
    /// From start to end, units of 1e-7 degree.
    let eastE7: Int64
    let northE7: Int64

    package init(from start: Coordinate, to end: Coordinate) {
        self.start = start
        self.end = end
        eastE7 = ShapeFrame.wrapped(Int64(end.longitudeE7) - Int64(start.longitudeE7))
        northE7 = Int64(end.latitudeE7) - Int64(start.latitudeE7)
    }

    /// Metres between the two points.
    package var length: Double { SurfaceDistance.between(start, end) }

    /// Degrees at a share of the way, 0 ... 1. The longitude may be beyond 180.
    func degrees(at share: Double) -> Degrees {
        Degrees(
            latitude: (Double(start.latitudeE7) + share * Double(northE7)) / 1e7,
            longitude: (Double(start.longitudeE7) + share * Double(eastE7)) / 1e7)
    }

    /// The place at a share of the way, 0 ... 1, rounded to the grid.
    package func place(at share: Double) -> Coordinate {
        guard share > 0 else { return start }
        guard share < 1 else { return end }
        let latitude = Int64(start.latitudeE7) + Int64((share * Double(northE7)).rounded())
        let longitude = ShapeFrame.wrapped(Int64(start.longitudeE7) + Int64((share * Double(eastE7)).rounded()))
        return Coordinate(latitudeE7: Int32(clamping: latitude), longitudeE7: Int32(longitude)) ?? end
    }

    /// At least the length of the way, metres, on any ellipsoid within 0.7 % of the sphere.
    package var longest: Double {
        let crossesEquator = (start.latitudeE7 < 0) != (end.latitudeE7 < 0)
        let flattest = crossesEquator ? 0 : min(start.latitude.magnitude, end.latitude.magnitude)
        let (_, cosine) = Trigonometry.sineAndCosine(flattest)
        let (north, east) = (Double(northE7) / 1e7, Double(eastE7) / 1e7 * cosine)
        return (north * north + east * east).squareRoot() * 111_800
    }
}

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

/// The parts of a way that lie inside a shape.
package struct Passage: Hashable, Sendable {
    /// Shares of the way, 0 ... 1, in order; each has a length.
    package let parts: [ClosedRange<Double>]

    package init(parts: [ClosedRange<Double>]) {
        self.parts = parts
    }

    /// Where the way comes in for the last time, when its end is inside. A way that ends on the boundary comes in there.
    package var entry: Double? {
        guard let last = parts.last, last.upperBound >= 1 else { return 1 }
        return last.lowerBound > 0 ? last.lowerBound : nil
    }

    /// Where the way goes out for the last time, when its end is outside. A way that begins on the boundary goes out there.
    package var exit: Double? {
        guard let last = parts.last else { return 0 }
        return last.upperBound < 1 ? last.upperBound : nil
    }

    /// The longest part.
    package var longest: ClosedRange<Double>? {
        parts.max { $0.upperBound - $0.lowerBound < $1.upperBound - $1.lowerBound }
    }
}

/// Finds the inside parts of a way from signed distances alone, for shapes whose boundary has no simple formula.
///
/// Between two places the signed distance changes by no more than the way's length. So a piece of the way whose ends are
/// far enough outside, or inside, is wholly so; other pieces are halved.
struct PassageSearch {
    /// Metres: shorter pieces are not halved any more. A shorter visit may be missed; no visit is made up.
    private static let shortest = 0.25
    private static let mostEvaluations = 4000

    private let length: Double
    private let signedDistance: (Double) -> Double
    private var evaluations = 0
    private var crossings: [Double] = []

    private init(length: Double, signedDistance: @escaping (Double) -> Double) {
        self.length = length
        self.signedDistance = signedDistance
    }

    /// `signedDistance` gives metres at a share of the way, negative inside; `length` is at least the way's length.
    static func parts(length: Double, signedDistance: (Double) -> Double) -> [ClosedRange<Double>] {
        withoutActuallyEscaping(signedDistance) { signed in
            var search = PassageSearch(length: length, signedDistance: signed)
            let (start, end) = (signed(0), signed(1))
            search.look(0, start, 1, end)
            return search.parts(startsInside: start <= 0)
        }
    }

    private mutating func look(_ low: Double, _ lowValue: Double, _ high: Double, _ highValue: Double) {
        let span = (high - low) * length
        let sameSide = (lowValue <= 0) == (highValue <= 0)
        // The slack covers the errors of the distances.
        if sameSide, lowValue.magnitude + highValue.magnitude > span + 0.1 { return }
        if span <= Self.shortest || evaluations >= Self.mostEvaluations {
            if !sameSide {
                crossings.append(Self.root(low, lowValue, high, highValue, of: signedDistance))
            }
            return
        }
        evaluations += 1
        let middle = (low + high) / 2
        let value = signedDistance(middle)
        look(low, lowValue, middle, value)
        look(middle, value, high, highValue)
    }

    private func parts(startsInside: Bool) -> [ClosedRange<Double>] {
        var parts: [ClosedRange<Double>] = []
        var entry: Double? = startsInside ? 0 : nil
        for crossing in crossings {
            if let begun = entry {
                if crossing > begun { parts.append(begun...crossing) }
                entry = nil
            } else {
                entry = crossing
            }
        }
        if let begun = entry, begun < 1 { parts.append(begun...1) }
        return parts
    }

    /// Where a function changes its sign between two places, by false position (the Illinois variant).
    static func root(
        _ low: Double, _ lowValue: Double, _ high: Double, _ highValue: Double, of function: (Double) -> Double
    ) -> Double {
        var (low, lowValue, high, highValue) = (low, lowValue, high, highValue)
        var lastSide = 0
        for _ in 0..<60 where high - low > 1e-13 {
            guard lowValue != highValue else { break }
            let guess = min(max((low * highValue - high * lowValue) / (highValue - lowValue), low), high)
            let value = function(guess)
            if value.magnitude < 1e-7 { return guess }
            if (value <= 0) == (lowValue <= 0) {
                (low, lowValue) = (guess, value)
                if lastSide == -1 { highValue /= 2 }
                lastSide = -1
            } else {
                (high, highValue) = (guess, value)
                if lastSide == 1 { lowValue /= 2 }
                lastSide = 1
            }
        }
        return (low + high) / 2
    }
}
