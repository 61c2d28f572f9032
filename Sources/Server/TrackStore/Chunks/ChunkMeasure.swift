import TrackModel

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
