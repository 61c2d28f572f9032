import Foundation
import Geodesy
import ProgramTestKit
import Testing
import TrackModel

@testable import TrackAnalysis

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
