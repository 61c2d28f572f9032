import Testing
import TrackModel

@testable import AgentLogic

struct SamplerGridTests {
    @Test(arguments: [1000, 200, 100] as [Int64]) func everyFifthSecondBecomesAPointAtAnyRate(_ period: Int64) {
        var sampler = Sampler(interval: 5)
        let points = sampler.pointTimes(stride(from: 0, through: 3_600_000, by: Int64.Stride(period)))
        #expect(points == Array(stride(from: 0, through: 3_600_000, by: 5000)))
    }

    /// A receiver at 10 Hz: a point is known by its second.
    @Test func noTwoPointsOfOneSecondFollowAHole() {
        var sampler = Sampler(interval: 5)
        let fixes = [500, 5500] + (0..<80).map { 30_100 + $0 * 100 } as [Int64]
        let made = sampler.pointTimes(fixes)
        #expect(made == [500, 5500, 30_100, 31_000, 35_500])
        #expect(Set(made.map { $0 / 1000 }).count == made.count)
    }

    @Test func aFixFiftyMillisecondsEarlyIsInTimeAndOneMoreIsNot() {
        var sampler = Sampler(interval: 5)
        #expect(sampler.pointTimes([0, 4949, 4950, 5000, 9949, 10_000]) == [0, 4950, 10_000])
    }

    @Test func jitterDoesNotMoveTheGrid() {
        let seed = TestGenerator.printedSeed()
        var generator = TestGenerator(seed: seed)
        var sampler = Sampler(interval: 5)
        let times = [0] + (1...7200).map { $0 * 1000 + Int64.random(in: -45...45, using: &generator) }
        let points = sampler.pointTimes(times)
        #expect(points.count == 1441, "seed \(seed)")
        for (index, point) in points.enumerated() {
            #expect(abs(point - Int64(index) * 5000) <= 45, "seed \(seed)")
        }
    }

    @Test func afterAGapTheGridGoesOnWithoutABurst() {
        var sampler = Sampler(interval: 5)
        #expect(
            sampler.pointTimes([0, 5000, 23_000, 24_000, 25_000, 26_000, 30_000]) == [0, 5000, 23_000, 25_000, 30_000])
        #expect(sampler.counters.notDue == 2)
    }

    @Test func aMissingEpochIsMadeUpForByTheNextFix() {
        var sampler = Sampler(interval: 5)
        #expect(sampler.pointTimes([0, 1000, 4000, 6000, 9000, 10_000]) == [0, 6000, 10_000])
    }

    @Test func aReceiverSlowerThanTheIntervalGivesEveryFix() {
        var sampler = Sampler(interval: 2)
        #expect(sampler.pointTimes([0, 10_000, 20_000, 30_000]) == [0, 10_000, 20_000, 30_000])
    }

    @Test func timeNeverGoesBack() {
        var sampler = Sampler(interval: 2)
        #expect(sampler.pointTimes([0, 2000, 2000, 1000, -5000, 4000]) == [0, 2000, 4000])
        #expect(sampler.counters.notLater == 3)
    }

    @Test func theSecondThatALeapSecondRepeatsMakesNoSecondPoint() {
        var sampler = Sampler(interval: 5)
        // POSIX time counts 10 twice.
        let points = sampler.pointTimes([0, 5, 9, 10, 10, 11, 14, 15, 20].map { $0 * 1000 })
        #expect(points == [0, 5000, 10_000, 15_000, 20_000])
        #expect(sampler.counters[.notLater] == 1)
    }

    @Test func anIntervalThatChangesCountsFromTheLastDueTime() {
        var sampler = Sampler(interval: 5)
        #expect(sampler.pointTimes([0, 5030, 6000]) == [0, 5030])
        sampler.setInterval(2)
        #expect(sampler.pointTimes([6900, 7000, 8000, 9000]) == [7000, 9000])
        sampler.setInterval(30)
        #expect(sampler.pointTimes([11_000, 38_900, 39_000, 69_000]) == [39_000, 69_000])
        sampler.setInterval(30)
        #expect(sampler.pointTimes([99_000]) == [99_000])
    }

    @Test func anIntervalThatChangesBeforeThePointIsMadeLeavesItDue() {
        var sampler = Sampler(interval: 5, options: LocationOptions(desiredAccuracy: 10))
        #expect(sampler.fix(fix(at: 0, accuracy: 999)) == .skipped(.inaccurate))
        sampler.setInterval(300)
        #expect(sampler.fix(fix(at: 1000)) == .point(fix(at: 1000)))
        #expect(sampler.fix(fix(at: 299_000)) == .notDue)
        #expect(sampler.fix(fix(at: 300_000)) == .point(fix(at: 300_000)))
    }

    @Test func aRestartSetsANewGridAndKeepsTime() {
        var sampler = Sampler(interval: 5)
        #expect(sampler.pointTimes([0, 5000]) == [0, 5000])
        sampler.restart()
        #expect(sampler.pointTimes([5000, 7000, 10_000, 12_000]) == [7000, 12_000])
    }

    @Test func anyFixesGiveAscendingPointsOfDifferentDueTimesAndEveryFixIsCounted() {
        let seed = TestGenerator.printedSeed()
        var generator = TestGenerator(seed: seed)
        for _ in 0..<50 {
            let interval = Int.random(in: 2...20, using: &generator)
            var sampler = Sampler(interval: interval)
            var time: Int64 = 0
            var points: [Int64] = []
            var oracle: [Int64] = []
            for _ in 0..<2000 {
                time += Int64.random(in: -300...2500, using: &generator)
                let isLater = oracle.last.map { time > $0 } ?? true
                // Written anew: the due time that a fix serves, against the one that the last point served.
                func slot(_ time: Int64) -> Int64 {
                    let reached = time + 50 - (oracle.first ?? time)
                    return reached < 0 ? -1 : reached / Int64(interval * 1000)
                }
                // A point that came late for its due time is the only one of its second.
                func hasSecond(_ last: Int64) -> Bool {
                    let due = (oracle.first ?? last) + slot(last) * Int64(interval * 1000)
                    return last - due > 50 && (epochStart + last) / 1000 == (epochStart + time) / 1000
                }
                if isLater, oracle.last.map({ slot(time) > slot($0) && !hasSecond($0) }) ?? true { oracle.append(time) }
                points += sampler.pointTimes([time])
            }
            #expect(points == oracle, "seed \(seed)")
            let counters = sampler.counters
            let skipped = Sampler.SkipReason.allCases.reduce(UInt64(0)) { $0 + counters[$1] }
            #expect(counters.fixes == counters.points + counters.notDue + skipped, "seed \(seed)")
        }
    }

    @Test func extremeTimesAndIntervalsDoNotTrap() {
        var sampler = Sampler(interval: .max)
        for milliseconds in [Int64.min, .max, 0, .max, .min, -1, 1] {
            var strange = fix(at: 0)
            strange.time = Timestamp(milliseconds: milliseconds)
            _ = sampler.fix(strange)
            sampler.setInterval(.min)
        }
        #expect(sampler.counters.fixes == 7)
    }
}
