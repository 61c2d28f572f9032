import Foundation
import Geodesy
import ProgramTestKit
import Testing
import TrackModel

@testable import TrackAnalysis

@Suite struct StayTests {
    private let home = Degrees(latitude: 47, longitude: 9)

    private func at(_ seconds: Double, east: Double, north: Double = 0, radius: Double? = nil) -> Fix {
        let place = MadeDrive.moved(home, east: east, north: north)
        return .at(seconds, place.latitude, place.longitude, radius: radius)
    }

    private func stays(_ fixes: [Fix], _ radius: Double = 21, _ seconds: Int64 = 300) -> [StayPoint] {
        StayFinder.stays(.stay(radius: radius, seconds: seconds), in: TrackColumns(fixes: fixes).samples)
    }

    /// Drives east to `metres`, stands there from `begin` to `end`, and drives on; 10 m/s.
    private func visit(_ begin: Int, _ end: Int, spacing: Int = 1) -> [Fix] {
        (0...(end + 100)).filter { $0 % spacing == 0 }.map { second in
            at(Double(second), east: Double(min(second, begin) + max(second - end, 0)) * 10)
        }
    }

    @Test func aStayHasItsTimesAndItsPlace() {
        let found = stays(visit(100, 500))
        #expect(found.count == 1)
        // Four seconds of rolling fit the circle of 21 m: some before the stop, the others after it.
        #expect(found.map { (96...100).contains($0.start.seconds - MadeDrive.firstTime / 1000) } == [true])
        #expect(found.map(\.duration) == [404])
        #expect(
            found.allSatisfy {
                GreatCircle.distance(from: $0.place, to: MadeDrive.moved(home, east: 1000, north: 0)) < 1
            })
        #expect(found.allSatisfy { !$0.isOpenAtStart && !$0.isOpenAtEnd })
    }

    @Test func aLightIsNoStay() {
        // Traccar #3204, #2644.
        #expect(stays(visit(100, 190)).isEmpty)
        #expect(stays(visit(100, 395)).isEmpty)
        #expect(stays(visit(100, 396)).count == 1)
    }

    @Test func theLastStayNeedsNoDeparture() {
        // scikit-mobility #190.
        let fixes = visit(100, 500).filter { $0.time.milliseconds <= MadeDrive.firstTime + 500_000 }
        #expect(stays(fixes).map(\.isOpenAtEnd) == [true])
        #expect(stays(Array(fixes.dropFirst(120))).map { [$0.isOpenAtStart, $0.isOpenAtEnd] } == [[true, true]])
    }

    @Test func silenceAtOnePlaceBelongsToTheStay() {
        let night = visit(100, 36_000).filter { fix in
            let second = (fix.time.milliseconds - MadeDrive.firstTime) / 1000
            return second < 150 || second > 35_990
        }
        let found = stays(night)
        #expect(found.map { (35_900...35_910).contains($0.duration) } == [true])
        #expect(found.first.map { $0.longestSilence == 35_842_000 } == true)
    }

    @Test func silenceWithMovementEndsTheStayAtItsLastPoint() {
        // trackintel #308, skmob #263: neither a phantom stay, nor one that lasts until the first point outside.
        let standing = (0...400).map { at(Double($0), east: 0) }
        let later = (0...100).map { at(Double(4000 + $0), east: 5000 + Double($0) * 10) }
        #expect(stays(standing + later).map(\.duration) == [400])
        #expect(stays(Array(standing.prefix(200)) + later).isEmpty)
    }

    @Test func aColdStartMayBeOffByItsRadius() {
        func found(_ metres: Double, radius: Double?, after silence: Double) -> [Int64] {
            let before = (0...350).map { at(Double($0), east: 0) }
            let start = 350 + silence
            let after = [at(start, east: metres, radius: radius)] + (1...50).map { at(start + Double($0), east: 0) }
            return stays(before + after).map(\.duration)
        }
        #expect(found(45, radius: 48, after: 300) == [700])
        // Without the allowance the fix is a stray: the stay goes on around it.
        #expect(found(45, radius: nil, after: 300) == [700])
        func pair(_ radius: Double?, _ silence: Double) -> [Int64] {
            stays((0...350).map { at(Double($0), east: 0) } + [at(350 + silence, east: 45, radius: radius)]).map(
                \.duration)
        }
        #expect(pair(48, 300) == [650])
        #expect(pair(44, 300) == [350])
        #expect(pair(nil, 300) == [350])
        #expect(pair(48, 299) == [350])
        // No radius counts for more than 50 m.
        let far = (0...350).map { at(Double($0), east: 0) } + [at(650, east: 55, radius: 90)]
        #expect(stays(far).map(\.duration) == [350])
    }

    @Test func aStrayInsideDoesNotSplitAStay() {
        var fixes = visit(100, 900)
        fixes[500] = fixes[500].displaced(by: 200, towards: 45)
        #expect(stays(fixes).count == 1)
        // movingpandas #296: no point is lost between two stays.
        fixes[501] = fixes[501].displaced(by: 200, towards: 45)
        let two = stays(fixes)
        #expect(two.count == 2 && two.map(\.count).reduce(0, +) >= (100...900).count - 2)
    }

    @Test func twoSparsePointsCanBeAStay() {
        #expect(stays([at(0, east: 0), at(300, east: 5)]).map(\.duration) == [300])
        #expect(stays([at(0, east: 0), at(299, east: 5)]).isEmpty)
        #expect(stays([at(0, east: 0), at(300, east: 41.9)]).map(\.duration) == [300])
        #expect(stays([at(0, east: 0), at(300, east: 42.1)]).isEmpty)
    }

    @Test func nineOfTenPointsMayBeMissing() {
        let (full, sparse) = (stays(visit(100, 900)), stays(visit(100, 900, spacing: 10)))
        #expect(full.count == 1 && sparse.count == 1)
        #expect((full[0].duration - sparse[0].duration).magnitude <= 20)
    }

    @Test func creepingIsStayingOnlyWhenItIsSlow() {
        // Half of 2 D / T, and a bit more than it.
        func creep(_ speed: Double) -> [Fix] { (0...1200).map { at(Double($0), east: Double($0) * speed) } }
        #expect(!stays(creep(20.0 / 300)).isEmpty)
        #expect(stays(creep(43.0 / 300)).isEmpty)
    }

    @Test func staysAscendLastAndDoNotOverlap() {
        for seed in Dice.seeds(100) {
            var random = Dice(seed: seed)
            let samples = StepTests.wildTrack(&random).samples
            let found = StayFinder.stays(.stay(radius: 30, seconds: 60), in: samples)
            #expect(found.allSatisfy { $0.end.milliseconds(since: $0.start) >= 60_000 }, "seed \(seed)")
            #expect(zip(found, found.dropFirst()).allSatisfy { $0.end < $1.start }, "seed \(seed)")
        }
    }

    @Test func aLongerTimeFindsTheLongOnesOfTheShorterTime() {
        for seed in Dice.seeds(20) {
            var random = Dice(seed: seed)
            var drive = MadeDrive()
            drive.seconds = 3600
            drive.spacing = [1000, 5000, 30_000].one(&random)
            let samples = TrackColumns(fixes: drive.fixes(using: &random)).samples
            func found(_ seconds: Int64) -> [StayPoint] {
                StayFinder.stays(.stay(radius: 25, seconds: seconds), in: samples)
            }
            let all = found(60)
            for seconds in [61, 90, 200, 600] as [Int64] {
                let long = all.filter { $0.end.milliseconds(since: $0.start) >= seconds * 1000 }
                #expect(found(seconds) == long, "seed \(seed), \(seconds) s")
            }
        }
    }

    @Test func theTimeDoesNotDecideWhatAStayIs() {
        // A point each minute, the seventh one 25 m off.
        let minutes = (0...15).map { at(Double($0) * 60, east: $0 == 6 ? 25 : 0) }
        #expect([300, 600, 900, 901].map { stays(minutes, 20, $0).map(\.duration) } == [[900], [900], [900], []])
        // A circle of 12.5 m, which the mean of the first points does not show.
        let spread = [(0.0, 0.0), (320, 5), (650, -20), (700, -10)].map { at($0.0, east: $0.1) }
        #expect([300, 600, 701].map { stays(spread, 20, $0).map(\.duration) } == [[700], [700], []])
        // The stray is nearer than the circle is wide, and the vehicle drifts to the other side.
        let drifting = (0...15).map { at(Double($0) * 60, east: $0 == 6 ? 31 : -Double($0)) }
        #expect([60, 300, 900].map { stays(drifting, 20, $0).map(\.duration) } == [[900], [900], [900]])
    }

    @Test func aLargerRadiusNeverShortensTheLongestStay() {
        // movingpandas #108.
        for seed in Dice.seeds(20) {
            var random = Dice(seed: seed)
            let samples = TrackColumns(fixes: MadeDrive().fixes(using: &random)).samples
            let longest = [20.0, 40, 80].map { radius in
                StayFinder.stays(.stay(radius: radius, seconds: 20), in: samples).map(\.duration).max() ?? 0
            }
            #expect(longest[1] >= longest[0] - 5 && longest[2] >= longest[1] - 5, "seed \(seed): \(longest)")
        }
    }

    @Test func aNightOfFlickerIsOneStay() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = Dice(seed: seed)
        let fixes = (0..<10_000).map { number in
            at(
                Double(number) * 4, east: Double.random(in: -8...8, using: &random),
                north: Double.random(in: -8...8, using: &random))
        }
        #expect(stays(fixes).count == 1, "seed \(seed)")
    }

    @Test func theAntimeridianIsAPlaceLikeOthers() {
        let fixes = (0...400).map { Fix.at(Double($0), -17, $0 % 2 == 0 ? 179.99995 : -179.99995) }
        let found = stays(fixes)
        #expect(found.map(\.duration) == [400])
        #expect(found.allSatisfy { $0.place.longitude.magnitude > 179.9999 })
    }
}

