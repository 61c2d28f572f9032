package import TrackAnalysis

/// Answers of the engine that were asked for before: those used last, up to a number of bytes.
package struct RoadAnswerCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        let value: Value
        let bytes: Int
        var used: UInt64
    }

    private let limit: Int
    private var entries: [Key: Entry] = [:]
    private var clock: UInt64 = 0

    /// Bytes of all values that are kept, about.
    package private(set) var bytes = 0

    package init(bytes limit: Int) { self.limit = limit }

    package mutating func value(_ key: Key) -> Value? {
        clock += 1
        entries[key]?.used = clock
        return entries[key]?.value
    }

    /// `bytes`: of the value, about.
    package mutating func remember(_ value: Value, _ key: Key, bytes size: Int) {
        forget(key)
        guard size <= limit else { return }
        clock += 1
        entries[key] = Entry(value: value, bytes: size, used: clock)
        bytes += size
        while bytes > limit, let oldest = entries.min(by: { $0.value.used < $1.value.used })?.key { forget(oldest) }
    }

    private mutating func forget(_ key: Key) {
        if let entry = entries.removeValue(forKey: key) { bytes -= entry.bytes }
    }
}

/// What a remembered match belongs to. History does not change, but maps do.
package struct MatchKey: Hashable, Sendable {
    private let owner: String
    private let first: Int64
    private let last: Int64
    private let count: Int
    private let places: UInt64
    private let costing: RoadCosting
    private let tiles: Int64

    /// `owner` names the service and the entity, `tiles` the map's time.
    package init(owner: String, _ samples: [TrackSample], _ costing: RoadCosting, tiles: Int64) {
        self.owner = owner
        first = samples.first?.time ?? 0
        last = samples.last?.time ?? 0
        count = samples.count
        self.costing = costing
        self.tiles = tiles
        // FNV-1a over everything that the engine is told of each sample.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for sample in samples {
            for value in [
                Int64(sample.latitudeE7), Int64(sample.longitudeE7), sample.time, Int64(sample.accuracy ?? -1),
            ] {
                hash = (hash ^ UInt64(bitPattern: value)) &* 0x0000_0100_0000_01B3
                hash ^= hash >> 29
            }
        }
        places = hash
    }
}

/// What a remembered route belongs to: the same question about the same map.
package struct RouteKey: Hashable, Sendable {
    private let question: [UInt8]
    private let tiles: Int64

    /// `tiles` is the map's time.
    package init(_ request: RoadRequest, tiles: Int64) {
        question = request.body
        self.tiles = tiles
    }

    package var bytes: Int { question.count }
}
