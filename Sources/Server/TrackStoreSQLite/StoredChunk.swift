import Foundation
import GRDB
import TrackModel
import TrackStore
import TrackWire

/// A chunk as it was read.
struct StoredChunk: Sendable {
    let id: Int64
    let points: [TrackPoint]
    let received: [Timestamp]

    /// The columns ``init(_:)`` needs, in its order.
    static let columns = "id, count, encoding, received, runs, payload"

    /// Throws `.corrupt`.
    init(_ row: Row) throws {
        id = row[0]
        let count: Int = row[1]
        let isCompressed: Int = row[2]
        let payload: [UInt8] = try row.withUnsafeData(atIndex: 5) { $0.map { [UInt8]($0) } ?? [] }
        let runs: [UInt8]? = try row.withUnsafeData(atIndex: 4) { $0.map { [UInt8]($0) } }
        do {
            points = try BatchCodec.decode(payload, isCompressed: isCompressed == 1)
        } catch {
            throw TrackStoreError(.corrupt, "chunk \(id) cannot be read: \(error)")
        }
        guard points.count == count else {
            throw TrackStoreError(.corrupt, "chunk \(id) should hold \(count) points, it holds \(points.count)")
        }
        let first = Timestamp(milliseconds: row[3])
        guard let times = ReceiveRuns.decode(runs, first: first, count: count) else {
            throw TrackStoreError(.corrupt, "the receive times of chunk \(id) do not fit its \(count) points")
        }
        received = times
    }
}

/// Points from several chunks, brought into one order: by time, of equal times only the one stored last.
struct PointMerger {
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

    /// Points taken, superseded ones counted.
    var count: Int { keys.count }

    /// Takes the points of a chunk that are inside the range.
    mutating func add(_ chunk: StoredChunk, in range: ClosedRange<Timestamp>) {
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

    /// Drops what is superseded.
    mutating func tidy() {
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

    mutating func finish() -> [StoredPoint] {
        tidy()
        return points
    }
}
