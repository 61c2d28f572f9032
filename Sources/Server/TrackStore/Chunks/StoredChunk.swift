package import TrackModel
import TrackWire

/// A chunk as it was read from a store.
package struct StoredChunk: Sendable {
    package let id: Int64
    package let points: StoredPoints
    /// The least and the greatest time of the points.
    let times: ClosedRange<Timestamp>

    /// Decodes what the store keeps of a chunk; `received` is the receive time of its first point, `first` and `last` are
    /// the least and the greatest time of its points.
    ///
    /// Throws `.corrupt`.
    package init(
        id: Int64, first: Timestamp, last: Timestamp, count: Int, isCompressed: Bool, received: Timestamp,
        runs: [UInt8]?, payload: [UInt8]
    ) throws(TrackStoreError) {
        self.id = id
        let points: PackedPoints
        do {
            points = try BatchCodec.decodePacked(payload, isCompressed: isCompressed)
        } catch {
            throw TrackStoreError(.corrupt, "chunk \(id) cannot be read: \(error)")
        }
        guard points.count == count else {
            throw TrackStoreError(.corrupt, "chunk \(id) should hold \(count) points, it holds \(points.count)")
        }
        var (least, greatest) = (Timestamp(milliseconds: .max), Timestamp(milliseconds: .min))
        for position in 0..<count {
            let time = points.time(at: position)
            least = min(least, time)
            greatest = max(greatest, time)
        }
        guard count > 0, least == first, greatest == last else {
            throw TrackStoreError(.corrupt, "chunk \(id) does not begin and end when its columns say")
        }
        times = first...last
        guard let received = ReceiveRuns.decode(runs, first: received, count: count),
            let stored = StoredPoints(points, received: received)
        else {
            throw TrackStoreError(.corrupt, "the receive times of chunk \(id) do not fit its \(count) points")
        }
        self.points = stored
    }
}

/// Brings the points of several chunks into one order, by time. Of points with the same time only the one that was
/// stored last remains.
package struct PointMerger {
    private var points = StoredPoints()
    /// The chunks of the points, and where those of each end; stored later is greater. Of points of one chunk, the order
    /// tells.
    private var runs: [(chunk: Int64, end: Int)] = []
    private var isInOrder = true

    /// `expected`: how many points will come, roughly, as the store says. They then get their memory once.
    package init(expected: Int = 0) { points.reserve(max(0, expected)) }

    /// Points taken, superseded ones counted.
    package var count: Int { points.count }

    /// Takes the points of a chunk that are inside the range.
    package mutating func add(_ chunk: StoredChunk, in range: ClosedRange<Timestamp>) {
        let (start, all) = (count, chunk.points.points)
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
        if points.count > start { runs.append((chunk.id, points.count)) }
        guard isInOrder else { return }
        let packed = points.points
        isInOrder = (max(start, 1)..<max(points.count, 1)).allSatisfy { packed.time(at: $0 - 1) < packed.time(at: $0) }
    }

    /// Drops superseded points.
    package mutating func tidy() {
        guard !isInOrder else { return }
        let (packed, chunks) = (points.points, chunkOfEach)
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
        runs = []
        for (index, position) in kept.enumerated() {
            if runs.last?.chunk == chunks[position] { runs.removeLast() }
            runs.append((chunks[position], index + 1))
        }
        isInOrder = true
    }

    /// By the positions of the points.
    private var chunkOfEach: [Int64] {
        var chunks: [Int64] = []
        chunks.reserveCapacity(count)
        for run in runs { chunks.append(contentsOf: repeatElement(run.chunk, count: run.end - chunks.count)) }
        return chunks
    }

    package mutating func finish() -> StoredPoints {
        tidy()
        return points
    }
}
