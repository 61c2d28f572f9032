package import Geodesy
internal import TrackModel

/// Groups trips into routes.
///
/// Two trips are *alike* when ``RouteRule`` says so. Again and again the largest group is taken: a trip, and trips that are
/// alike to it, so that all of them begin within one span of the day. Of two groups of a size, the one comes first whose trip has
/// the least that was not recorded, then the earlier trip.
package struct RouteGrouping: Sendable {
    /// A trip with the places of its way.
    package struct Entry: Sendable {
        package let trip: Trip
        fileprivate let way: RouteWay?

        /// `places`: in the order of the trip.
        package init(_ trip: Trip, places: [Degrees], _ rule: RouteRule = RouteRule()) {
            self.trip = trip
            way = places.count >= rule.leastSamples ? RouteWay(places.map { EarthVector($0) }) : nil
        }
    }

    private static let day: Int64 = 86_400

    private let entries: [Entry]
    private let rule: RouteRule
    /// Seconds.
    private let span: Int64
    /// Seconds after midnight at which each trip began.
    private let departures: [Int64]
    /// For each trip the trips that are alike to it, ascending; with itself, or nothing when nobody knows its way.
    private var alike: [[Int32]]
    private var next = 0

    /// `span`: seconds of the day within which the trips of a route begin; a day or more: any. `zoneMinutes`: east of UTC.
    package init(_ entries: [Entry], span: Int64, zoneMinutes: Int, _ rule: RouteRule = RouteRule()) {
        self.entries = entries
        self.rule = rule
        self.span = span
        departures = entries.map { Self.secondOfDay($0.trip.start.timestamp, zoneMinutes) }
        alike = entries.indices.map { entries[$0].way == nil ? [] : [Int32($0)] }
    }

    private static func secondOfDay(_ time: Timestamp, _ zoneMinutes: Int) -> Int64 {
        let rest = (time.seconds % day + Int64(zoneMinutes) * 60) % day
        return rest < 0 ? rest + day : rest
    }

    /// Compares one more trip with those behind it. False when all have been compared: a month of trips takes long, and whoever
    /// does it may want to do something else in between.
    package mutating func step() -> Bool {
        guard next < entries.count else { return false }
        defer { next += 1 }
        guard let way = entries[next].way else { return true }
        let grid = RouteGrid(way)
        for other in next + 1..<max(entries.count, next + 1) {
            guard let one = entries[other].way, way.isAlike(one, grid, rule) else { continue }
            alike[next].append(Int32(other))
            alike[other].append(Int32(next))
        }
        return true
    }

    /// The routes, those of most trips first. Trips of which nobody knows the way are in none.
    package func routes() -> [FrequentRoute] {
        var isLeft = entries.indices.map { entries[$0].way != nil }
        var found: [FrequentRoute] = []
        while let group = largest(isLeft) {
            for trip in group.trips { isLeft[trip] = false }
            found.append(route(group))
        }
        return found
    }

    // MARK: One group

    private struct Group {
        let representative: Int
        let trips: [Int]
        /// Seconds after midnight, of the first trip of the span.
        let begin: Int64
    }

    private func largest(_ isLeft: [Bool]) -> Group? {
        var best: Group?
        for trip in entries.indices where isLeft[trip] {
            let others = alike[trip].map(Int.init).filter { isLeft[$0] }
            // Not more than all of them are in one span.
            if let best, others.count < best.trips.count { continue }
            let group = group(around: trip, others)
            if let best, !isBetter(group, best) { continue }
            best = group
        }
        return best
    }

    private func isBetter(_ group: Group, _ other: Group) -> Bool {
        if group.trips.count != other.trips.count { return group.trips.count > other.trips.count }
        let (one, two) = (entries[group.representative].trip.unrecorded, entries[other.representative].trip.unrecorded)
        return one < two
    }

    /// The largest group of a trip and others within one span of the day. Of several, the one that begins first after midnight.
    private func group(around trip: Int, _ others: [Int]) -> Group {
        guard span < Self.day else { return Group(representative: trip, trips: others.sorted(), begin: 0) }
        let begins = Set(others.map { departures[$0] }).sorted()
        var best: Group?
        for begin in begins where Self.after(begin, departures[trip]) <= span {
            let trips = others.filter { Self.after(begin, departures[$0]) <= span }
            if trips.count > best?.trips.count ?? 0 {
                best = Group(representative: trip, trips: trips.sorted(), begin: begin)
            }
        }
        return best ?? Group(representative: trip, trips: [trip], begin: departures[trip])
    }

    /// Seconds from a time of the day to the next time that another one is reached.
    private static func after(_ time: Int64, _ other: Int64) -> Int64 {
        other >= time ? other - time : other - time + day
    }

    private func route(_ group: Group) -> FrequentRoute {
        let starts = group.trips.map { Self.after(group.begin, departures[$0]) }
        let ends = zip(group.trips, starts).map { trip, start in
            let end = start + max(0, entries[trip].trip.duration)
            // Of any time of the day: between one midnight and the next.
            return span < Self.day ? end : end % Self.day
        }
        func times(_ seconds: [Int64]) -> FrequentRoute.DayTimes {
            FrequentRoute.DayTimes(
                earliest: (group.begin + (seconds.min() ?? 0)) % Self.day,
                latest: (group.begin + (seconds.max() ?? 0)) % Self.day)
        }
        return FrequentRoute(
            trips: group.trips, representative: group.representative, departures: times(starts), arrivals: times(ends))
    }
}
