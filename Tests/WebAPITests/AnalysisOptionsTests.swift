import JSON
import Testing
import TrackAnalysis
import TrackModel

@testable import WebAPI

/// What `[analysis]` of the server's configuration changes in answers.
@Suite struct AnalysisOptionsTests {
    private static let start: Int64 = 1_772_670_000

    private func bench(_ points: [TrackPoint], _ analysis: AnalysisOptions = AnalysisOptions()) async throws -> Bench {
        let bench = try await Bench(WebAPIOptions(analysis: analysis))
        try await bench.upload("van", points)
        return bench
    }

    private func range(_ query: String = "") -> String {
        "entity_name=van&start_time=\(Self.start)&end_time=\(Self.start + 3600)&page_size=5000&\(query)"
    }

    /// Metres a second northwards, a point every two seconds; two stops of two minutes between three stretches.
    private func journey(_ speeds: [Double]) throws -> [TrackPoint] {
        var (points, second, metres): ([TrackPoint], Int64, Double) = ([], 0, 0)
        for (stretch, speed) in speeds.enumerated() {
            if stretch > 0 {
                for _ in 0..<60 {
                    points.append(try point(Self.start + second, metres / 111_195, 0, speed: 0))
                    second += 2
                }
            }
            for _ in 0..<60 {
                points.append(try point(Self.start + second, metres / 111_195, 0, speed: Int32(speed * 100)))
                (second, metres) = (second + 2, metres + 2 * speed)
            }
        }
        return points
    }

    private func modes(_ bench: Bench, _ option: String = "") async throws -> [String] {
        let answer = try await bench.get("track/gettrack", range("is_processed=1&process_option=\(option)"))
        var modes: [String] = []
        for mode in (answer["points"]?.items ?? []).compactMap({ $0["transport_mode"]?.stringValue })
        where mode != modes.last { modes.append(mode) }
        return modes
    }

    @Test func walksAndRidesAreToldWhenTheClientOrTheOperatorWantsIt() async throws {
        let journey = try journey([1.4, 5, 15])
        let told = ["步行", "停留", "骑行", "停留", "驾车"]
        let usual = try await bench(journey)
        #expect(try await modes(usual) == ["驾车", "停留", "驾车", "停留", "驾车"])
        #expect(try await modes(usual, "transport_mode=auto") == ["驾车", "停留", "驾车", "停留", "驾车"])
        #expect(try await modes(usual, "transport_mode=detect") == told)
        let detecting = try await bench(journey, AnalysisOptions(detectsTravel: true))
        #expect(try await modes(detecting) == told)
        #expect(try await modes(detecting, "transport_mode=auto") == told)
        // Who says how the entity travels is not told.
        for mode in ["driving", "riding", "walking"] {
            #expect(try await modes(detecting, "transport_mode=\(mode)") == [])
        }
    }

    @Test func theLatestPointWalksToo() async throws {
        let walk = try await bench(try journey([1.4]))
        func mode(_ bench: Bench, _ option: String) async throws -> String? {
            try await bench.get("track/getlatestpoint", "entity_name=van&process_option=\(option)")["latest_point"]?[
                "transport_mode"]?.stringValue
        }
        #expect(try await mode(walk, "") == "驾车")
        #expect(try await mode(walk, "transport_mode=detect") == "步行")
        #expect(try await mode(walk, "transport_mode=detect,need_denoise=0") == "步行")
        #expect(try await mode(walk, "transport_mode=walking") == nil)
    }

    /// 250 m/s, which is 900 km/h: a point every ten seconds.
    private func flight() throws -> [TrackPoint] {
        try (0..<60).map { try point(Self.start + Int64($0) * 10, 0, Double($0) * 2500 / 111_195) }
    }

    @Test func aFleetMayFly() async throws {
        // Below the cap it is a movement, and above it too: every step says the same.
        for cap in [200.0, 899, 901, 1200] {
            let bench = try await bench(try flight(), AnalysisOptions(speedCap: cap))
            let answer = try await bench.get("track/gettrack", range("is_processed=1&explain=1"))
            #expect(answer["dropped"]?["excursion"] == nil && answer["total"] == .integer(60), "\(cap)")
            let trips = try await bench.get("analysis/trips", range())
            #expect(trips["trips"]?.items.first?["distance"]?.doubleValue ?? 0 > 147_000, "\(cap)")
        }
        // Two far places in turn are no flight.
        let swings = try (0..<60).map { try point(Self.start + $0 * 10, 0, Double($0 % 2) * 2500 / 111_195) }
        for (cap, kept) in [(899.0, Int64(30)), (904, 60)] {
            let bench = try await bench(swings, AnalysisOptions(speedCap: cap))
            let answer = try await bench.get("track/gettrack", range("is_processed=1&explain=1&process_option="))
            let dropped = answer["dropped"]?["excursion"]?.integerValue ?? 0
            #expect(60 - dropped == kept, "\(cap)")
        }
        // Who says how the entity travels knows it better.
        let bench = try await bench(try flight(), AnalysisOptions(speedCap: 1200))
        let riding = try await bench.get(
            "track/gettrack", range("is_processed=1&explain=1&process_option=transport_mode=riding"))
        #expect(riding["dropped"]?["excursion"] != nil)
    }

    @Test func aGapWithoutARouteIsAsLongAsTheOperatorReckons() async throws {
        // A degree of latitude at the equator has 110,574.39 m.
        let gap = try [0, 1, 600, 601].map {
            try point(Self.start + $0, Double($0) * 20 / 110_574.39, 0, speed: 2000)
        }
        for (factor, metres) in [(1.0, 12_020.0), (1.3, 40 + 599 * 20 * 1.3)] {
            let bench = try await bench(gap, AnalysisOptions(supplementFactor: factor))
            for processed in ["", "&is_processed=1"] {
                func distance(_ mode: String) async throws -> Double {
                    try await bench.get("track/getdistance", range("supplement_mode=\(mode)\(processed)"))["distance"]?
                        .doubleValue ?? -1
                }
                #expect(abs(try await distance("driving") - metres) < 1, "\(factor)")
                #expect(abs(try await distance("straight") - 12_020) < 1)
                #expect(abs(try await distance("no_supplement") - 40) < 1)
            }
        }
    }
}
