import Geodesy

/// Leaves out vertices of a line that lie close to the line between their neighbours (Douglas and Peucker, 1973).
enum PolylineThinning {
    /// No vertex that is left out is farther than `tolerance` metres from the result. The ends stay. The plane in which it
    /// measures is exact enough for lines of some hundred kilometres: metres to a degree are those of each segment's middle.
    static func thinned(_ line: [Degrees], tolerance: Double) -> [Degrees] {
        guard line.count > 2 else { return line }
        var isKept = [Bool](repeating: false, count: line.count)
        isKept[0] = true
        isKept[line.count - 1] = true
        var open = [(0, line.count - 1)]
        while let (first, last) = open.popLast() {
            guard last - first > 1 else { continue }
            var farthest = (index: first, distance: -1.0)
            let segment = Segment(from: line[first], to: line[last])
            for index in first + 1..<last {
                let distance = segment.distance(to: line[index])
                if distance > farthest.distance { farthest = (index, distance) }
            }
            guard farthest.distance > tolerance else { continue }
            isKept[farthest.index] = true
            open.append((first, farthest.index))
            open.append((farthest.index, last))
        }
        return line.indices.filter { isKept[$0] }.map { line[$0] }
    }

    /// A straight way in a plane whose metres to a degree are those of its middle.
    private struct Segment {
        private let start: Degrees
        private let width: Double
        private let way: (x: Double, y: Double)
        private static let metresPerDegree = 111_320.0

        init(from start: Degrees, to end: Degrees) {
            let middle = (start.latitude + end.latitude) / 2
            self.start = start
            width = GreatCircle.distance(
                from: Degrees(latitude: middle, longitude: 0), to: Degrees(latitude: middle, longitude: 1))
            way = Self.flat(end, from: start, width)
        }

        private static func flat(_ place: Degrees, from start: Degrees, _ width: Double) -> (x: Double, y: Double) {
            var east = place.longitude - start.longitude
            if east > 180 { east -= 360 }
            if east < -180 { east += 360 }
            return (east * width, (place.latitude - start.latitude) * metresPerDegree)
        }

        /// Metres.
        func distance(to place: Degrees) -> Double {
            let target = Self.flat(place, from: start, width)
            let length = way.x * way.x + way.y * way.y
            let along = length > 0 ? max(0, min(1, (target.x * way.x + target.y * way.y) / length)) : 0
            let (x, y) = (target.x - along * way.x, target.y - along * way.y)
            return (x * x + y * y).squareRoot()
        }
    }
}
