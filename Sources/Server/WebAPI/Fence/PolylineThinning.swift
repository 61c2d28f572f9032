import Geodesy
import Geofencing
import Glibc

/// A line with fewer vertices that stays as close to the given one as so many vertices allow.
struct PolylineThinning {
    /// Millimetres change no fence: a straight line needs its two ends.
    private static let exactness = 0.001
    /// How near the deviation comes to the least one that the chosen vertices make possible, as a part of it.
    private static let accuracy = 0.01

    /// Bends among which those that stay are chosen: the search costs the square of their number.
    static let mostBends = 500

    /// How many vertices there were.
    let given: Int
    private(set) var line: [Degrees]
    /// The farthest that a vertex which is left out lies from the line, metres.
    private(set) var deviation = 0.0

    /// At most `limit` vertices, and the ends are among them.
    ///
    /// The first try gives the next vertex to the way that is farthest from what lies between its ends (Douglas and Peucker, 1973).
    /// Then the smallest tolerance is searched for which so many vertices are enough.
    init(_ given: [Degrees], to limit: Int) {
        self.given = given.count
        guard given.count > max(limit, 2) else {
            line = given
            return
        }
        let first = Self.split(given) { kept, worst in kept < limit && worst > Self.exactness }
        (line, deviation) = (first.kept.map { given[$0] }, first.deviation)
        guard deviation > Self.exactness else { return }
        let bends = Self.bends(of: given, over: Self.exactness)
        let search = FewestVertices(bends.map { given[$0] })
        var (low, high) = (0.0, deviation)
        while high - low > max(Self.accuracy * high, Self.exactness) {
            let tolerance = (low + high) / 2
            let found = search.within(tolerance).map { bends[$0] }
            guard found.count <= limit else {
                low = tolerance
                continue
            }
            high = tolerance
            let worst = zip(found, found.dropFirst()).map { Stretch(given, $0, $1).deviation }.max() ?? 0
            if worst < deviation { (line, deviation) = (found.map { given[$0] }, worst) }
        }
    }

    /// The vertices among which those that stay are chosen: all of a line that has at most ``mostBends``. The best way may leave a
    /// long straight stretch in its middle, so a vertex on it counts too. Of a longer line the vertices that tell most: what lies on a
    /// straight way between them is at most so many metres off, or they are ``mostBends``.
    static func bends(of line: [Degrees], over metres: Double) -> [Int] {
        guard line.count > mostBends else { return Array(line.indices) }
        return split(line) { kept, worst in kept < mostBends && worst > metres }.kept
    }

    /// The vertices that stay when the worst stretch is split as long as `goesOn` says so, by the number of those that stay and the
    /// worst deviation.
    private static func split(
        _ line: [Degrees], while goesOn: (_ kept: Int, _ worst: Double) -> Bool
    ) -> (kept: [Int], deviation: Double) {
        var isKept = [Bool](repeating: false, count: line.count)
        isKept[0] = true
        isKept[line.count - 1] = true
        var (count, open) = (2, [Stretch(line, 0, line.count - 1)])
        while let worst = open.indices.max(by: { open[$0].deviation < open[$1].deviation }),
            open[worst].deviation > 0, goesOn(count, open[worst].deviation)
        {
            let stretch = open.remove(at: worst)
            isKept[stretch.farthest] = true
            count += 1
            open.append(Stretch(line, stretch.first, stretch.farthest))
            open.append(Stretch(line, stretch.farthest, stretch.last))
        }
        return (line.indices.filter { isKept[$0] }, open.map(\.deviation).max() ?? 0)
    }

    /// Metres to a degree at a latitude.
    static func metresPerDegree(at latitude: Double) -> (east: Double, north: Double) {
        let (middle, step) = (max(-89, min(89, latitude)), 0.01)
        return (
            SurfaceDistance.between(
                Degrees(latitude: middle, longitude: 0), Degrees(latitude: middle, longitude: step)) / step,
            SurfaceDistance.between(
                Degrees(latitude: middle - step / 2, longitude: 0), Degrees(latitude: middle + step / 2, longitude: 0))
                / step
        )
    }

    /// Metres to the east and to the north.
    static func flat(
        _ place: Degrees, from start: Degrees, _ scale: (east: Double, north: Double)
    ) -> (x: Double, y: Double) {
        var east = place.longitude - start.longitude
        if east > 180 { east -= 360 }
        if east < -180 { east += 360 }
        return (east * scale.east, (place.latitude - start.latitude) * scale.north)
    }

    /// What lies between two vertices that stay.
    private struct Stretch {
        let first: Int
        let last: Int
        private(set) var farthest: Int
        private(set) var deviation = 0.0

        init(_ line: [Degrees], _ first: Int, _ last: Int) {
            (self.first, self.last, farthest) = (first, last, first)
            let segment = Segment(from: line[first], to: line[last])
            for index in (first + 1)..<max(last, first + 1) {
                let distance = segment.distance(to: line[index])
                if distance > deviation { (farthest, deviation) = (index, distance) }
            }
        }
    }

    /// A straight way in a plane whose metres to a degree are those of its middle.
    private struct Segment {
        private let start: Degrees
        /// Metres to a degree.
        private let scale: (east: Double, north: Double)
        private let way: (x: Double, y: Double)

        init(from start: Degrees, to end: Degrees) {
            self.start = start
            scale = PolylineThinning.metresPerDegree(at: (start.latitude + end.latitude) / 2)
            way = PolylineThinning.flat(end, from: start, scale)
        }

        /// Metres.
        func distance(to place: Degrees) -> Double {
            let target = PolylineThinning.flat(place, from: start, scale)
            let length = way.x * way.x + way.y * way.y
            let along = length > 0 ? max(0, min(1, (target.x * way.x + target.y * way.y) / length)) : 0
            let (x, y) = (target.x - along * way.x, target.y - along * way.y)
            return (x * x + y * y).squareRoot()
        }
    }
}

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
