internal import Geodesy

/// Samples in a row that fit a circle, single strays aside: as far as they go from a first sample.
///
/// The first and the last sample are inside, and of two neighbours at least one.
struct StayStretch: Sendable {
    typealias Point = EnclosingCircle.Point

    /// A sample of the stretch, or after it.
    private struct Member: Sendable {
        let point: Point
        /// Metres from the centre within which it is inside, when that is more than the radius: then it moves no circle.
        let coldReach: Double?
        var isOutside = false
    }

    /// Circles that are tried for one decision: at least so many, and more in a short stretch.
    private static let tries = (least: 16, points: 4000)

    /// A plane at the first sample.
    private let origin: EarthVector
    private let east: EarthVector
    private let north: EarthVector
    private let radius: Double
    private var members: [Member]
    private var center = Point(x: 0, y: 0)
    let first: Int
    /// The last sample inside.
    private(set) var last: Int

    /// `radius`: metres of the circle.
    init(from first: Int, at place: EarthVector, radius: Double) {
        (origin, east, north) = (place, place.heading(90), place.heading(0))
        // A millimetre for the rounding.
        self.radius = radius + 0.001
        (self.first, last) = (first, first)
        members = [Member(point: Point(x: 0, y: 0), coldReach: nil)]
    }

    /// The centre of the circle, on the plane.
    var middle: EarthVector { origin + east * center.x + north * center.y }

    /// Takes the next sample. False when it ends the stretch: two samples in a row are outside.
    mutating func add(at place: EarthVector, reach: Double) -> Bool {
        let off = place - origin
        let point = Point(x: off.dot(east), y: off.dot(north))
        members.append(Member(point: point, coldReach: reach > radius ? reach : nil))
        let (newest, before) = (members.count - 1, members[members.count - 2].isOutside)
        let squared = point.squaredDistance(to: center)
        if squared <= max(radius * radius, reach * reach) || fits(newest, tries: 1) {
            last = first + newest
            return true
        }
        members[newest].isOutside = true
        guard before else { return true }
        // Another sample may be the stray.
        return settles(newest) || settles(newest - 1)
    }

    /// No sample comes any more: the last one need not be a stray.
    mutating func finish() {
        if let end = members.last, end.isOutside { _ = settles(members.count - 1) }
    }

    /// Finds a circle for all samples up to one, with other strays.
    private mutating func settles(_ newest: Int) -> Bool {
        guard isNear(newest) else { return false }
        let known = members
        members[newest].isOutside = false
        let tries = max(Self.tries.least, Self.tries.points / members.count)
        if !fits(newest, tries: tries) {
            for position in 0...newest { members[position].isOutside = false }
            guard fits(newest, tries: tries) else {
                members = known
                return false
            }
        }
        last = first + newest
        return true
    }

    /// Whether one of all neighbours can be in a circle with a sample.
    private func isNear(_ newest: Int) -> Bool {
        let width = 4 * radius * radius
        var wasFar = false
        for member in members[..<newest].reversed() {
            let isFar = member.coldReach == nil && member.point.squaredDistance(to: members[newest].point) > width
            if isFar, wasFar { return false }
            wasFar = isFar
        }
        return !wasFar
    }

    /// Finds a circle for all samples up to one that are not strays, and moves there. Where none holds them, one of those on
    /// the edge of the smallest circle must be a stray.
    private mutating func fits(_ newest: Int, tries: Int) -> Bool {
        var left = tries
        guard let circle = circle(through: newest, &left) else { return false }
        center = circle.center
        return true
    }

    private mutating func circle(through newest: Int, _ tries: inout Int) -> EnclosingCircle? {
        tries -= 1
        var (points, numbers) = ([Point](), [Int]())
        points.reserveCapacity(newest + 1)
        for position in 0...newest where !members[position].isOutside && members[position].coldReach == nil {
            points.append(members[position].point)
            if tries > 0 { numbers.append(position) }
        }
        guard let circle = EnclosingCircle(points) else { return nil }
        if circle.squaredRadius <= radius * radius { return circle }
        guard tries > 0 else { return nil }
        let edge = circle.support.map { numbers[$0] }.sorted {
            members[$0].point.squaredDistance(to: center) > members[$1].point.squaredDistance(to: center)
        }
        for position in edge where position > 0 && position < newest && tries > 0 {
            guard !members[position - 1].isOutside, !members[position + 1].isOutside else { continue }
            members[position].isOutside = true
            if let found = self.circle(through: newest, &tries) { return found }
            members[position].isOutside = false
        }
        return nil
    }
}

/// The smallest circle around points of a plane, metres.
struct EnclosingCircle: Hashable, Sendable {
    struct Point: Hashable, Sendable {
        var x: Double
        var y: Double

        @inline(__always)
        func squaredDistance(to other: Point) -> Double {
            let (east, north) = (x - other.x, y - other.y)
            return east * east + north * north
        }
    }

    private(set) var center: Point
    private(set) var squaredRadius: Double
    /// Positions of the points on its edge, at most three: without one of them it would be smaller.
    private(set) var support: [Int]

    /// The circle grows by the point that is farthest outside, until none is. Nil for no points.
    init?(_ points: [Point]) {
        guard let first = points.first else { return nil }
        (center, squaredRadius, support) = (first, 0, [0])
        while true {
            var (farthest, most) = (-1, squaredRadius * (1 + 1e-12) + 1e-12)
            for (position, point) in points.enumerated() {
                let squared = point.squaredDistance(to: center)
                if squared > most { (farthest, most) = (position, squared) }
            }
            // Rounding alone may keep a point outside.
            guard farthest >= 0, !support.contains(farthest), grow(to: farthest, of: points) else { return }
        }
    }

    /// Takes a point outside to the edge: the smallest circle around it and the points on the edge so far.
    private mutating func grow(to position: Int, of points: [Point]) -> Bool {
        let others = support
        var best: EnclosingCircle?
        func consider(_ edge: [Int]) {
            guard let circle = EnclosingCircle(through: edge, of: points), circle.squaredRadius > squaredRadius,
                circle.squaredRadius < best?.squaredRadius ?? .infinity,
                others.allSatisfy({
                    points[$0].squaredDistance(to: circle.center) <= circle.squaredRadius * (1 + 1e-9) + 1e-9
                })
            else { return }
            best = circle
        }
        for other in others { consider([position, other]) }
        for (place, other) in others.enumerated() {
            for third in others[(place + 1)...] { consider([position, other, third]) }
        }
        guard let best else { return false }
        self = best
        return true
    }

    /// The circle with two points at the ends of a diameter, or through three points that are not in a line.
    private init?(through edge: [Int], of points: [Point]) {
        let (first, second) = (points[edge[0]], points[edge[1]])
        support = edge
        guard edge.count == 3 else {
            center = Point(x: (first.x + second.x) / 2, y: (first.y + second.y) / 2)
            squaredRadius = center.squaredDistance(to: first)
            return
        }
        let third = points[edge[2]]
        let (bx, by, cx, cy) = (second.x - first.x, second.y - first.y, third.x - first.x, third.y - first.y)
        let twice = 2 * (bx * cy - by * cx)
        guard twice.magnitude > 1e-12 else { return nil }
        let (b, c) = (bx * bx + by * by, cx * cx + cy * cy)
        let (x, y) = ((cy * b - by * c) / twice, (bx * c - cx * b) / twice)
        center = Point(x: first.x + x, y: first.y + y)
        squaredRadius = x * x + y * y
    }
}
