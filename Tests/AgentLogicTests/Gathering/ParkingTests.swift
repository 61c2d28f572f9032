import Testing
import TrackModel

@testable import AgentLogic

/// A parked vehicle, by the sampler that asks the filter: gather 5 s, parked after 60 s, then a point every 30 s.
@Suite struct ParkingTests {
    private static let options = ParkingOptions(delay: 60, interval: 30)

    private static func sampler(gather: Int = 5, _ change: (inout LocationOptions) -> Void = { _ in }) -> Sampler {
        var options = LocationOptions(parking: options)
        change(&options)
        return Sampler(interval: gather, options: options)
    }

    /// One a second; metres north.
    private func at(
        _ second: Int64, _ metres: Double = 0, speed: Int32? = 0, accuracy: Int32? = 50
    ) -> Fix {
        var fix = AgentLogicTests.fix(at: second * 1000, north: metres, accuracy: accuracy)
        fix.speed = speed
        fix.course = 900
        return fix
    }

    private struct Made: Equatable {
        var second: Int64
        var isParked: Bool
    }

    /// What comes of fixes, and the fixes of the points themselves.
    private func run(_ sampler: inout Sampler, _ fixes: some Sequence<Fix>) -> (made: [Made], points: [Fix]) {
        var made: [Made] = []
        var points: [Fix] = []
        func add(_ fix: Fix, _ isParked: Bool) {
            made.append(Made(second: (fix.time.milliseconds - epochStart) / 1000, isParked: isParked))
            points.append(fix)
        }
        for fix in fixes {
            switch sampler.fix(fix) {
            case .point(let fix): add(fix, false)
            case .parked(let fix): add(fix, true)
            case .departed(let fixes): for fix in fixes { add(fix, false) }
            case .notDue, .skipped: break
            }
        }
        return (made, points)
    }

    private func parked(_ seconds: [Int64]) -> [Made] { seconds.map { Made(second: $0, isParked: true) } }
    private func moving(_ seconds: [Int64]) -> [Made] { seconds.map { Made(second: $0, isParked: false) } }

    private static func metres(_ points: [Fix]) -> Double {
        zip(points.dropFirst(), points).reduce(0) { $0 + PlausibilityGate.distance($1.0, $1.1) }
    }

    // MARK: Parking

