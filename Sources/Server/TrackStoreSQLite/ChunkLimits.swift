import TrackModel
import TrackWire

/// The numbers that bound a chunk, see docs/formats/track-store.md.
enum ChunkLimits {
    /// Most points of a chunk.
    static let points = 4096
    /// Fewer make a chunk small: worth merging when there are as many as this together.
    static let smallPoints = 512
    /// Longest time from the first to the last point, milliseconds: seven days. A range query therefore finds every
    /// chunk that reaches into the range by looking back no further than this.
    static let span: Int64 = 7 * 86_400_000
    /// Most bytes of attribute texts and object names: far from what a payload may hold uncompressed.
    static let textBytes = WireLimits.plainPayloadBytes / 2
    /// Most distinct attribute keys: a full chunk then holds no more values than a payload may.
    static let keys = WireLimits.payloadValues / points
    /// Age at which small chunks are merged however few they are, milliseconds: one hour.
    static let patience: Int64 = 3_600_000
}

/// Adds up what a chunk would hold; says when it must end.
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
