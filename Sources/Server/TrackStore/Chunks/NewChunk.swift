package import TrackModel
import TrackWire

/// A chunk that is not stored yet.
package struct NewChunk: Sendable {
    package let firstTime: Int64
    package let lastTime: Int64
    package let count: Int
    package let isCompressed: Bool
    package let payload: [UInt8]
    package let received: Int64
    package let runs: [UInt8]?

    /// A payload as it was received. Nil when it exceeds what a chunk may be.
    package init?(_ points: [TrackPoint], payload: EncodedPoints, received: Timestamp) {
        guard let first = points.first, points.count <= ChunkLimits.points else { return nil }
        var earliest = first.fix.time
        var latest = earliest
        for point in points.dropFirst() {
            earliest = min(earliest, point.fix.time)
            latest = max(latest, point.fix.time)
        }
        guard latest.milliseconds(since: earliest) <= ChunkLimits.span else { return nil }
        firstTime = earliest.milliseconds
        lastTime = latest.milliseconds
        count = points.count
        isCompressed = payload.isCompressed
        self.payload = payload.bytes
        self.received = received.milliseconds
        runs = nil
    }

    /// Not empty, in time order, within the limits.
    private init(_ points: some BidirectionalCollection<StoredPoint>) {
        let encoded = BatchCodec.encode(points.map(\.point))
        firstTime = points.first?.point.fix.time.milliseconds ?? 0
        lastTime = points.last?.point.fix.time.milliseconds ?? 0
        count = points.count
        isCompressed = encoded.isCompressed
        payload = encoded.bytes
        let receiving = ReceiveRuns.encode(points.lazy.map(\.received))
        received = receiving.first.milliseconds
        runs = receiving.runs
    }

    /// Points in time order as chunks of at most `size` points.
    package static func cut<Points: RandomAccessCollection<StoredPoint>>(
        _ points: Points, size: Int = ChunkLimits.points
    ) -> [NewChunk] where Points.Index == Int {
        var chunks: [NewChunk] = []
        var start = points.startIndex
        var measure = ChunkMeasure()
        for (index, point) in zip(points.indices, points) where !measure.add(point.point, maximumPoints: size) {
            chunks.append(NewChunk(points[start..<index]))
            start = index
            measure = ChunkMeasure()
            _ = measure.add(point.point, maximumPoints: size)
        }
        if start < points.endIndex { chunks.append(NewChunk(points[start...])) }
        return chunks
    }
}
