import Geodesy
import ProgramTestKit
import Testing
import TrackModel

@testable import TrackAnalysis

@Suite struct RouteGroupingTests {
    /// East and north in metres of a corner, on a plane at the equator.
    typealias Corner = (east: Double, north: Double)

    private static let degree = 111_194.926_644_558_737
    /// A Monday, 00:00 UTC.
    private static let monday: Int64 = 1_772_409_600

    static func place(_ corner: Corner) -> Degrees {
        Degrees(latitude: corner.north / degree, longitude: 10 + corner.east / degree)
    }

    /// Points every `spacing` metres along a line.
    static func points(_ corners: [Corner], spacing: Double = 40) -> [Corner] {
        var points: [Corner] = []
        for (start, end) in zip(corners, corners.dropFirst()) {
            let (east, north) = (end.east - start.east, end.north - start.north)
            let length = (east * east + north * north).squareRoot()
            let parts = max(1, Int(length / spacing))
            for part in 0..<parts {
                let share = Double(part) / Double(parts)
                points.append((start.east + share * east, start.north + share * north))
            }
        }
        return points + corners.suffix(1)
    }

    /// A trip on the way of some corners: `day` 0 is a Monday, and it begins so many minutes after midnight.
    static func entry(
        _ corners: [Corner], day: Int = 0, minute: Double, lasts: Double = 20, unrecorded: Double = 0,
        spacing: Double = 40
    ) -> RouteGrouping.Entry {
        let begin = (monday + Int64(day) * 86_400) * 1000 + Int64(minute * 60_000)
        func sample(_ index: Int, _ time: Int64, _ corner: Corner) -> TrackSample {
            let place = place(corner)
            return TrackSample(
                index: index, time: time, latitudeE7: Int32((place.latitude * 1e7).rounded()),
                longitudeE7: Int32((place.longitude * 1e7).rounded()))
        }
        let trip = Trip(
            start: sample(0, begin, corners[0]),
            end: sample(1, begin + Int64(lasts * 60_000), corners[corners.count - 1]),
            distance: 1000, unrecorded: unrecorded, maximumSpeed: 0, isOpenAtStart: false, isOpenAtEnd: false)
        return RouteGrouping.Entry(trip, places: points(corners, spacing: spacing).map(place))
    }

    static func routes(_ entries: [RouteGrouping.Entry], minutes: Int64 = 1440, zone: Int = 0) -> [FrequentRoute] {
        var grouping = RouteGrouping(entries, span: minutes * 60, zoneMinutes: zone)
        while grouping.step() {}
        return grouping.routes()
    }

    private static let north: [Corner] = [(0, 0), (0, 3000), (4000, 3000)]
    /// Between the same ends, on another way.
    private static let south: [Corner] = [(0, 0), (4000, 0), (4000, 3000)]

    @Test func tripsOfOneWayAreOneRoute() {
        let way = Self.north
        let beside: [Corner] = [(60, -50), (60, 2950), (4060, 2950)]
        let trips = [
            Self.entry(way, minute: 480), Self.entry(Self.south, day: 1, minute: 480),
            Self.entry(beside, day: 2, minute: 480), Self.entry(way.reversed(), day: 2, minute: 1000),
            Self.entry(way, day: 3, minute: 480, spacing: 200),
            Self.entry([(0, 0), (0, 3000), (5000, 3000)], day: 4, minute: 480),
        ]
        let found = Self.routes(trips)
        #expect(found.map(\.trips) == [[0, 2, 4], [1], [3], [5]])
        #expect(found.map(\.representative) == [0, 1, 3, 5])
    }

    /// The example of the published guide.
    @Test func departuresPartRoutes() {
        let trips = [(0, 480.0), (1, 540), (2, 720)].map { Self.entry(Self.north, day: $0.0, minute: $0.1) }
        #expect(Self.routes(trips, minutes: 180).map(\.trips) == [[0, 1], [2]])
        #expect(Self.routes(trips, minutes: 240).map(\.trips) == [[0, 1, 2]])
        #expect(Self.routes(trips, minutes: 239).map(\.trips) == [[0, 1], [2]])
        #expect(Self.routes(trips, minutes: 1440).map(\.trips) == [[0, 1, 2]])
        #expect(Self.routes(trips, minutes: 1).map(\.trips) == [[0], [1], [2]])
        // No chain: 8 and 12 are four hours apart, whatever lies between.
        let chain = [480, 600, 720].map { Self.entry(Self.north, minute: $0) }
        #expect(Self.routes(chain, minutes: 120).map(\.trips) == [[0, 1], [2]])
    }

