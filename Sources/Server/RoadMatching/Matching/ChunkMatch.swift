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
        places = zip(answer.points, samples).map { point, sample in
            guard let point, Self.isTrusted(point.distance, sample) else { return nil }
            let edge = edges[point.edge]
            let (begin, end) = (lengths.cumulative[edge.shape.lowerBound], lengths.cumulative[edge.shape.upperBound])
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
