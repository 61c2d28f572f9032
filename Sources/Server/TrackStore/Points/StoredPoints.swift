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

/// A point with the time at which the server received it.
package struct StoredPoint: Hashable, Sendable {
    package var point: TrackPoint
    package var received: Timestamp

    package init(_ point: TrackPoint, received: Timestamp) {
        self.point = point
        self.received = received
    }
}

/// What a store has of a track in a range of time.
package struct StoredTrack: Hashable, Sendable {
    /// Ascending; of two points with the same time the one stored later.
    package var points: StoredPoints
    /// Where stored points cannot be read, in the order of their beginnings. Empty in a sound store.
    package var holes: [TrackHole]

    package init(points: StoredPoints, holes: [TrackHole] = []) {
        self.points = points
        self.holes = holes
    }
}

/// A stretch of a track in which stored points cannot be read. Other points of the same time may be readable.
package struct TrackHole: Hashable, Sendable {
    /// The first and the last time that is concerned, as far as the range that was asked for reaches.
    package var from: Timestamp
    package var through: Timestamp
    /// Points that cannot be read, also those outside the range.
    package var count: Int
    /// Why, a sentence for an operator.
    package var reason: String

    package init(from: Timestamp, through: Timestamp, count: Int, reason: String) {
        self.from = from
        self.through = through
        self.count = count
        self.reason = reason
    }
}