    @Test func aNightIsOneTimeOfTheDay() {
        let trips = [(0, 1430.0), (1, 10), (2, 1435), (3, 720)].map { Self.entry(Self.north, day: $0.0, minute: $0.1) }
        let found = Self.routes(trips, minutes: 20)
        #expect(found.map(\.trips) == [[0, 1, 2], [3]])
        #expect(found[0].departures == FrequentRoute.DayTimes(earliest: 1430 * 60, latest: 600))
        #expect(found[0].arrivals == FrequentRoute.DayTimes(earliest: 600, latest: 30 * 60))
        // 05:10 in Nepal.
        let zoned = Self.routes(trips, minutes: 20, zone: 345)
        #expect(zoned[0].departures == FrequentRoute.DayTimes(earliest: 335 * 60, latest: 355 * 60))
        // Of any time of the day: from the earliest to the latest between two midnights.
        let any = Self.routes(trips)
        #expect(any[0].departures == FrequentRoute.DayTimes(earliest: 600, latest: 1435 * 60))
        #expect(any[0].arrivals == FrequentRoute.DayTimes(earliest: 600, latest: 740 * 60))
    }

    @Test func theTripWithTheLeastGapsStandsForItsRoute() {
        let trips = [900.0, 0, 300].map { Self.entry(Self.north, minute: 480, unrecorded: $0) }
        #expect(Self.routes(trips).map(\.representative) == [1])
    }

    @Test func aTripWithoutAWayIsInNoRoute() {
        let trips = [
            Self.entry([(0, 0), (3000, 0)], minute: 480, spacing: 5000), Self.entry([(0, 0), (0, 0)], minute: 480),
            Self.entry(Self.north, minute: 480),
        ]
        #expect(Self.routes(trips).map(\.trips) == [[2]])
        #expect(Self.routes([]).isEmpty)
    }

    @Test func aCircleHasADirectionAndALength() {
        let circle: [Corner] = [(0, 0), (2000, 0), (2000, 2000), (0, 2000), (0, 0)]
        let trips = [circle, circle.reversed(), circle + circle, circle].map { Self.entry($0, minute: 480) }
        #expect(Self.routes(trips).map(\.trips) == [[0, 3], [1], [2]])
    }

    @Test func aMonthOfATrackGivesTheWaysOfItsTrips() {
        var track = RouteTrack()
        let entry = Self.entry(Self.north, minute: 480)
        let begin = entry.trip.start.time
        for second in Int64(-600)...2400 {
            track.add(
                TrackSample(index: 0, time: begin + second * 1000, latitudeE7: Int32(second), longitudeE7: 7))
        }
        let places = track.places(of: entry.trip)
        #expect(places.count == 1201 && places.first?.latitude == 0 && near(places.last?.latitude ?? 0, 1200e-7, 1e-12))
        #expect(track.times(of: entry.trip).first == begin && track.count == 3001)
    }

    /// Such ways are no drives between two stays, and a place of them would stand for a town.
    @Test func nobodyKnowsAWayThatIsTooLong() {
        func way(_ degrees: Int) -> RouteWay? {
            RouteWay((0...degrees * 10).map { EarthVector(Degrees(latitude: 0, longitude: Double($0) / 10)) })
        }
        // 111 km each.
        #expect(way(17) != nil)
        #expect(way(19) == nil)
        #expect(way(350) == nil)
    }

    /// However long the ways are, a place of one has few places and cells of the other around it.
    @Test func longWaysAreComparedInFewLooks() throws {
        func way(_ kilometres: Double, off: Double = 0) throws -> RouteWay {
            let corners: [Corner] = [(0, off), (kilometres * 1000, off)]
            return try #require(RouteWay(Self.points(corners, spacing: 500).map { EarthVector(Self.place($0)) }))
        }
        for kilometres in [1.0, 150, 250, 900, 1800] {
            let one = try way(kilometres)
            for (other, isAlike) in [
                (try way(kilometres * 1.1), kilometres < 2), (try way(kilometres, off: 70), true),
                (try way(kilometres, off: 240), one.step > 240),
            ] {
                let found = one.compare(other, RouteGrid(one), RouteRule())
                #expect(found.isAlike == isAlike, "\(kilometres) km, \(other.length) m")
                #expect(found.work <= 40 * other.places.count, "\(kilometres) km: \(found.work)")
            }
        }
    }

    /// Drives in circles that somebody made up: all places of each trip are near all places of all others.
    @Test func tooMuchWorkIsNone() {
        let circle: [Corner] = [(0, 0), (60, 0), (60, 60), (0, 60), (0, 0)]
        let trips = (0..<12).map { Self.entry((0..<40).flatMap { _ in circle }, minute: Double($0)) }
        func grouping(_ mostWork: Int) -> RouteGrouping {
            var grouping = RouteGrouping(trips, span: 86_400, zoneMinutes: 0, mostWork: mostWork)
            while grouping.step() {}
            return grouping
        }
        let most = grouping(RouteGrouping.usualMostWork)
        #expect(!most.isTooMuch && most.routes().map(\.trips) == [Array(0..<12)])
        let few = grouping(100_000)
        #expect(few.isTooMuch && few.routes().isEmpty)
    }

