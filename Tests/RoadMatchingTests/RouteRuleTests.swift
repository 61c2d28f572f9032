import Geodesy
import Testing
import TrackAnalysis
import TrackModel
import TrackTestKit

@testable import RoadMatching

@Suite struct RouteRuleTests {
    private func route(_ metres: Double, tunnel: Bool = false) throws -> RouteAnswer {
        let shape = encoded([MadeRoad.place(0), MadeRoad.place(metres)])
        let classes = tunnel ? #","classes":["tunnel"]"# : ""
        let text =
            #"{"routes":[{"distance":\#(metres),"geometry":"\#(shape.replacing("\\", with: "\\\\"))","legs":[{"steps":["#
            + #"{"intersections":[{"geometry_index":0\#(classes)}]}]}]}]}"#
        return try RouteAnswer(RoadReply(text))
    }

    @Test func aBridgeIsDirectOrATunnel() throws {
        let bridge = Bridge(position: 1, start: sample(0, 0, along: 0), end: sample(1, 100, along: 1000))
        #expect(bridge.accepts(try route(1490), speedCap: 55))
        #expect(!bridge.accepts(try route(1510), speedCap: 55))
        #expect(bridge.accepts(try route(2500, tunnel: true), speedCap: 55))
        // Nobody drives 1,490 m in 100 s at 14 m/s.
        #expect(!bridge.accepts(try route(1490), speedCap: 14))
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
        func accepted(_ route: RouteAnswer, _ metres: Double, _ seconds: Double) -> Bool {
            SupplementPlan([interruption(metres, seconds)], speedCap: 50).accepts(route, at: 0)
        }
        // 1.2 times 50 m/s for 360 s are 21,600 m.
        #expect(accepted(try route(21_500), 10_000, 360))
        #expect(!accepted(try route(21_700), 10_000, 360))
        // Ten times the straight line and 2 km.
        #expect(accepted(try route(2900), 100, 3600))
        #expect(!accepted(try route(3100), 100, 3600))
    }

    @Test func theLongestInterruptionsAreAskedFor() {
        let all = (1...150).map { interruption(Double($0) * 60, 3600) }
        let plan = SupplementPlan(all, speedCap: 55)
        #expect(plan.asked == Array(50..<150))
        #expect(plan.request(at: 100, .bicycle).path == "/route")
    }
}
