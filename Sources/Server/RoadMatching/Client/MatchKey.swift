package import TrackAnalysis

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