    /// Whoever groups trips may want to stop in between, also while it looks for the groups.
    @Test func groupsAreFoundInSteps() throws {
        let count = 240
        var grouping = RouteGrouping(
            (0..<count).map { Self.entry([(0, 0), (300, 0)], minute: Double($0 * 5)) }, span: 300, zoneMinutes: 0)
        var steps = 0
        while grouping.step() { steps += 1 }
        // The group of each trip at least, and each route.
        try #require(steps >= count + count / 2)
        let found = grouping.routes()
        #expect(found.map(\.trips) == (0..<count / 2).map { [2 * $0, 2 * $0 + 1] })
    }

    // MARK: Compared with a look at every pair and every group

    /// Distances of points to points, however many: no grid, no vectors.
    private static func areAlike(_ one: [Corner], _ other: [Corner]) -> (isAlike: Bool, isClear: Bool) {
        func fine(_ corners: [Corner]) -> [(at: Corner, to: Corner)] {
            let points = points(corners, spacing: 10)
            return points.indices.map { index in
                let (before, after) = (points[max(0, index - 5)], points[min(points.count - 1, index + 5)])
                return (points[index], (after.east - before.east, after.north - before.north))
            }
        }
        func distance(_ a: Corner, _ b: Corner) -> Double {
            ((a.east - b.east) * (a.east - b.east) + (a.north - b.north) * (a.north - b.north)).squareRoot()
        }
        func length(_ corners: [Corner]) -> Double {
            zip(corners, corners.dropFirst()).reduce(0) { $0 + distance($1.0, $1.1) }
        }
        let ends = max(distance(one[0], other[0]), distance(one[one.count - 1], other[other.count - 1]))
        let stretch = max(length(one), length(other)) / min(length(one), length(other))
        func share(_ a: [Corner], along b: [Corner], _ reach: Double) -> Double {
            let (points, others) = (fine(a), fine(b))
            let along = points.count { point in
                others.contains { other in
                    let product = point.to.east * other.to.east + point.to.north * other.to.north
                    let size = distance(point.to, (0, 0)) * distance(other.to, (0, 0))
                    return distance(point.at, other.at) <= reach && product >= 0.5 * size
                }
            }
            return Double(along) / Double(points.count)
        }
        // A place of a grid of 50 m is at most so far from the way itself.
        func shares(_ reach: Double) -> Double { min(share(one, along: other, reach), share(other, along: one, reach)) }
        let (narrow, wide) = (shares(60), shares(80))
        let isAlike = ends <= 250 && stretch <= 1.25 && shares(75) >= 0.9
        let isClear =
            abs(ends - 250) > 4 && abs(stretch - 1.25) > 0.02
            && (ends > 250 || stretch > 1.25 || narrow >= 0.93 || wide <= 0.87)
        return (isAlike, isClear)
    }

