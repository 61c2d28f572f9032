import Geodesy
import ProgramTestKit
import Testing
import TrackAnalysis

@testable import RoadMatching

@Suite struct PlanTests {
    @Test func aTrackIsSplitWhereNoPathCanBeFound() {
        func parts(_ second: Double, _ along: Double) -> Int {
            let start = (0..<3).map { sample($0, Double($0) * 10, along: Double($0) * 100) }
            let end = (0..<3).map { sample(3 + $0, second + Double($0) * 10, along: along + Double($0) * 100) }
            return TracePlan(start + end).parts.count
        }
        #expect(parts(30, 300) == 1)
        #expect(parts(319.9, 300) == 1 && parts(320, 300) == 2)
        #expect(parts(100, 2099) == 1 && parts(100, 2101) == 2)
        let east = TrackSample(index: 0, time: 0, latitudeE7: 0, longitudeE7: 1_799_999_000)
        let west = TrackSample(index: 1, time: 5000, latitudeE7: 0, longitudeE7: -1_799_999_000)
        #expect(TracePlan([east, west]).parts.count == 2)
        #expect(TracePlan([]).parts.isEmpty && TracePlan([]).chunks.isEmpty)
    }

    @Test func whatStandsIsNotSent() {
        let standing = (0..<50).map { sample($0, Double($0), along: Double($0 % 2) * 19) }
        #expect(TracePlan(standing).chunks.isEmpty)
        #expect(TracePlan([sample(0, 0, along: 0)]).chunks.isEmpty)
        #expect(TracePlan([sample(0, 0, along: 0), sample(1, 5, along: 21)]).chunks.count == 1)
    }

    @Test func sentPointsAreApartByTheRadius() {
        func gap(_ radius: Double?) -> Int {
            let samples = (0..<1000).map { sample($0, Double($0), along: Double($0) * 11, radius: radius) }
            let sent = TracePlan(samples).parts[0].sent
            #expect(sent.first == 0 && sent.last == 999)
            return sent[1] - sent[0]
        }
        #expect(gap(nil) == 3 && gap(5) == 3 && gap(20) == 5 && gap(40) == 10 && gap(500) == 11)
    }

    @Test func chunksOwnEachPointOnce() {
        for seed in Dice.seeds(60) {
            var random = Dice(seed: seed)
            let step = Double.random(in: 31...1800, using: &random)
            let samples = (0..<Int.random(in: 2...4000, using: &random)).map {
                sample($0, Double($0) * 60, along: Double($0) * step)
            }
            let plan = TracePlan(samples)
            #expect(plan.chunks.flatMap { Array($0.owned) } == Array(plan.parts[0].sent.indices), "seed \(seed)")
            for chunk in plan.chunks {
                #expect(chunk.range.count <= 1000 && chunk.range.count > 1, "seed \(seed)")
                // The made road bends: a metre along it is not everywhere one on the ground.
                let sent = plan.samples(of: chunk)
                let metres = zip(sent, sent.dropFirst()).reduce(0) { sum, pair in
                    sum + SurfaceDistance.between(pair.0.place, pair.1.place)
                }
                #expect(metres <= 100_001, "seed \(seed): \(metres) m")
                #expect(
                    chunk.range.contains(chunk.owned.lowerBound) && chunk.owned.upperBound <= chunk.range.upperBound)
            }
            for (one, other) in zip(plan.chunks, plan.chunks.dropFirst()) {
                #expect(one.range.upperBound - other.range.lowerBound == 40, "seed \(seed)")
                #expect(one.owned.upperBound == other.owned.lowerBound, "seed \(seed)")
            }
        }
    }

    @Test func theLatestPointIsMatchedWithTheTwoMinutesBeforeIt() {
        let track = (0..<100).map { sample($0, Double($0) * 3, along: Double($0) * 40) }
        #expect(LatestStretch.samples(of: track).map(\.index) == Array(70..<100))
        let sparse = (0..<100).map { sample($0, Double($0) * 30, along: Double($0) * 40) }
        #expect(LatestStretch.samples(of: sparse).map(\.index) == [95, 96, 97, 98, 99])
        #expect(LatestStretch.samples(of: []).isEmpty)
        let parked = TrackSample(index: 0, time: 0, latitudeE7: 0, longitudeE7: 0, isParked: true)
        #expect(LatestStretch.samples(of: [parked]).isEmpty)
    }
}
