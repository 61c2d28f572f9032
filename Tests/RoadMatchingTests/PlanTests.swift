import Geodesy
import ProgramTestKit
import Testing
import TrackAnalysis
import TrackModel
import TrackTestKit

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

@Suite struct RouteRuleTests {
    /// From the begin of the road to `end` metres along it, over a corner that makes the way so long. `told`: what the engine says
    /// of the length.
    private func route(
        _ metres: Double, to end: Double, tunnel: Bool = false, told: Double? = nil
    ) throws -> RouteAnswer {
        let aside = max(0, metres * metres / 4 - end * end / 4).squareRoot()
        return try route(
            [MadeRoad.place(0), MadeRoad.place(end / 2, left: aside), MadeRoad.place(end)], told ?? metres,
            tunnel: tunnel)
    }

    private func route(_ places: [Degrees], _ metres: Double, tunnel: Bool = false) throws -> RouteAnswer {
        let shape = encoded(places)
        let classes = tunnel ? #","classes":["tunnel"]"# : ""
        let text =
            #"{"routes":[{"distance":\#(metres),"geometry":"\#(shape.replacing("\\", with: "\\\\"))","legs":[{"steps":["#
            + #"{"intersections":[{"geometry_index":0\#(classes)}]}]}]}]}"#
        return try RouteAnswer(RoadReply(text))
    }

    @Test func aBridgeIsDirectOrATunnel() throws {
        let bridge = Bridge(position: 1, start: sample(0, 0, along: 0), end: sample(1, 100, along: 1000))
        #expect(bridge.accepts(try route(1490, to: 1000), speedCap: 55))
        #expect(!bridge.accepts(try route(1510, to: 1000), speedCap: 55))
        #expect(bridge.accepts(try route(2500, to: 1000, tunnel: true), speedCap: 55))
        // Nobody drives 1,490 m in 100 s at 14 m/s.
        #expect(!bridge.accepts(try route(1490, to: 1000), speedCap: 14))
        #expect(!bridge.accepts(try route(1490, to: 1000, told: 0), speedCap: 55))
        #expect(!bridge.accepts(try route(1000, to: 1300), speedCap: 55))
    }

    /// What an engine answers is a claim: a way leads from here to there, and is as long as its shape.
    @Test func aWayLeadsWhereItWasAskedFor() throws {
        let (start, end) = (sample(0, 0, along: 0), sample(1, 600, along: 4600))
        func leads(_ route: RouteAnswer) -> Bool { route.leads(from: start, to: end) }
        #expect(leads(try route(4600, to: 4600)))
        #expect(leads(try route(9000, to: 4600)))
        // The ends are roads that are at most 100 m away.
        for (end, isNear) in [(4490.0, false), (4500, true), (4700, true), (4710, false)] {
            #expect(leads(try route(end, to: end)) == isNear, "\(end)")
        }
        #expect(!leads(try route([MadeRoad.place(120), MadeRoad.place(4600)], 4480)))
        // No length at all for 4.6 km, one that the shape does not have, and shapes that are none.
        #expect(!leads(try route(4600, to: 4600, told: 0)))
        #expect(!leads(try route(4600, to: 4600, told: 4480)))
        #expect(leads(try route(4600, to: 4600, told: 4500)))
        #expect(!leads(try route(4600, to: 4600, told: 100_000)))
        #expect(!leads(try route([MadeRoad.place(0)], 4600)))
        #expect(!leads(try route([], 4600)))
        // 111 km away.
        let away = [MadeRoad.place(0, left: 111_000), MadeRoad.place(4600, left: 111_000)]
        #expect(!leads(try route(away, 4600)))
    }

    @Test func onlyHolesWorthABridgeAreAskedFor() throws {
        func bridges(_ metres: Double, _ seconds: Double) throws -> Int {
            let first = (0..<5).map { sample($0, Double($0) * 5, along: 30 + Double($0) * 50) }
            let second = (0..<5).map {
                sample(5 + $0, 20 + seconds + Double($0) * 5, along: 230 + metres + Double($0) * 50)
            }
            let hole = 240..<225 + metres
            return try MadeEngine(hole: hole.lowerBound..<max(hole.lowerBound, hole.upperBound)).track(first + second)
                .bridges.count
        }
        #expect(try bridges(99, 60) == 0)
        #expect(try bridges(102, 60) == 1)
        #expect(try bridges(2500, 299) == 1)
        #expect(try bridges(2500, 300) == 0)
        #expect(try bridges(19_900, 299) == 1)
        #expect(try bridges(20_100, 299) == 0)
    }

    private func interruption(_ metres: Double, _ seconds: Double, radius: Double? = nil) -> Interruption {
        let samples = [sample(0, 0, along: 0), sample(1, seconds, along: metres, radius: radius)]
        return LengthMeter.length(of: samples).interruptions[0]
    }

    @Test func whoWasParkedDidNotDriveRoundTheBlock() {
        func asked(_ metres: Double, _ radius: Double?) -> Bool {
            !SupplementPlan([interruption(metres, 3600, radius: radius)], speedCap: 55).asked.isEmpty
        }
        #expect(!asked(49, nil) && asked(51, nil))
        #expect(!asked(59, 30) && asked(61, 30))
    }

    @Test func routesThatNobodyDroveAreRefused() throws {
        func accepted(_ way: Double, _ metres: Double, _ seconds: Double) throws -> Bool {
            SupplementPlan([interruption(metres, seconds)], speedCap: 50).accepts(
                try route(way, to: metres), at: 0)
        }
        // 1.2 times 50 m/s for 360 s are 21,600 m.
        #expect(try accepted(21_500, 10_000, 360))
        #expect(try !accepted(21_700, 10_000, 360))
        // Ten times the straight line and 2 km.
        #expect(try accepted(2900, 100, 3600))
        #expect(try !accepted(3100, 100, 3600))
        let plan = SupplementPlan([interruption(4600, 600)], speedCap: 50)
        #expect(!plan.accepts(try route(4600, to: 4600, told: 0), at: 0))
    }

    @Test func theLongestInterruptionsAreAskedFor() {
        let all = (1...150).map { interruption(Double($0) * 60, 3600) }
        let plan = SupplementPlan(all, speedCap: 55)
        #expect(plan.asked == Array(50..<150))
        #expect(plan.request(at: 100, .bicycle).path == "/route")
    }
}