    @Test func waysAreAlikeAsALookAtAllPointsSays() {
        var (alike, different) = (0, 0)
        for seed in Dice.seeds(150) {
            var dice = Dice(seed: seed)
            let way: [Corner] = (0...Int.random(in: 1...4, using: &dice)).map { _ in
                (Double.random(in: 0...3000, using: &dice), Double.random(in: 0...3000, using: &dice))
            }
            let off = [20.0, 60, 120, 400].one(&dice)
            var other: [Corner] = way.map {
                (
                    $0.east + Double.random(in: -off...off, using: &dice),
                    $0.north + Double.random(in: -off...off, using: &dice)
                )
            }
            if dice.one(in: 8) { other.reverse() }
            let (wanted, isClear) = Self.areAlike(way, other)
            guard isClear, let one = RouteWay(Self.points(way).map { EarthVector(Self.place($0)) }),
                let two = RouteWay(Self.points(other).map { EarthVector(Self.place($0)) })
            else { continue }
            if wanted { alike += 1 } else { different += 1 }
            #expect(one.compare(two, RouteGrid(one), RouteRule()).isAlike == wanted, "seed \(seed)")
            #expect(
                two.compare(one, RouteGrid(two), RouteRule()).isAlike == wanted, "seed \(seed), the other way round")
        }
        #expect(alike > 10 && different > 10, "\(alike) \(different)")
    }

    /// Every subset of the trips that may be a group, by the words of the rule.
    private static func largestGroup(
        _ left: [Int], _ ways: [Int], _ minutes: [Int], span: Int
    ) -> Int {
        var most = 0
        for subset in 1..<(1 << left.count) {
            let trips = left.indices.filter { subset & (1 << $0) != 0 }.map { left[$0] }
            guard trips.count > most else { continue }
            let isOneWay = Set(trips.map { ways[$0] }).count == 1
            let fits = (0..<1440).contains { begin in
                trips.allSatisfy { (minutes[$0] - begin + 1440) % 1440 <= span }
            }
            if isOneWay, fits || span >= 1440 { most = trips.count }
        }
        return most
    }

    /// What the rule says, looked at for every beginning of every group anew: `minutes` of the day of trips whose ways are alike when
    /// their `kinds` are equal.
    private static func simpleRoutes(
        _ kinds: [Int], _ minutes: [Int], _ unrecorded: [Double], span: Int
    ) -> [(trips: [Int], representative: Int)] {
        var left = Array(kinds.indices)
        var found: [(trips: [Int], representative: Int)] = []
        while !left.isEmpty {
            var best: (trips: [Int], representative: Int) = ([], -1)
            for trip in left {
                var most: [Int] = []
                for begin in Set(left.map { minutes[$0] }).sorted() {
                    let group = left.filter {
                        kinds[$0] == kinds[trip] && (span >= 1440 || (minutes[$0] - begin + 1440) % 1440 <= span)
                    }
                    if group.contains(trip), group.count > most.count { most = group }
                }
                let isBetter =
                    most.count > best.trips.count
                    || most.count == best.trips.count && unrecorded[trip] < unrecorded[best.representative]
                if isBetter { best = (most, trip) }
            }
            found.append(best)
            left.removeAll(where: best.trips.contains)
        }
        return found
    }

    @Test func routesAreThoseOfTheSimpleWay() {
        let ways: [[Corner]] = [Self.north, Self.south]
        for seed in Dice.seeds(40) {
            var dice = Dice(seed: seed)
            let count = Int.random(in: 1...24, using: &dice)
            let kinds = (0..<count).map { _ in Int.random(in: 0..<2, using: &dice) }
            let minutes = (0..<count).map { _ in
                Bool.random(using: &dice) ? Int.random(in: 0..<1440, using: &dice) : [0, 60, 700, 1439].one(&dice)
            }
            let unrecorded = (0..<count).map { _ in [0.0, 100, 200].one(&dice) }
            let span = [1, 59, 120, 720, 1439, 1440].one(&dice)
            let found = Self.routes(
                (0..<count).map {
                    Self.entry(ways[kinds[$0]], day: $0, minute: Double(minutes[$0]), unrecorded: unrecorded[$0])
                }, minutes: Int64(span))
            let wanted = Self.simpleRoutes(kinds, minutes, unrecorded, span: span)
            #expect(found.map(\.trips) == wanted.map(\.trips), "seed \(seed)")
            #expect(found.map(\.representative) == wanted.map(\.representative), "seed \(seed)")
        }
    }

    @Test func groupsAreTheLargestThatThereAre() {
        let ways: [[Corner]] = [Self.north, Self.south, Self.north.reversed()]
        for seed in Dice.seeds(25) {
            var dice = Dice(seed: seed)
            let count = Int.random(in: 1...8, using: &dice)
            let kinds = (0..<count).map { _ in Int.random(in: 0..<3, using: &dice) }
            let minutes = (0..<count).map { _ in [0, 60, 90, 700, 720, 1400, 1439].one(&dice) + 0 }
            let span = [1, 30, 61, 100, 720, 1439, 1440].one(&dice)
            let found = Self.routes(
                (0..<count).map { Self.entry(ways[kinds[$0]], day: $0, minute: Double(minutes[$0])) },
                minutes: Int64(span))
            var left = Array(0..<count)
            for route in found {
                #expect(
                    route.trips.count == Self.largestGroup(left, kinds, minutes, span: span), "seed \(seed)")
                #expect(Set(route.trips).isSubset(of: left) && route.trips.contains(route.representative))
                #expect(Set(route.trips.map { kinds[$0] }).count == 1, "seed \(seed)")
                if span < 1440 {
                    let begin = Int(route.departures.earliest / 60)
                    let offsets = route.trips.map { (minutes[$0] - begin + 1440) % 1440 }
                    #expect(offsets.min() == 0 && offsets.max() ?? 0 <= span, "seed \(seed)")
                    #expect(Int(route.departures.latest / 60) == (begin + (offsets.max() ?? 0)) % 1440, "seed \(seed)")
                }
                left.removeAll(where: route.trips.contains)
            }
            #expect(left.isEmpty, "seed \(seed)")
            #expect(found.map(\.trips.count) == found.map(\.trips.count).sorted(by: >), "seed \(seed)")
        }
    }
}
