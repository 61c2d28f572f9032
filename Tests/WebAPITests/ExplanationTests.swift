import JSON
import Testing
import TrackModel

@testable import WebAPI

/// `explain` in every call that leaves points out.
@Suite struct ExplanationTests {
    private static let start: Int64 = 1_772_670_000

    /// 10 m/s eastwards, a point a second; the one at 30 s is 5 km off, the one at 40 s has a radius of 900 m; 330 s of
    /// silence after 60 s, in which the vehicle drives on.
    private func bench() async throws -> Bench {
        let bench = try await Bench()
        let seconds: [Int64] = Array(0..<60) + Array(390..<450)
        let points = try seconds.map { second -> TrackPoint in
            let north = second == 30 ? 5000.0 / 111_195 : 0
            let east = Double(second) * 10 / 111_195
            return try point(Self.start + second, north, east, speed: 1000, accuracy: second == 40 ? 9000 : 50)
        }
        try await bench.upload("van", points)
        return bench
    }

    private func range(_ query: String) -> String {
        "entity_name=van&start_time=\(Self.start)&end_time=\(Self.start + 3600)&coord_type_output=wgs84&\(query)"
    }

    @Test(arguments: [
        ("track/gettrack", "is_processed=1&page_size=1&process_option=denoise_grade=2"),
        ("track/getdistance", "is_processed=1&process_option=denoise_grade=2"),
    ])
    func aTrackSaysWhatIsMissingAndWhy(path: String, query: String) async throws {
        let answer = try await bench().get(path, range("\(query)&explain=points"))
        #expect(answer["dropped"] == .object(["radius": .integer(1), "excursion": .integer(1)]))
        let dropped = try #require(answer["dropped_points"]?.items)
        #expect(dropped.map { $0["loc_time"]?.integerValue } == [Self.start + 30, Self.start + 40])
        #expect(dropped.map { $0["_reason"]?.stringValue } == ["excursion", "radius"])
        #expect(dropped.first?["latitude"]?.doubleValue == 0.0449661)
        let counts = try await bench().get(path, range("\(query)&explain=1"))
        #expect(counts["dropped"] == answer["dropped"])
        #expect(counts["dropped_points"] == nil)
        #expect(try await bench().get(path, range(query))["dropped"] == nil)
    }

    @Test(arguments: ["analysis/staypoint", "analysis/drivingbehavior", "analysis/trips"])
    func anAnalysisSaysItToo(path: String) async throws {
        let bench = try await bench()
        let answer = try await bench.get(path, range("explain=points"))
        #expect(answer.status == 0)
        #expect(answer["dropped"]?["excursion"] == .integer(1))
        // Only the means of travel counts in an analysis, so the radius does not.
        #expect(answer["dropped"]?["radius"] == nil)
        #expect(answer["dropped_points"]?.items.map { $0["loc_time"]?.integerValue } == [Self.start + 30])
        #expect(try await bench.get(path, range("explain=1"))["dropped_points"] == nil)
        #expect(try await bench.get(path, range(""))["dropped"] == nil)
        #expect(try await bench.get(path, range("explain=2")).status == 2)
    }

    @Test func theLatestPointSaysWhyALaterOneIsNotShown() async throws {
        let bench = try await Bench()
        let now = Bench.now.seconds
        let points = try (0..<10).map { (second: Int64) -> TrackPoint in
            try point(now - 10 + second, second == 9 ? 53 : 52, 4, accuracy: second == 8 ? 9000 : 50)
        }
        try await bench.upload("van", points)
        func latest(_ query: String) async throws -> JSONValue {
            try await bench.get(
                "track/getlatestpoint",
                "entity_name=van&process_option=denoise_grade=2&coord_type_output=wgs84&\(query)")
        }
        let answer = try await latest("explain=points")
        #expect(answer["latest_point"]?["loc_time"] == .integer(now - 3))
        #expect(answer["dropped"] == .object(["radius": .integer(1), "excursion": .integer(1)]))
        #expect(answer["dropped_points"]?.items.map { $0["loc_time"]?.integerValue } == [now - 2, now - 1])
        #expect(try await latest("")["dropped"] == nil)
        #expect(try await latest("explain=x").status == 2)
    }

    // MARK: Distances

    private func distances(_ answer: JSONValue) -> [String: Double] {
        var distances: [String: Double] = [:]
        for (name, value) in answer["distances"]?.objectValue ?? [:] { distances[name] = value.doubleValue }
        return distances
    }

    @Test(arguments: ["track/gettrack", "track/getdistance"])
    func theDistancesOfOneTrackStandSideBySide(path: String) async throws {
        let bench = try await bench()
        let raw = try await bench.get(path, range("explain=1"))
        #expect(distances(raw).keys.sorted() == ["raw", "supplement", "supplement_share"])
        #expect(distances(raw)["raw"] == raw["distance"]?.doubleValue)
        #expect(distances(raw)["supplement"] == 0)
        let clean = try await bench.get(path, range("is_processed=1&explain=1&supplement_mode=straight"))
        let parts = distances(clean)
        #expect(parts.keys.sorted() == ["cleaned", "raw", "supplement", "supplement_share"])
        #expect(parts["raw"] == distances(raw)["raw"])
        #expect(abs((parts["raw"] ?? 0) - 11_105.5) < 2)
        #expect(abs((parts["cleaned"] ?? 0) - 1181.3) < 1)
        #expect(abs((parts["supplement"] ?? 0) - 3313.7) < 1)
        let total = try #require(clean["distance"]?.doubleValue)
        #expect(abs((parts["cleaned"] ?? 0) + (parts["supplement"] ?? 0) - total) < 0.001)
        #expect(abs((parts["supplement_share"] ?? 0) - (parts["supplement"] ?? 0) / total) < 0.0001)
        #expect(try await bench.get(path, range("is_processed=1"))["distances"] == nil)
    }

    @Test func aTrackWithoutPointsHasNoLengthOfAnyKind() async throws {
        let query = "entity_name=van&start_time=1&end_time=2&is_processed=1&explain=1"
        let answer = try await bench().get("track/getdistance", query)
        #expect(distances(answer) == ["raw": 0, "cleaned": 0, "supplement": 0, "supplement_share": 0])
    }
}
