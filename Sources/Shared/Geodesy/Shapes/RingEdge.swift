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
