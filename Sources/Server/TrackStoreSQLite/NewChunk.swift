import Foundation
import GRDB
import TrackModel
import TrackStore
import TrackWire

/// A chunk that is not stored yet.
struct NewChunk: Sendable {
    let firstTime: Int64
    let lastTime: Int64
    let count: Int
    let isCompressed: Bool
    let payload: [UInt8]
    let received: Int64
    let runs: [UInt8]?

    /// A payload as it was received. Nil when it exceeds what a chunk may be.
    init?(_ points: [TrackPoint], payload: EncodedPoints, received: Timestamp) {
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
    private init(_ points: ArraySlice<StoredPoint>) {
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
    static func cut(_ points: [StoredPoint], size: Int = ChunkLimits.points) -> [NewChunk] {
        var chunks: [NewChunk] = []
        var start = 0
        var measure = ChunkMeasure()
        for (index, point) in points.enumerated() where !measure.add(point.point, maximumPoints: size) {
            chunks.append(NewChunk(points[start..<index]))
            start = index
            measure = ChunkMeasure()
            _ = measure.add(point.point, maximumPoints: size)
        }
        if start < points.count { chunks.append(NewChunk(points[start...])) }
        return chunks
    }

    static let insertion = """
        INSERT INTO chunk (id, entity, first_time, last_time, count, encoding, settled, received, runs, payload)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    /// `id` nil: the next after all there are.
    func insert(as id: Int64?, entity: Int64, isSettled: Bool, with statement: Statement) throws {
        try statement.execute(arguments: [
            id, entity, firstTime, lastTime, count, isCompressed ? 1 : 0, isSettled ? 1 : 0, received,
            runs.map { Data($0) }, Data(payload),
        ])
    }
}
