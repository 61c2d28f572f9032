/// Ranges of latitudes and longitudes that hold all places of an area, in units of 1e-7 degree of WGS 84.
package struct SearchExtent: Hashable, Sendable {
    package let latitudes: ClosedRange<Int32>
    /// Within -180 ... 180 degrees, without a common part. The meridian at 180 degrees is in them under both its numbers.
    package let longitudes: [ClosedRange<Int32>]

    static let turn: Int64 = 3_600_000_000
    private static let half: Int64 = turn / 2

    /// Latitudes beyond the poles are cut off. `west` may be any number of turns away; `width` goes eastwards from there.
    init(south: Int64, north: Int64, west: Int64, width: Int64) {
        let low = min(max(south, -900_000_000), 900_000_000)
        latitudes = Int32(low)...Int32(min(max(north, low), 900_000_000))
        guard width < Self.turn else {
            longitudes = [Int32(-Self.half)...Int32(Self.half)]
            return
        }
        let turned = (west + Self.half) % Self.turn
        let start = (turned < 0 ? turned + Self.turn : turned) - Self.half
        let end = start + max(width, 0)
        if end >= Self.half {
            longitudes = [Int32(start)...Int32(Self.half), Int32(-Self.half)...Int32(end - Self.turn)]
        } else if start == -Self.half {
            longitudes = [Int32(start)...Int32(end), Int32(Self.half)...Int32(Self.half)]
        } else {
            longitudes = [Int32(start)...Int32(end)]
        }
    }
}
