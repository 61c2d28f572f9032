internal import Glibc

/// Where the offset of GCJ-02 applies. ``ChinaOutline`` has the source and the tolerance of the outline.
enum ChinaRegion {
    /// True inside the outline. A place on an edge counts as inside or outside, always in the same way.
    static func contains(latitude: Double, longitude: Double) -> Bool {
        // Not a number, or far away.
        guard (17...55).contains(latitude), (72...137).contains(longitude) else { return false }
        let (y, x) = (latitude * 1000, longitude * 1000)
        // Even-odd rule: from a place inside, a ray to the east crosses the outline an odd number of times.
        var isInside = false
        for edge in bands[Int((latitude - 17) * bandsPerDegree)] where (edge.y0 > y) != (edge.y1 > y) {
            let crossing = edge.x0 + (y - edge.y0) / (edge.y1 - edge.y0) * (edge.x1 - edge.x0)
            if x < crossing { isInside.toggle() }
        }
        return isInside
    }

    private struct Edge {
        let y0, x0, y1, x1: Double
    }

    private static let bandsPerDegree = 4.0

    /// The edges that touch each band of latitude, from 17 degrees on. A query looks at about fifty edges.
    private static let bands: [[Edge]] = {
        let count = Int((55.0 - 17.0) * bandsPerDegree) + 1
        var bands: [[Edge]] = Array(repeating: [], count: count)
        for ring in ChinaOutline.rings {
            var previous = (y: Double(ring[ring.count - 2]), x: Double(ring[ring.count - 1]))
            for index in stride(from: 0, to: ring.count - 1, by: 2) {
                let vertex = (y: Double(ring[index]), x: Double(ring[index + 1]))
                let edge = Edge(y0: previous.y, x0: previous.x, y1: vertex.y, x1: vertex.x)
                previous = vertex
                let low = Int((min(edge.y0, edge.y1) / 1000 - 17) * bandsPerDegree)
                let high = Int((max(edge.y0, edge.y1) / 1000 - 17) * bandsPerDegree)
                for band in max(low, 0)...min(high, count - 1) { bands[band].append(edge) }
            }
        }
        return bands
    }()
}
