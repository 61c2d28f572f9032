internal import Geodesy

/// A line with the metres from its begin to each vertex.
struct PathLengths: Hashable, Sendable {
    let vertices: [EarthVector]
    let cumulative: [Double]

    init(_ vertices: [EarthVector]) {
        self.vertices = vertices
        var metres = 0.0
        var cumulative: [Double] = []
        cumulative.reserveCapacity(vertices.count)
        for (position, vertex) in vertices.enumerated() {
            if position > 0 { metres += vertices[position - 1].distance(to: vertex) }
            cumulative.append(metres)
        }
        self.cumulative = cumulative
    }

    /// The place `metres` from the begin.
    func place(at metres: Double) -> EarthVector? {
        guard let last = vertices.last else { return nil }
        let end = firstVertex(beyond: metres)
        guard end > 0 else { return vertices[0] }
        guard end < vertices.count else { return last }
        let span = cumulative[end] - cumulative[end - 1]
        let share = span > 0 ? (metres - cumulative[end - 1]) / span : 0
        return vertices[end - 1] + (vertices[end] - vertices[end - 1]) * share
    }

    /// The vertices strictly between two lengths, with their lengths.
    func between(_ start: Double, _ end: Double) -> [(metres: Double, place: EarthVector)] {
        var found: [(Double, EarthVector)] = []
        var position = firstVertex(beyond: start)
        while position < vertices.count, cumulative[position] < end {
            found.append((cumulative[position], vertices[position]))
            position += 1
        }
        return found
    }

    /// The length at which the line between two lengths is nearest to a place.
    func nearest(to place: EarthVector, from start: Double, to end: Double) -> Double {
        guard var before = self.place(at: start) else { return start }
        var (best, least) = (start, (place - before).squaredLength)
        var length = start
        for (metres, vertex) in between(start, end) + [(end, self.place(at: end) ?? before)] {
            let way = vertex - before
            let squared = way.squaredLength
            let share = squared > 0 ? max(0, min(1, (place - before).dot(way) / squared)) : 0
            let off = (place - (before + way * share)).squaredLength
            if off < least { (best, least) = (length + (metres - length) * share, off) }
            (before, length) = (vertex, metres)
        }
        return best
    }

    /// The position of the first vertex farther than `metres` from the begin.
    private func firstVertex(beyond metres: Double) -> Int {
        var (low, high) = (0, cumulative.count)
        while low < high {
            let middle = (low + high) / 2
            if cumulative[middle] > metres { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
