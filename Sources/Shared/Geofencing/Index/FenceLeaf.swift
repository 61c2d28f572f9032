internal import Geodesy
internal import TrackModel

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
