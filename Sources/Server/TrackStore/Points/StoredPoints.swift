package import TrackModel

/// Stored points, packed: 56 bytes a point.
package struct StoredPoints: RandomAccessCollection, Hashable, Sendable {
    /// Of the same points.
    package private(set) var points = PackedPoints()
    private var received: [Timestamp] = []

    package init() {}

    package init(_ points: some Sequence<StoredPoint>) {
        reserve(points.underestimatedCount)
        for stored in points {
            self.points.append(stored.point)
            received.append(stored.received)
        }
    }

    /// Nil when there is not one time for each point.
    init?(_ points: PackedPoints, received: [Timestamp]) {
        guard points.count == received.count else { return nil }
        self.points = points
        self.received = received
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { received.count }

    package subscript(position: Int) -> StoredPoint { StoredPoint(points[position], received: received[position]) }

    mutating func reserve(_ count: Int) {
        points.reserve(count)
        received.reserveCapacity(count)
    }

    mutating func append(_ other: StoredPoints, _ range: Range<Int>) {
        points.append(other.points, range)
        received.append(contentsOf: other.received[range])
    }

    /// The points at these positions, in this order.
    func picked(_ positions: [Int]) -> StoredPoints {
        var picked = StoredPoints()
        picked.points = points.picked(positions)
        picked.received = positions.map { received[$0] }
        return picked
    }

    /// Of memory, roughly.
    package var bytes: Int { points.bytes + received.count * MemoryLayout<Timestamp>.stride }
}

extension StoredPoints: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: StoredPoint...) { self.init(elements) }
}