/// Stays of small tracks beside those that trying every circle finds.
@Suite struct StayOracleTests {
    private static let radius = 20.0
    private static let least: Int64 = 60_000

    private struct Place {
        var x: Double
        var y: Double

        func distance(to other: Place) -> Double {
            ((x - other.x) * (x - other.x) + (y - other.y) * (y - other.y)).squareRoot()
        }
    }

    /// Whether a circle holds the places from one to another, single ones between them aside. A circle that does can be
    /// moved until two of the places that it holds are on its edge, or it holds only one.
    private func isStay(_ places: ArraySlice<Place>) -> Bool {
        var centres = Array(places)
        for (number, one) in places.enumerated() {
            for other in places.dropFirst(number + 1) {
                let distance = one.distance(to: other)
                guard distance > 0, distance <= 2 * Self.radius else { continue }
                let off = (Self.radius * Self.radius - distance * distance / 4).squareRoot() / distance
                let (x, y) = ((one.x + other.x) / 2, (one.y + other.y) / 2)
                for side in [-off, 0, off] {
                    centres.append(Place(x: x - (other.y - one.y) * side, y: y + (other.x - one.x) * side))
                }
            }
        }
        return centres.contains { centre in
            // What the finder allows for rounding.
            let isInside = places.map { $0.distance(to: centre) <= Self.radius + 0.001 }
            return isInside[0] && isInside[isInside.count - 1]
                && zip(isInside, isInside.dropFirst()).allSatisfy { $0 || $1 }
        }
    }

