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

/// Adds up what a chunk would hold, and says when the chunk must end.
struct ChunkMeasure {
    private var count = 0
    private var firstTime = Timestamp(milliseconds: 0)
    private var keys: Set<String> = []
    private var textBytes = 0

    /// False, and nothing added, when the chunk is full. Points come in time order.
    mutating func add(_ point: TrackPoint, maximumPoints: Int) -> Bool {
        guard count > 0 else {
            self = ChunkMeasure(of: point)
            return true
        }
        guard count < maximumPoints, point.fix.time.milliseconds(since: firstTime) <= ChunkLimits.span else {
            return false
        }
        if !point.attributes.isEmpty || point.objectName != nil {
            let texts = textBytes + Self.textBytes(of: point)
            let new = point.attributes.keys.filter { !keys.contains($0) }
            guard texts <= ChunkLimits.textBytes, keys.count + new.count <= ChunkLimits.keys else { return false }
            textBytes = texts
            keys.formUnion(new)
        }
        count += 1
        return true
    }

    init() {}

    private init(of point: TrackPoint) {
        count = 1
        firstTime = point.fix.time
        keys = Set(point.attributes.keys)
        textBytes = Self.textBytes(of: point)
    }

    private static func textBytes(of point: TrackPoint) -> Int {
        point.attributes.reduce(point.objectName?.utf8.count ?? 0) { sum, attribute in
            guard case .string(let text) = attribute.value else { return sum + attribute.key.utf8.count }
            return sum + attribute.key.utf8.count + text.utf8.count
        }
    }
}

/// The numbers that bound a chunk in every store.
package enum ChunkLimits {
    /// Most points of a chunk.
    package static let points = 4096
    /// A chunk with fewer points is small. Small chunks are worth merging when they have so many points together.
    package static let smallPoints = 512
    /// Longest time from the first to the last point, milliseconds: seven days. A range query therefore finds every
    /// chunk that reaches into the range by looking back no further than this.
    package static let span: Int64 = 7 * 86_400_000
    /// Most bytes of attribute texts and object names: far from what a payload may hold uncompressed.
    package static let textBytes = WireLimits.plainPayloadBytes / 2
    /// Most distinct attribute keys: a full chunk then holds no more values than a payload may.
    package static let keys = WireLimits.payloadValues / points
    /// Age at which small chunks are merged, however few points they have, milliseconds: one hour.
    package static let smallChunkAge: Int64 = 3_600_000
}
