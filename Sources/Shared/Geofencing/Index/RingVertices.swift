internal import Geodesy

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
