/// The distance from a place to edges that are far away or near a pole, where no plane serves. It searches along the edges:
/// first on a sphere, then on the ellipsoid around the best places.
struct EdgeSearch {
    private struct Piece {
        let start: Degrees
        let end: Degrees
        /// By the sphere, metres.
        let distance: Double

        func place(_ share: Double) -> Degrees {
            Degrees(
                latitude: start.latitude + share * (end.latitude - start.latitude),
                longitude: start.longitude + share * (end.longitude - start.longitude))
        }
    }

    /// The sphere and the ellipsoid differ by at most so much.
    private static let uncertainty = 0.007
    /// Metres: along a piece of an edge no longer than this the distance has one lowest value.
    private static let pieceLength = 50_000.0
    private static let mostCandidates = 16

    private let place: Degrees
    private var candidates: [Piece] = []
    private var best = Double.infinity

    private init(place: Degrees) {
        self.place = place
    }

    /// Metres from a place to the nearest edge of some rings or lines.
    static func distance(
        from place: Degrees, frame: ShapeFrame, lines: [ArraySlice<GridOffset>], isClosed: Bool
    ) -> Double {
        var search = EdgeSearch(place: place)
        for line in lines { search.add(line, frame: frame, isClosed: isClosed) }
        return search.result()
    }

    private mutating func add(_ line: ArraySlice<GridOffset>, frame: ShapeFrame, isClosed: Bool) {
        guard let first = line.first, let last = line.last else { return }
        var start = degrees(isClosed ? last : first, frame)
        var startDistance = GreatCircle.distance(from: place, to: start)
        for vertex in isClosed || line.count == 1 ? line : line.dropFirst() {
            let end = degrees(vertex, frame)
            let endDistance = GreatCircle.distance(from: place, to: end)
            best = min(best, endDistance)
            let length = Self.length(start, end)
            if (startDistance + endDistance - length) / 2 * (1 - Self.uncertainty) <= best * (1 + Self.uncertainty) {
                addPieces(from: start, to: end, length: length)
            }
            (start, startDistance) = (end, endDistance)
        }
    }

    private mutating func addPieces(from start: Degrees, to end: Degrees, length: Double) {
        let count = Int(length / Self.pieceLength) + 1
        let whole = Piece(start: start, end: end, distance: 0)
        for index in 0..<count {
            let from = whole.place(Double(index) / Double(count))
            let to = whole.place(Double(index + 1) / Double(count))
            let middle = GreatCircle.distance(from: place, to: whole.place((Double(index) + 0.5) / Double(count)))
            guard (middle - length / Double(count) / 2) * (1 - Self.uncertainty) <= best * (1 + Self.uncertainty) else {
                continue
            }
            let piece = Piece(start: from, end: to, distance: 0)
            let lowest = lowest(of: piece, steps: 32) { GreatCircle.distance(from: place, to: $0) }
            best = min(best, lowest)
            candidates.append(Piece(start: from, end: to, distance: lowest))
            if candidates.count > 64 * Self.mostCandidates { keepBest() }
        }
    }

    private mutating func keepBest() {
        candidates.sort { $0.distance < $1.distance }
        candidates.removeLast(max(candidates.count - Self.mostCandidates, 0))
    }

    private mutating func result() -> Double {
        keepBest()
        var nearest = Double.infinity
        for piece in candidates where piece.distance * (1 - Self.uncertainty) <= best * (1 + Self.uncertainty) {
            nearest = min(nearest, lowest(of: piece, steps: 60) { SurfaceDistance.between(place, $0) })
        }
        return nearest
    }

    /// The lowest distance along a piece, by the golden section.
    private func lowest(of piece: Piece, steps: Int, _ distance: (Degrees) -> Double) -> Double {
        let golden = 0.618_033_988_749_894_8
        var (low, high) = (0.0, 1.0)
        var (left, right) = (1 - golden, golden)
        var (leftValue, rightValue) = (distance(piece.place(left)), distance(piece.place(right)))
        var lowest = min(distance(piece.start), distance(piece.end))
        for _ in 0..<steps {
            if leftValue <= rightValue {
                (high, right, rightValue) = (right, left, leftValue)
                left = high - golden * (high - low)
                leftValue = distance(piece.place(left))
            } else {
                (low, left, leftValue) = (left, right, rightValue)
                right = low + golden * (high - low)
                rightValue = distance(piece.place(right))
            }
        }
        lowest = min(lowest, leftValue, rightValue)
        return lowest
    }

    private func degrees(_ offset: GridOffset, _ frame: ShapeFrame) -> Degrees {
        frame.degrees(x: Double(offset.x), y: Double(offset.y))
    }

    /// At least the length of an edge on the sphere, metres.
    private static func length(_ start: Degrees, _ end: Degrees) -> Double {
        let middle = min(start.latitude.magnitude, end.latitude.magnitude)
        let flattest = (start.latitude < 0) != (end.latitude < 0) ? 0 : middle
        let (_, cosine) = Trigonometry.sineAndCosine(min(flattest, 90))
        let north = end.latitude - start.latitude
        let east = (end.longitude - start.longitude) * cosine
        return (north * north + east * east).squareRoot() * GreatCircle.earthRadius * (Double.pi / 180)
    }
}
