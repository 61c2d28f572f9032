internal import Geodesy

/// A box of the index: degrees in units of 1e-7, never across the antimeridian.
struct TreeBox {
    /// West, south, -east and -north: one comparison of four numbers tells whether two boxes meet.
    private var ends: SIMD4<Int32>

    var west: Int32 { ends.x }
    var south: Int32 { ends.y }
    var east: Int32 { -ends.z }
    var north: Int32 { -ends.w }

    init(west: Int32, south: Int32, east: Int32, north: Int32) {
        ends = SIMD4(west, south, -east, -north)
    }

    /// One box, or two for a box across the antimeridian.
    static func boxes(of box: ShapeBox) -> (TreeBox, TreeBox?) {
        let (first, second) = box.longitudes
        let one = TreeBox(west: first.lowerBound, south: box.southE7, east: first.upperBound, north: box.northE7)
        guard let second else { return (one, nil) }
        return (one, TreeBox(west: second.lowerBound, south: box.southE7, east: second.upperBound, north: box.northE7))
    }

    /// A box as others are asked whether they meet it: its east, north, -west and -south.
    struct Query {
        fileprivate let ends: SIMD4<Int32>
    }

    var query: Query { Query(ends: SIMD4(east, north, -west, -south)) }

    @inline(__always)
    func meets(_ other: Query) -> Bool { all(ends .<= other.ends) }

    /// Whether another box lies in this one.
    func contains(_ other: TreeBox) -> Bool { all(ends .<= other.ends) }

    mutating func add(_ other: TreeBox) {
        ends = pointwiseMin(ends, other.ends)
    }

    /// The place of the box on a Hilbert curve over the earth, 16 bits an axis: neighbours on the curve are neighbours.
    var curve: UInt32 {
        let middleX = (Int64(west) + Int64(east)) / 2 + 1_800_000_000
        let middleY = (Int64(south) + Int64(north)) / 2 + 900_000_000
        var x = UInt32(middleX * 65_535 / 3_600_000_000)
        var y = UInt32(middleY * 65_535 / 1_800_000_000)
        var place: UInt32 = 0
        var side: UInt32 = 32_768
        while side > 0 {
            let right: UInt32 = x & side != 0 ? 1 : 0
            let up: UInt32 = y & side != 0 ? 1 : 0
            place += side &* side &* ((3 &* right) ^ up)
            if up == 0 {
                if right == 1 { (x, y) = (65_535 - x, 65_535 - y) }
                (x, y) = (y, x)
            }
            side /= 2
        }
        return place
    }
}
