package import Geodesy

/// The places of a cleaned track, 16 bytes each: from a month of them the ways of trips are cut.
package struct RouteTrack: Sendable {
    /// Milliseconds, ascending.
    private var times: [Int64] = []
    private var latitudes: [Int32] = []
    private var longitudes: [Int32] = []

    package init() {}

    package var count: Int { times.count }

    /// `sample`: later than those before it.
    package mutating func add(_ sample: TrackSample) {
        times.append(sample.time)
        latitudes.append(sample.latitudeE7)
        longitudes.append(sample.longitudeE7)
    }

    /// The places of a trip, with its ends.
    package func places(of trip: Trip) -> [Degrees] {
        positions(of: trip).map {
            Degrees(latitude: Double(latitudes[$0]) / 1e7, longitude: Double(longitudes[$0]) / 1e7)
        }
    }

    /// The times of a trip's places, milliseconds.
    package func times(of trip: Trip) -> ArraySlice<Int64> { times[positions(of: trip)] }

    private func positions(of trip: Trip) -> Range<Int> {
        let start = position(of: trip.start.time)
        return start..<max(start, position(of: trip.end.time &+ 1))
    }

    /// The first position of that time or later.
    private func position(of time: Int64) -> Int {
        var (low, high) = (0, times.count)
        while low < high {
            let middle = (low + high) / 2
            if times[middle] < time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// The way of a trip as places at equal distances along it, each with its direction: so two ways can be compared whatever the
/// speeds and the intervals of their points.
struct RouteWay: Hashable, Sendable {
    /// Metres between two places of a usual way, and the places of a long one.
    static let spacing = 50.0
    static let mostPlaces = 4000
    /// Metres: half a kilometre between two places of it. Of a longer one nobody could say which roads it took.
    static let mostLength = 2_000_000.0

    let places: [EarthVector]
    /// Of length 1.
    let directions: [EarthVector]
    /// Metres.
    let length: Double
    /// Metres between two places.
    let step: Double

    /// Nil for a way without length, and for one that is too long.
    init?(_ line: [EarthVector]) {
        var length = 0.0
        for (start, end) in zip(line, line.dropFirst()) { length += start.distance(to: end) }
        guard let first = line.first, length > 0, length <= Self.mostLength else { return nil }
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

    /// Whether both are drives of one route, and how many places and cells of the grid were looked at to say so.
    func compare(_ other: RouteWay, _ grid: RouteGrid, _ rule: RouteRule) -> (isAlike: Bool, work: Int) {
        guard places[0].distance(to: other.places[0]) <= rule.ends,
            places[places.count - 1].distance(to: other.places[other.places.count - 1]) <= rule.ends,
            max(length, other.length) <= rule.stretch * min(length, other.length)
        else { return (false, 1) }
        // Places of long ways lie far apart.
        let reach = max(rule.reach, step, other.step)
        var isMet = [Bool](repeating: false, count: places.count)
        var (met, work) = (0, 0)
        for (place, direction) in zip(other.places, other.directions) {
            var isAlong = false
            work += grid.visit(near: place, reach: reach) { position in
                guard (places[position] - place).squaredLength <= reach * reach,
                    directions[position].dot(direction) >= rule.direction
                else { return }
                (isAlong, isMet[position]) = (true, true)
            }
            if isAlong { met += 1 }
        }
        let isAlike =
            Double(met) >= rule.share * Double(other.places.count)
            && Double(isMet.count { $0 }) >= rule.share * Double(places.count)
        return (isAlike, work)
    }
}

/// Which places of a way are near another place.
struct RouteGrid: Sendable {
    /// Metres: of a usual way, and at least twice the step, so that a place has few cells around it also on a long way.
    private static let usualEdge = 150.0
    private let edge: Double

    private struct Cell: Hashable {
        let x: Int32
        let y: Int32
        let z: Int32
    }

    private var cells: [Cell: [Int32]] = [:]

    init(_ way: RouteWay) {
        edge = max(Self.usualEdge, 2 * way.step)
        for (position, place) in way.places.enumerated() {
            cells[Cell(x: cell(place.x), y: cell(place.y), z: cell(place.z)), default: []].append(Int32(position))
        }
    }

    /// Visits all places within a distance, and some that are a little farther. Returns how many cells and places it looked at.
    func visit(near place: EarthVector, reach: Double, _ visit: (Int) -> Void) -> Int {
        var looks = 0
        for x in cell(place.x - reach)...cell(place.x + reach) {
            for y in cell(place.y - reach)...cell(place.y + reach) {
                for z in cell(place.z - reach)...cell(place.z + reach) {
                    let positions = cells[Cell(x: x, y: y, z: z)] ?? []
                    for position in positions { visit(Int(position)) }
                    looks += 1 + positions.count
                }
            }
        }
        return looks
    }

    /// The earth has a radius of 6,371 km: the number always fits.
    private func cell(_ metres: Double) -> Int32 { Int32((metres / edge).rounded(.down)) }
}
