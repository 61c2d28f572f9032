internal import Geodesy

/// The way of a trip as places at equal distances along it, each with its direction: so two ways can be compared whatever the
/// speeds and the intervals of their points.
struct RouteWay: Hashable, Sendable {
    /// Metres between two places of a usual way, and the places of a long one.
    static let spacing = 50.0
    static let mostPlaces = 4000

    let places: [EarthVector]
    /// Of length 1.
    let directions: [EarthVector]
    /// Metres.
    let length: Double
    /// Metres between two places.
    let step: Double

    /// Nil for a way without length.
    init?(_ line: [EarthVector]) {
        var length = 0.0
        for (start, end) in zip(line, line.dropFirst()) { length += start.distance(to: end) }
        guard let first = line.first, length > 0 else { return nil }
        let parts = max(1, min(Self.mostPlaces - 1, Int((length / Self.spacing).rounded(.up))))
        let step = length / Double(parts)
        var places = [first]
        places.reserveCapacity(parts + 1)
        var walked = 0.0
        for (start, end) in zip(line, line.dropFirst()) {
            let piece = start.distance(to: end)
            while piece > 0, places.count < parts, Double(places.count) * step <= walked + piece {
                let share = (Double(places.count) * step - walked) / piece
                places.append(start + (end - start) * max(0, min(1, share)))
            }
            walked += piece
        }
        places.append(line[line.count - 1])
        self.places = places
        self.length = length
        self.step = step
        directions = places.indices.map { position in
            let (before, after) = (places[max(0, position - 1)], places[min(places.count - 1, position + 1)])
            let way = after - before
            let metres = way.squaredLength.squareRoot()
            return metres > 0 ? way * (1 / metres) : .zero
        }
    }

    /// Whether both are drives of one route.
    func isAlike(_ other: RouteWay, _ grid: RouteGrid, _ rule: RouteRule) -> Bool {
        guard places[0].distance(to: other.places[0]) <= rule.ends,
            places[places.count - 1].distance(to: other.places[other.places.count - 1]) <= rule.ends,
            max(length, other.length) <= rule.stretch * min(length, other.length)
        else { return false }
        // Places of long ways lie far apart.
        let reach = max(rule.reach, step, other.step)
        var isMet = [Bool](repeating: false, count: places.count)
        var met = 0
        for (place, direction) in zip(other.places, other.directions) {
            var isAlong = false
            grid.visit(near: place, reach: reach) { position in
                guard (places[position] - place).squaredLength <= reach * reach,
                    directions[position].dot(direction) >= rule.direction
                else { return }
                (isAlong, isMet[position]) = (true, true)
            }
            if isAlong { met += 1 }
        }
        return Double(met) >= rule.share * Double(other.places.count)
            && Double(isMet.count { $0 }) >= rule.share * Double(places.count)
    }
}

/// Which places of a way are near another place.
struct RouteGrid: Sendable {
    /// Metres.
    private static let edge = 150.0

    private struct Cell: Hashable {
        let x: Int32
        let y: Int32
        let z: Int32
    }

    private var cells: [Cell: [Int32]] = [:]

    init(_ way: RouteWay) {
        for (position, place) in way.places.enumerated() {
            cells[Cell(x: Self.cell(place.x), y: Self.cell(place.y), z: Self.cell(place.z)), default: []]
                .append(Int32(position))
        }
    }

    /// Visits all places within a distance, and some that are a little farther.
    func visit(near place: EarthVector, reach: Double, _ visit: (Int) -> Void) {
        for x in Self.cell(place.x - reach)...Self.cell(place.x + reach) {
            for y in Self.cell(place.y - reach)...Self.cell(place.y + reach) {
                for z in Self.cell(place.z - reach)...Self.cell(place.z + reach) {
                    for position in cells[Cell(x: x, y: y, z: z)] ?? [] { visit(Int(position)) }
                }
            }
        }
    }

    /// The earth has a radius of 6,371 km: the number always fits.
    private static func cell(_ metres: Double) -> Int32 { Int32((metres / edge).rounded(.down)) }
}
