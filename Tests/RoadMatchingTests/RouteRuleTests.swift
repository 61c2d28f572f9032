import Geodesy
import Testing
import TrackAnalysis
import TrackModel
import TrackTestKit

@testable import RoadMatching

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
