package import Geodesy
internal import TrackModel

/// A route: trips on the same way that began at about the same time of the day.
package struct FrequentRoute: Hashable, Sendable {
    /// Numbers of the trips, ascending.
    package let trips: [Int]
    /// The trip that all others are like.
    package let representative: Int
    package let departures: DayTimes
    package let arrivals: DayTimes

    /// The earliest and the latest of some times of the day, seconds after midnight. The latest is a smaller number than the
    /// earliest when midnight lies between them.
    package struct DayTimes: Hashable, Sendable {
        package let earliest: Int64
        package let latest: Int64

        package init(earliest: Int64, latest: Int64) { (self.earliest, self.latest) = (earliest, latest) }
    }
}

/// When two trips are drives of one route.
package struct RouteRule: Hashable, Sendable {
    /// Metres that the beginnings of two trips are apart at most, and their ends.
    package var ends = 250.0
    /// Metres from a way within which another one runs along it: roads have two sides, and receivers err.
    package var reach = 75.0
    /// The share of each way that runs along the other one.
    package var share = 0.9
    /// Cosine of the angle between two directions that count as one: 60 degrees. There and back are two routes.
    package var direction = 0.5
    /// How many times as long as the shorter way the longer one is at most: who drives a circle twice drives another route.
    package var stretch = 1.25
    /// Samples below which nobody knows the way of a trip.
    package var leastSamples = 4

    package init() {}
}

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

    /// Cells and places of all comparisons: some minutes of computing. Drives in circles that somebody made up reach it.
    package static let usualMostWork = 50_000_000_000
    /// Cells and places of one step.
    private static let workAtOnce = 100_000

    private let entries: [Entry]
    private let rule: RouteRule
    /// Seconds.
    private let span: Int64
    /// Seconds after midnight at which each trip began.
    private let departures: [Int64]
    /// For each trip the trips that are alike to it, with itself, or nothing when nobody knows its way.
    private var alike: [[Int32]]
    /// The two trips that are compared next, and the first one's places.
    private var (first, second) = (0, 1)
    private var grid: RouteGrid?
    private var workLeft: Int
    /// Trips that are in no route yet.
    private var isLeft: [Bool]
    /// The largest group of each trip when it was looked for last, and how many trips there are at most in its largest one now.
    private var groups: [Group?]
    private var bounds: [Int]
    private var found: [FrequentRoute] = []

    /// `span`: seconds of the day within which the trips of a route begin; a day or more: any. `zoneMinutes`: east of UTC.
    package init(
        _ entries: [Entry], span: Int64, zoneMinutes: Int, _ rule: RouteRule = RouteRule(),
        mostWork: Int = Self.usualMostWork
    ) {
        self.entries = entries
        self.rule = rule
        self.span = span
        workLeft = mostWork
        departures = entries.map { Self.secondOfDay($0.trip.start.timestamp, zoneMinutes) }
        alike = entries.indices.map { entries[$0].way == nil ? [] : [Int32($0)] }
        isLeft = entries.map { $0.way != nil }
        groups = [Group?](repeating: nil, count: entries.count)
        bounds = [Int](repeating: entries.count, count: entries.count)
    }

    private static func secondOfDay(_ time: Timestamp, _ zoneMinutes: Int) -> Int64 {
        let rest = (time.seconds % day + Int64(zoneMinutes) * 60) % day
        return rest < 0 ? rest + day : rest
    }

    /// Whether the trips take more work to compare than there may be. There are no routes then.
    package var isTooMuch: Bool { workLeft < 0 }

    /// Compares some more trips, or finds one more group. False at the end: a month of trips takes long, and whoever does it may
    /// want to do something else in between.
    package mutating func step() -> Bool { !isTooMuch && (compareSome() || takeLargest()) }

    /// The routes, those of most trips first, when no step is left. Trips of which nobody knows the way are in none.
    package func routes() -> [FrequentRoute] { found }

    /// False: all have been compared.
    private mutating func compareSome() -> Bool {
        guard first < entries.count else { return false }
        var work = 0
        while first < entries.count, work < Self.workAtOnce {
            guard let way = entries[first].way, second < entries.count else {
                (first, second, grid) = (first + 1, first + 2, nil)
                work += 1
                continue
            }
            if let other = entries[second].way {
                let grid = grid ?? RouteGrid(way)
                self.grid = grid
                let compared = way.compare(other, grid, rule)
                if compared.isAlike {
                    alike[first].append(Int32(second))
                    alike[second].append(Int32(first))
                }
                work += compared.work
            }
            second += 1
            work += 1
        }
        workLeft -= work
        return true
    }

    // MARK: One group

    private struct Group {
        let representative: Int
        let trips: [Int]
        /// Seconds after midnight, of the first trip of the span.
        let begin: Int64
    }

    /// Takes the largest group of all when it is known, or finds that of a trip which may have it. False: no trip is left.
    ///
    /// A group only shrinks while others are taken. One of which nothing was taken is still the largest one of its trip.
    private mutating func takeLargest() -> Bool {
        var best: Int?
        for trip in entries.indices where isLeft[trip] {
            if let best, !comesBefore(trip, best) { continue }
            best = trip
        }
        guard let best else { return false }
        guard let group = groups[best], group.trips.allSatisfy({ isLeft[$0] }) else {
            let group = largestGroup(around: best)
            (groups[best], bounds[best]) = (group, group.trips.count)
            return true
        }
        for trip in group.trips { isLeft[trip] = false }
        found.append(route(group))
        return true
    }

    private func comesBefore(_ trip: Int, _ other: Int) -> Bool {
        (bounds[other], entries[trip].trip.unrecorded, trip) < (bounds[trip], entries[other].trip.unrecorded, other)
    }

    /// The largest group of a trip and others within one span of the day. Of several, the one that begins first after midnight.
    private func largestGroup(around trip: Int) -> Group {
        let others = alike[trip].map(Int.init).filter { isLeft[$0] }
        guard span < Self.day else { return Group(representative: trip, trips: others.sorted(), begin: 0) }
        // A window that goes once around the day.
        let sorted = others.sorted { departures[$0] < departures[$1] }
        let count = sorted.count
        func departure(_ position: Int) -> Int64 { departures[sorted[position % count]] }
        var (best, end) = (0..<0, 0)
        for start in 0..<count {
            let begin = departure(start)
            end = max(end, start)
            while end < start + count, Self.after(begin, departure(end)) <= span { end += 1 }
            if end - start > best.count, Self.after(begin, departures[trip]) <= span { best = start..<end }
        }
        return Group(
            representative: trip, trips: best.map { sorted[$0 % count] }.sorted(), begin: departure(best.lowerBound))
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
