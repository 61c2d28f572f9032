package import TrackModel

/// Brings the points of several chunks into one order, by time. Of points with the same time only the one that was
/// stored last remains.
package struct PointMerger {
    private var points = StoredPoints()
    /// The chunk of each point; stored later is greater. Of points of one chunk, the order tells.
    private var chunks: [Int64] = []
    private var isInOrder = true

    package init() {}

    /// Points taken, superseded ones counted.
    package var count: Int { chunks.count }

    /// Takes the points of a chunk that are inside the range.
    package mutating func add(_ chunk: StoredChunk, in range: ClosedRange<Timestamp>) {
        let (start, all) = (count, chunk.points.points)
        reserve(start + all.count)
        if range.contains(chunk.times.lowerBound), range.contains(chunk.times.upperBound) {
            points.append(chunk.points, 0..<all.count)
        } else {
            // Points of a chunk are in the order in which they came: nearly always that of their times.
            var position = 0
            while position < all.count {
                let first = position
                while position < all.count, range.contains(all.time(at: position)) { position += 1 }
                points.append(chunk.points, first..<position)
                while position < all.count, !range.contains(all.time(at: position)) { position += 1 }
            }
        }
        chunks.append(contentsOf: repeatElement(chunk.id, count: points.count - start))
        guard isInOrder else { return }
        let packed = points.points
        isInOrder = (max(start, 1)..<max(points.count, 1)).allSatisfy { packed.time(at: $0 - 1) < packed.time(at: $0) }
    }

    /// A day is a handful of chunks: one look ahead spares most of the moves that growing chunk by chunk takes.
    private mutating func reserve(_ needed: Int) {
        guard needed > chunks.capacity else { return }
        let room = max(needed, 4 * chunks.capacity)
        points.reserve(room)
        chunks.reserveCapacity(room)
    }

    /// Drops superseded points.
    package mutating func tidy() {
        guard !isInOrder else { return }
        let packed = points.points
        let order = (0..<count).sorted {
            (packed.time(at: $0), chunks[$0], $0) < (packed.time(at: $1), chunks[$1], $1)
        }
        var kept: [Int] = []
        kept.reserveCapacity(order.count)
        for position in order {
            if let last = kept.last, packed.time(at: last) == packed.time(at: position) { kept.removeLast() }
            kept.append(position)
        }
        points = points.picked(kept)
        chunks = kept.map { chunks[$0] }
        isInOrder = true
    }

    package mutating func finish() -> StoredPoints {
        tidy()
        return points
    }
}
