import Geodesy
import Glibc

/// The fewest vertices of a line with which it stays within a tolerance (Imai and Iri, 1988). Whether the way from one vertex to
/// another passes all between them is known from the angles in which they are seen from either end (Chan and Chin, 1996).
struct FewestVertices {
    private let line: [Degrees]
    /// Metres to a degree at each vertex.
    private let scales: [(east: Double, north: Double)]

    init(_ line: [Degrees]) {
        self.line = line
        scales = line.map { PolylineThinning.metresPerDegree(at: $0.latitude) }
    }

    /// The numbers of the vertices, the ends among them. No other one is farther than `tolerance` metres from the way between its
    /// neighbours.
    func within(_ tolerance: Double) -> [Int] {
        let count = line.count
        guard count > 2 else { return Array(line.indices) }
        // Whether the way is passable as it is seen from its first vertex.
        var isOpen = [Bool](repeating: false, count: count * count)
        for first in 0..<(count - 1) {
            var view = View()
            for last in (first + 1)..<count {
                let way = vector(from: first, to: last)
                isOpen[first * count + last] = view.contains(way)
                guard view.narrow(by: way, tolerance) else { break }
            }
        }
        var (ways, before) = ([Int](repeating: .max, count: count), [Int](repeating: 0, count: count))
        ways[0] = 0
        for last in 1..<count {
            var view = View()
            for first in (0..<last).reversed() {
                let way = vector(from: last, to: first)
                if isOpen[first * count + last], view.contains(way), ways[first] < .max, ways[first] + 1 < ways[last] {
                    (ways[last], before[last]) = (ways[first] + 1, first)
                }
                guard view.narrow(by: way, tolerance) else { break }
            }
        }
        var (path, vertex) = ([count - 1], count - 1)
        while vertex > 0 {
            vertex = before[vertex]
            path.append(vertex)
        }
        return path.reversed()
    }

    private func vector(from start: Int, to end: Int) -> (x: Double, y: Double) {
        PolylineThinning.flat(line[end], from: line[start], scales[start])
    }

    /// The directions in which a way from one place passes all vertices that were seen so far.
    private struct View {
        /// The middle and half the width, in radians; nil while every direction does.
        private var arc: (middle: Double, half: Double)?

        func contains(_ way: (x: Double, y: Double)) -> Bool {
            guard let arc else { return true }
            guard way.x != 0 || way.y != 0 else { return false }
            return abs(Self.turned(atan2(way.y, way.x) - arc.middle)) <= arc.half + 1e-12
        }

        /// False when no direction is left.
        mutating func narrow(by way: (x: Double, y: Double), _ tolerance: Double) -> Bool {
            let distance = (way.x * way.x + way.y * way.y).squareRoot()
            guard distance > tolerance else { return true }
            let (middle, half) = (atan2(way.y, way.x), asin(tolerance / distance))
            guard let old = arc else {
                arc = (middle, half)
                return true
            }
            let turn = Self.turned(middle - old.middle)
            let (low, high) = (max(-old.half, turn - half), min(old.half, turn + half))
            guard low <= high else { return false }
            arc = (old.middle + (low + high) / 2, (high - low) / 2)
            return true
        }

        /// Between minus and plus half a turn.
        private static func turned(_ angle: Double) -> Double {
            angle - 2 * .pi * (angle / (2 * .pi)).rounded()
        }
    }
}
