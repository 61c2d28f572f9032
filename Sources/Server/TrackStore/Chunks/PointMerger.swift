package import TrackModel

/// Brings the points of several chunks into one order, by time. Of points with the same time only the one that was
/// stored last remains.
package struct PointMerger {
    private struct Key {
        var time: Int64
        /// Stored later is greater.
        var chunk: Int64
        var position: Int32
        var index: Int32
    }

    private var points: [StoredPoint] = []
    private var keys: [Key] = []
    private var isInOrder = true

    package init() {}

    /// Points taken, superseded ones counted.
    package var count: Int { keys.count }

    /// Takes the points of a chunk that are inside the range.
    package mutating func add(_ chunk: StoredChunk, in range: ClosedRange<Timestamp>) {
        let needed = points.count + chunk.points.count
        if needed > points.capacity {
            // A day is a handful of chunks: one look ahead spares most of the moves that growing point by point takes.
            let room = max(needed, 4 * points.capacity)
            points.reserveCapacity(room)
            keys.reserveCapacity(room)
        }
        for (position, point) in chunk.points.enumerated() where range.contains(point.fix.time) {
            let time = point.fix.time.milliseconds
            if let last = keys.last, last.time >= time { isInOrder = false }
            keys.append(Key(time: time, chunk: chunk.id, position: Int32(position), index: Int32(points.count)))
            points.append(StoredPoint(point, received: chunk.received[position]))
        }
    }

    /// Drops superseded points.
    package mutating func tidy() {
        guard !isInOrder else { return }
        keys.sort { ($0.time, $0.chunk, $0.position) < ($1.time, $1.chunk, $1.position) }
        var kept: [Key] = []
        kept.reserveCapacity(keys.count)
        for key in keys {
            if kept.last?.time == key.time { kept.removeLast() }
            kept.append(key)
        }
        points = kept.map { points[Int($0.index)] }
        for index in kept.indices { kept[index].index = Int32(index) }
        keys = kept
        isInOrder = true
    }

    package mutating func finish() -> [StoredPoint] {
        tidy()
        return points
    }
}