    /// The longest first, then the longest of what is left.
    private func stays(_ places: [Place], _ times: [Int64]) -> [Int64] {
        var runs: [ClosedRange<Int>] = []
        for first in places.indices {
            for last in first..<places.count where times[last] - times[first] >= Self.least {
                if isStay(places[first...last]) { runs.append(first...last) }
            }
        }
        var found: [Int64] = []
        func time(_ run: ClosedRange<Int>) -> Int64 { times[run.upperBound] - times[run.lowerBound] }
        while let longest = runs.max(by: { time($0) < time($1) }) {
            found.append(time(longest))
            runs.removeAll { $0.overlaps(longest) }
        }
        return found
    }

    @Test func theLongestStretchesAreFound() {
        let home = EarthVector(Degrees(latitude: 47, longitude: 9))
        let (east, north) = (home.heading(90), home.heading(0))
        var others = 0
        let seeds = Dice.seeds(400)
        for seed in seeds {
            var random = Dice(seed: seed)
            let drift = Double.random(in: 1...20, using: &random)
            var (place, time) = (Place(x: 0, y: 0), Int64(0))
            let samples = (0..<Int.random(in: 2...14, using: &random)).map { number in
                place.x += Double.random(in: -drift...drift, using: &random)
                place.y += Double.random(in: -drift...drift, using: &random)
                time += Int64.random(in: 20_000...200_000, using: &random)
                let isStray = Int.random(in: 0..<8, using: &random) == 0
                let off = isStray ? Double.random(in: 20...100, using: &random) : 0
                let shown = (home + east * (place.x + off) + north * place.y).degrees
                return TrackSample(
                    index: number, time: time, latitudeE7: Int32((shown.latitude * 1e7).rounded()),
                    longitudeE7: Int32((shown.longitude * 1e7).rounded()))
            }
            let places = samples.map { sample in
                let off = sample.position - home
                return Place(x: off.dot(east), y: off.dot(north))
            }
            let oracle = stays(places, samples.map(\.time)).sorted()
            let rule = StayRule(reach: Self.radius, span: Self.least, coldReach: 0)
            let found = StayFinder.stays(rule, in: samples).map { $0.end.milliseconds(since: $0.start) }.sorted()
            #expect(found.last ?? 0 >= oracle.last ?? 0, "seed \(seed): \(found) \(oracle)")
            if found != oracle { others += 1 }
        }
        // Which of several circles holds a stray may differ: then a shorter stay beside the longest one does too.
        #expect(others * 100 <= seeds.count, "\(others) of \(seeds)")
    }

    @Test func theSmallestCircleIsTheSmallest() {
        for seed in Dice.seeds(500) {
            var random = Dice(seed: seed)
            let points = (0..<Int.random(in: 1...12, using: &random)).map { _ in
                EnclosingCircle.Point(
                    x: Double.random(in: -50...50, using: &random), y: Double.random(in: -50...50, using: &random))
            }
            guard let circle = EnclosingCircle(points) else {
                Issue.record("seed \(seed)")
                continue
            }
            let radius = circle.squaredRadius.squareRoot()
            func largest(_ x: Double, _ y: Double) -> Double {
                points.map { $0.squaredDistance(to: EnclosingCircle.Point(x: x, y: y)) }.max()!.squareRoot()
            }
            #expect(near(largest(circle.center.x, circle.center.y), radius, 1e-6), "seed \(seed)")
            // The largest distance is a convex function of the centre: no step to any side makes it less.
            for turn in 0..<16 {
                let angle = Double(turn) / 8 * .pi
                let step = Place(x: 0.01 * cos(angle), y: 0.01 * sin(angle))
                #expect(largest(circle.center.x + step.x, circle.center.y + step.y) > radius - 1e-6, "seed \(seed)")
            }
        }
        #expect(EnclosingCircle([]) == nil)
    }
}
