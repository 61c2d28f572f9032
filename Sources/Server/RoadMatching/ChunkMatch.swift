internal import Geodesy
package import TrackAnalysis

/// The path that the engine found for one chunk, and where each sent point is on it.
package struct ChunkMatch: Hashable, Sendable {
    /// Metres from a fix within which any match is believed, and how many radii besides.
    static let trusted = 25.0
    static let trustedRadii = 2.0

    let edges: [RoadEdge]
    let lengths: PathLengths
    /// One for each sent point; nil when the engine has none, or one too far from the fix.
    let places: [Place?]
    /// How many points have a place from the engine that is not believed.
    let disbelieved: Int
    /// The number of each edge's piece of the path. The path has a hole between two pieces.
    private let pieces: [Int]

    struct Place: Hashable, Sendable {
        /// WGS 84.
        let degrees: Degrees
        let edge: Int
        /// Metres along the answer's shape.
        let metres: Double
    }

    /// What the engine says of the samples that were sent.
    package init(_ answer: TraceAnswer, for samples: [TrackSample]) {
        let lengths = PathLengths(answer.shape.map { EarthVector($0) })
        let edges = answer.edges
        var (pieces, piece) = ([Int](), 0)
        for (position, edge) in edges.enumerated() {
            // The engine flags few of its holes (valhalla #4267). The indices tell all of them.
            if position > 0, edges[position - 1].shape.upperBound != edge.shape.lowerBound { piece += 1 }
            pieces.append(piece)
        }
        var farthest: (piece: Int, metres: Double)?
        var disbelieved = 0
        places = zip(answer.points, samples).map { point, sample in
            guard let point else { return nil }
            let edge = edges[point.edge]
            let (begin, end) = (lengths.cumulative[edge.shape.lowerBound], lengths.cumulative[edge.shape.upperBound])
            guard Self.isTrusted(point, sample), Self.isTrusted(Self.metres(from: point, lengths, begin, end), sample)
            else {
                disbelieved += 1
                return nil
            }
            // The engine counts along the whole edge, of which the shape has a part.
            let part = edge.target - edge.source
            let share = part > 0 ? max(0, min(1, (point.along - edge.source) / part)) : 0
            var metres = begin + (end - begin) * share
            // Noise puts a slow vehicle behind its last place. It does not drive back.
            if let farthest, farthest.piece == pieces[point.edge] { metres = max(metres, farthest.metres) }
            farthest = (pieces[point.edge], metres)
            return Place(degrees: point.place, edge: point.edge, metres: metres)
        }
        self.lengths = lengths
        self.edges = edges
        self.pieces = pieces
        self.disbelieved = disbelieved
    }

    /// What the engine says of the distance is a claim about the place that it gives beside it.
    private static func isTrusted(_ point: TracePoint, _ sample: TrackSample) -> Bool {
        isTrusted(point.distance, sample)
            && isTrusted(EarthVector(point.place).distance(to: sample.position), sample)
    }

    /// From the place to its edge, between two lengths of the shape. The shape may have a part of the edge alone, so a place that
    /// is right can lie a little beyond it.
    private static func metres(
        from point: TracePoint, _ lengths: PathLengths, _ begin: Double, _ end: Double
    ) -> Double {
        let place = EarthVector(point.place)
        let nearest = lengths.place(at: lengths.nearest(to: place, from: begin, to: end))
        return nearest.map { $0.distance(to: place) } ?? .infinity
    }

    static func isTrusted(_ distance: Double, _ sample: TrackSample) -> Bool {
        distance <= max(trusted, trustedRadii * (sample.radius ?? 0))
    }

    /// Bytes that the value takes, about.
    package var bytes: Int { 40 * lengths.vertices.count + 120 * edges.count + 48 * places.count }

    /// Whether the path leads from one place to the other without a hole.
    func isConnected(_ start: Place, _ end: Place) -> Bool {
        pieces[start.edge] == pieces[end.edge] && end.metres >= start.metres
    }

    /// The edge at a length of the path, from an edge before it on.
    func edge(at metres: Double, from first: Int) -> Int {
        var edge = first
        while edge + 1 < edges.count, pieces[edge + 1] == pieces[first],
            lengths.cumulative[edges[edge].shape.upperBound] < metres
        {
            edge += 1
        }
        return edge
    }

    /// Metres on toll roads between two lengths of the path, from the edge of the first on.
    func toll(from start: Double, to end: Double, edge first: Int) -> Double {
        var metres = 0.0
        for edge in edges[first...] {
            let (begin, stop) = (lengths.cumulative[edge.shape.lowerBound], lengths.cumulative[edge.shape.upperBound])
            guard begin < end else { break }
            if edge.isToll { metres += max(0, min(stop, end) - max(begin, start)) }
        }
        return metres
    }
}

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