    @Test func offIsTheDefaultAndChangesNothing() {
        var sampler = Sampler(interval: 5)
        #expect(
            run(&sampler, (Int64(0)...600).map { at($0) }).made
                == moving(Array(stride(from: Int64(0), through: 600, by: 5))))
        #expect(sampler.parkedSince == nil)
    }

    @Test func aStayOfTheDelayMakesFewPoints() {
        var sampler = Self.sampler()
        let made = run(&sampler, (Int64(0)...180).map { at($0) }).made
        #expect(made == moving(Array(stride(from: Int64(0), to: 60, by: 5))) + parked([60, 90, 120, 150, 180]))
        #expect(sampler.parkedSince?.milliseconds == epochStart)
        // 25 due times after the first parked point, 4 of them made.
        #expect(sampler.counters.parked == 20)
        let counters = sampler.counters
        let sum = Sampler.SkipReason.allCases.reduce(counters.points + counters.notDue) { $0 + counters[$1] }
        #expect(sum == counters.fixes)
    }

    @Test func parkedPointsStandAtTheMeanPlaceWithoutSpeedAndCourse() {
        var sampler = Self.sampler()
        // 0 and 10 m by turns: the mean is 5 m.
        let points = run(&sampler, (Int64(0)...180).map { at($0, $0.isMultiple(of: 2) ? 0 : 10, speed: 20) }).points
        let still = points.suffix(4)
        #expect(Self.metres(Array(still)) == 0)
        for point in still {
            let wrong = abs(PlausibilityGate.distance(at(0, 5), point))
            #expect(wrong < 0.2)
            #expect(point.speed == 0)
            #expect(point.course == nil)
            #expect(point.accuracy == 50)
        }
        // What the receiver did not tell is not made up.
        var silent = Self.sampler()
        #expect(run(&silent, (Int64(0)...90).map { at($0, speed: nil) }).points.last?.speed == nil)
    }

    @Test func theDistanceFilterDoesNotSilenceAParkedVehicle() {
        var sampler = Self.sampler { $0.distanceFilter = 50 }
        #expect(run(&sampler, (Int64(0)...120).map { at($0) }).made == moving([0]) + parked([60, 90, 120]))
    }

    @Test func aMeanAcrossTheDateLineIsThere() throws {
        var sampler = Self.sampler()
        let places = try [1_799_999_900, -1_799_999_900].map {
            try #require(Coordinate(latitudeE7: 0, longitudeE7: $0))
        }
        let points = run(
            &sampler,
            (Int64(0)...120).map { second in
                var fix = at(second)
                fix.coordinate = places[Int(second % 2)]
                return fix
            }
        ).points
        let last = try #require(points.last)
        #expect(abs(last.coordinate.longitudeE7) > 1_799_999_800)
        #expect(sampler.parkedSince != nil)
    }

    // MARK: Departure

    @Test func theFirstMovingFixIsAPointAndTheGridGoesOn() {
        var sampler = Self.sampler()
        _ = run(&sampler, (Int64(0)...120).map { at($0) })
        // Off at 132 s with 2 m/s and more: the fix of 132 s is the first sign.
        let drive = (Int64(121)...150).map { second -> Fix in
            let elapsed = Double(max(0, second - 131))
            return at(second, elapsed * elapsed, speed: Int32(elapsed * 200))
        }
        #expect(run(&sampler, drive).made == moving([132, 135, 140, 145, 150]))
        #expect(sampler.parkedSince == nil)
        #expect(sampler.counters.released == 1)
    }

    @Test func aDepartureWithoutSpeedsIsSeenByThePlace() {
        var sampler = Self.sampler()
        _ = run(&sampler, (Int64(0)...120).map { at($0, speed: nil) })
        let drive = (Int64(121)...140).map { at($0, Double(max(0, $0 - 126)) * 10, speed: nil) }
        // Reach is 10 m and the error of 5 m: 128 is the first beyond it.
        #expect(run(&sampler, drive).made == moving([128, 130, 135, 140]))
    }

    @Test func aDepartureRightAfterAParkedPointKeepsTheGrid() {
        var sampler = Self.sampler()
        #expect(run(&sampler, (Int64(0)...120).map { at($0) }).made.last == Made(second: 120, isParked: true))
        // The due time of 120 s is served: the next one is 125 s, as at full rate.
        let drive = (Int64(121)...135).map { at($0, Double($0 - 120) * 20, speed: 2000) }
        #expect(run(&sampler, drive).made == moving([125, 130, 135]))
    }

    @Test func slowReceiversLoseNoPointEither() {
        var sampler = Self.sampler(gather: 5)
        let still = stride(from: Int64(0), through: 120, by: 10).map { at($0) }
        #expect(run(&sampler, still).made.last == Made(second: 120, isParked: true))
        let drive = stride(from: Int64(130), through: 170, by: 10).map { at($0, Double($0 - 120) * 20, speed: 2000) }
        // The first sign waits for the third: then all are points.
        #expect(run(&sampler, drive).made == moving([130, 140, 150, 160, 170]))
    }

    @Test func aTenHertzReceiverNeedsTwoSecondsOfSigns() {
        var sampler = Self.sampler()
        _ = run(&sampler, (Int64(0)...120).map { at($0) })
        _ = run(&sampler, (Int64(121)...126).map { at($0) })
        let signs = (Int64(1)...19).map { AgentLogicTests.fix(at: 127_000 + $0 * 100, north: 60, accuracy: 50) }
        #expect(run(&sampler, signs).made.isEmpty)
        #expect(sampler.parkedSince != nil)
        // The twentieth makes a departure, and the first is the point.
        let result = run(&sampler, [AgentLogicTests.fix(at: 129_000, north: 60, accuracy: 50)])
        #expect(result.points.map(\.time.milliseconds) == [epochStart + 127_100])
        #expect(sampler.parkedSince == nil)
    }

    @Test func aDepartureIsSubjectToTheDistanceFilter() {
        var sampler = Self.sampler { $0.distanceFilter = 100 }
        _ = run(&sampler, (Int64(0)...120).map { at($0) })
        let drive = (Int64(121)...140).map { at($0, Double($0 - 120) * 10.5, speed: 1000) }
        // As at full rate: the first due fix 100 m away.
        #expect(run(&sampler, drive).made == moving([130, 140]))
    }

    // MARK: No departure

    @Test func oneReflectionIsNoDeparture() {
        var sampler = Self.sampler()
        _ = run(&sampler, (Int64(0)...120).map { at($0) })
        let stray = (Int64(121)...300).map {
            at($0, $0.isMultiple(of: 7) ? 80 : 0, speed: $0.isMultiple(of: 11) ? 300 : 0)
        }
        let result = run(&sampler, stray)
        #expect(result.made.allSatisfy { $0.isParked })
        #expect(Self.metres(result.points) == 0)
    }

    @Test func anImplausibleJumpIsNoDeparture() {
        var sampler = Self.sampler()
        _ = run(&sampler, (Int64(0)...120).map { at($0) })
        // 500 km away for three seconds.
        let result = run(&sampler, (Int64(126)...240).map { at($0, (Int64(127)...129).contains($0) ? 500_000 : 0) })
        #expect(result.made.allSatisfy { $0.isParked })
        #expect(sampler.counters.implausible > 0)
    }

    /// Correlated wander of 25 m with errors told honestly, and a speed that flickers: nobody drives.
    @Test(arguments: [UInt64(1), 2, 3, 4, 5, 6, 7, 8])
    func wanderBetweenHousesIsNoDepartureAndNoDistance(seed: UInt64) {
        var random = TestGenerator(seed: seed)
        var sampler = Self.sampler()
        var offset = 0.0
        let fixes = (Int64(0)...7200).map { second -> Fix in
            offset = offset * 0.98 + Double.random(in: -2.5...2.5, using: &random)
            let isFlicker = Int.random(in: 0..<50, using: &random) == 0
            let speed = isFlicker ? Int32(180) : Int32.random(in: 0...90, using: &random)
            return at(
                second, min(max(offset, -12), 12), speed: speed, accuracy: Int32.random(in: 150...400, using: &random))
        }
        let settled = run(&sampler, fixes.prefix(1800))
        let result = run(&sampler, fixes.dropFirst(1800))
        #expect(result.made.allSatisfy { $0.isParked }, "seed \(seed)")
        #expect(result.made.count <= 5400 / 30 + 1, "seed \(seed)")
        #expect(Self.metres(result.points) == 0, "seed \(seed)")
        #expect(settled.made.contains { $0.isParked }, "seed \(seed)")
    }

    // MARK: Not parked

    @Test func aCrawlIsNotParking() {
        // 0.5 m/s in a jam, slower than any speed sign; with errors of 30 m and more.
        var sampler = Self.sampler()
        let crawl = (Int64(0)...3600).map { at($0, Double($0) * 0.7, speed: 70, accuracy: 400) }
        #expect(run(&sampler, crawl).made == moving(Array(stride(from: Int64(0), through: 3600, by: 5))))
        // 20 m every two minutes, with the delay that is usual.
        var patient = Self.sampler { $0.parking = ParkingOptions(delay: 300) }
        let jam = (Int64(0)...3600).map { second -> Fix in
            let (moves, rest) = second.quotientAndRemainder(dividingBy: 120)
            return at(second, Double(moves) * 20 + Double(min(rest, 15)) / 15 * 20, speed: rest < 15 ? 130 : 0)
        }
        #expect(run(&patient, jam).made.allSatisfy { !$0.isParked })
    }

    @Test func aFerryAndATowAreNotParking() {
        for metresPerSecond in [0.7, 1.2, 3, 8] {
            var sampler = Self.sampler()
            let way = (Int64(0)...1800).map {
                at($0, Double($0) * metresPerSecond, speed: Int32(metresPerSecond * 100), accuracy: 200)
            }
            #expect(run(&sampler, way).made.count == 361, "\(metresPerSecond) m/s")
        }
        // A ship whose receiver tells no speed.
        var sampler = Self.sampler()
        #expect(
            run(&sampler, (Int64(0)...1800).map { at($0, Double($0) * 1.5, speed: nil, accuracy: nil) }).made.count
                == 361)
    }

    @Test func aTowFromTheParkingPlaceIsSeen() {
        var sampler = Self.sampler()
        _ = run(&sampler, (Int64(0)...600).map { at($0) })
        // 0.8 m/s: below any speed sign; beyond 15 m after 19 s.
        let tow = (Int64(601)...700).map { at($0, Double($0 - 600) * 0.8, speed: 80) }
        let result = run(&sampler, tow)
        #expect(result.made.filter { !$0.isParked }.map(\.second).first == 619)
        // While it counts as parked it is never farther from its anchor than the reach.
        #expect(sampler.parkedSince == nil)
    }

    @Test func aSlowMoverBetweenHousesIsNotParking() {
        var random = TestGenerator(seed: 4)
        var sampler = Self.sampler()
        let way = (Int64(0)...1800).map { second in
            at(second, Double(second) * 1.4 + Double.random(in: -12...12, using: &random), speed: 140, accuracy: 350)
        }
        #expect(run(&sampler, way).made.count == 361)
    }

    // MARK: Gaps, restarts, clocks

    @Test func aGapIsNoStay() {
        var sampler = Self.sampler()
        // A tunnel of ten minutes, out at the place where it went in.
        let fixes = (Int64(0)...30).map { at($0) } + (Int64(631)...680).map { at($0) }
        #expect(run(&sampler, fixes).made.allSatisfy { !$0.isParked })
        #expect(sampler.parkedSince == nil)
    }

    @Test func aParkedVehicleStaysParkedThroughAGap() {
        var sampler = Self.sampler()
        _ = run(&sampler, (Int64(0)...120).map { at($0) })
        // An hour without a fix: a garage. Then the same place: at once a point, and still parked.
        let result = run(&sampler, (Int64(3600)...3660).map { at($0) })
        #expect(result.made.allSatisfy { $0.isParked })
        #expect(result.made.first?.second == 3600)
        // Or another place: what confirmed it is a point.
        let away = run(&sampler, (Int64(4000)...4010).map { at($0, 5000, speed: 1000) })
        #expect(away.made == moving([4000, 4005, 4010]))
    }

    @Test func everythingBeginsAnewWithGatheringOptionsAndAnotherDate() {
        var sampler = Self.sampler()
        _ = run(&sampler, (Int64(0)...120).map { at($0) })
        sampler.restart()
        #expect(sampler.parkedSince == nil)
        #expect(
            run(&sampler, (Int64(121)...180).map { at($0) }).made
                == moving(Array(stride(from: Int64(121), through: 176, by: 5))))
        #expect(run(&sampler, [at(181)]).made == parked([181]))
        sampler.setOptions(LocationOptions(parking: ParkingOptions(delay: 60, interval: 10)))
        #expect(sampler.parkedSince == nil)
    }

    @Test func anIntervalThatChangesWhileParkedKeepsTheVehicleParked() {
        var sampler = Self.sampler()
        _ = run(&sampler, (Int64(0)...120).map { at($0) })
        sampler.setInterval(2)
        #expect(run(&sampler, (Int64(121)...150).map { at($0) }).made == parked([150]))
        let drive = (Int64(151)...156).map { at($0, Double($0 - 150) * 20, speed: 2000) }
        #expect(run(&sampler, drive).made == moving([152, 154, 156]))
    }
}
