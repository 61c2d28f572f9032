internal import Geodesy
internal import TrackModel

/// A static tree of boxes, packed in the order of a Hilbert curve, with 16 children a node. The children of a node are
/// found by its number, so a node is nothing but its box.
struct BoxTree {
    static let fan = 16

    /// The levels one after the other: all boxes, then those of their nodes, up to the single root.
    private var boxes: [TreeBox] = []
    /// Where each level begins in `boxes`.
    private var starts: [Int] = []
    /// The number that the maker gave each box.
    private var numbers: [UInt32] = []

    /// Boxes with their numbers; a number may come more than once.
    init(_ entries: [(box: TreeBox, number: UInt32)]) {
        guard !entries.isEmpty else { return }
        numbers = entries.map(\.number)
        boxes = entries.map(\.box)
        starts = [0]
        var count = entries.count
        while count > 1 {
            let start = boxes.count - count
            starts.append(boxes.count)
            for first in stride(from: start, to: start + count, by: Self.fan) {
                var box = boxes[first]
                for index in first + 1..<max(first + 1, min(first + Self.fan, start + count)) { box.add(boxes[index]) }
                boxes.append(box)
            }
            count = boxes.count - start - count
        }
    }

    /// Appends the numbers of all boxes that meet a box. The order is that of the tree.
    func find(_ box: TreeBox, into found: inout [UInt32]) {
        guard !boxes.isEmpty else { return }
        boxes.withUnsafeBufferPointer { boxes in
            let box = box.query
            guard boxes[boxes.count - 1].meets(box) else { return }
            guard starts.count > 1 else { return found.append(numbers[0]) }
            find(box, level: starts.count - 1, node: 0, boxes, &found)
        }
    }

    /// Whether some box meets a box.
    func meets(_ box: TreeBox.Query) -> Bool {
        guard !boxes.isEmpty else { return false }
        return boxes.withUnsafeBufferPointer { boxes in
            boxes[boxes.count - 1].meets(box)
                && (starts.count == 1 || meets(box, level: starts.count - 1, node: 0, boxes))
        }
    }

    private func meets(
        _ box: TreeBox.Query, level: Int, node: Int, _ boxes: UnsafeBufferPointer<TreeBox>
    ) -> Bool {
        let below = starts[level - 1]
        let first = below + node * Self.fan
        let end = min(first + Self.fan, starts[level])
        for child in first..<end where boxes[child].meets(box) {
            if level == 1 || meets(box, level: level - 1, node: child - below, boxes) { return true }
        }
        return false
    }

    private func find(
        _ box: TreeBox.Query, level: Int, node: Int, _ boxes: UnsafeBufferPointer<TreeBox>, _ found: inout [UInt32]
    ) {
        let below = starts[level - 1]
        let first = below + node * Self.fan
        let end = min(first + Self.fan, starts[level])
        for child in first..<end where boxes[child].meets(box) {
            if level == 1 {
                found.append(numbers[child])
            } else {
                find(box, level: level - 1, node: child - below, boxes, &found)
            }
        }
    }
}

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

/// What most verdicts about a fence need, in 48 bytes: no other memory is read for a point that is simply in or out.
struct FenceLeaf {
    enum Kind: UInt8 {
        case circle
        /// One ring without a buffer; its vertices lie in ``PackedFences/vertices``.
        case ring
        /// The plan's shape decides.
        case other
    }

    let kind: Kind
    /// Neither floor nor altitude: the place alone decides.
    let isPlain: Bool
    let countsThrough: Bool
    let id: Int32
    let revision: Int32
    let denoise: Int32
    /// Milliseconds.
    let crossingGap: Int32
    /// The frame of a ring, or the centre of a circle.
    let southE7: Int32
    let westE7: Int32
    /// The vertices of a ring.
    let first: UInt32
    let count: UInt32
    /// The radius of a circle, metres.
    let radius: Double

    /// Appends the vertices of a ring.
    init(_ plan: FencePlan, vertices: inout RingVertices) {
        id = plan.id
        revision = plan.revision
        denoise = plan.denoise
        isPlain = plan.floor == nil && plan.altitude == nil
        countsThrough = plan.countsThrough
        crossingGap = Int32(plan.crossingGap) * 1000
        switch plan.shape.body {
        case .circle(let circle):
            kind = .circle
            (southE7, westE7) = (circle.centre.latitudeE7, circle.centre.longitudeE7)
            radius = circle.radius
            (first, count) = (0, 0)
        case .polygon(let polygon, let buffer) where buffer == 0 && polygon.ringCount == 1:
            kind = .ring
            (southE7, westE7) = (polygon.frame.southE7, polygon.frame.westE7)
            radius = 0
            (first, count) = (UInt32(vertices.all.count), UInt32(polygon.vertices.count))
            vertices.all.append(contentsOf: polygon.vertices)
        case .polygon, .corridor, .nowhere:
            kind = .other
            (southE7, westE7, radius, first, count) = (0, 0, 0, 0, 0)
        }
    }

    /// How many vertices a leaf of a plan has.
    static func vertexCount(_ plan: FencePlan) -> Int {
        guard case .polygon(let polygon, let buffer) = plan.shape.body, buffer == 0, polygon.ringCount == 1 else {
            return 0
        }
        return polygon.vertices.count
    }

    /// The plan of this leaf, with the vertices of a ring in the list of all vertices: they are not kept twice.
    func sharing(_ all: [GridOffset], _ plan: FencePlan) -> FencePlan {
        guard kind == .ring, case .polygon(let polygon, let buffer) = plan.shape.body else { return plan }
        var plan = plan
        plan.shape = Shape(polygon.sharing(all, from: Int(first)), buffer: buffer)
        return plan
    }
}

/// The vertices of many rings, one ring after the other.
struct RingVertices: Sendable {
    var all: [GridOffset] = []

    /// Whether an offset lies in the ring of a leaf.
    func contains(x: Int64, y: Int64, _ leaf: FenceLeaf) -> Bool {
        let span = all.span
        let ring = span.extracting(Int(leaf.first)..<Int(leaf.first + leaf.count))
        if case .outside = RingTest.position(x: x, y: y, in: ring) { return false }
        return true
    }

    /// Whether a way may cross the ring of a leaf.
    func mayCross(_ way: Way, _ leaf: FenceLeaf) -> Bool {
        let span = all.span
        let ring = span.extracting(Int(leaf.first)..<Int(leaf.first + leaf.count))
        return way.mayCross(ring, southE7: leaf.southE7, westE7: leaf.westE7)
    }
}
