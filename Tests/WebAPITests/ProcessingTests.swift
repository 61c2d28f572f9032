import JSON
import Testing
import TrackAnalysis
import TrackModel
import TrackStore
import TrackTestKit

@testable import WebAPI

/// Tracks as `is_processed=1` and `getlatestpoint` show them.
@Suite struct ProcessingTests {
    private static let start: Int64 = 1_772_670_000

    /// 10 m/s eastwards, a point a second; the one at 30 s is 5 km off; from 60 s on the vehicle stands for ten minutes
    /// while its receiver wanders by some metres.
    private func drive() throws -> [TrackPoint] {
        try (0..<660).map { second in
            let metres = Double(min(second, 60)) * 10
            let drift = second > 60 ? Double(second % 5) : 0
            let north = second == 30 ? 5000 : drift
            return try point(
                Self.start + Int64(second), north / 111_195, metres / 111_195, speed: second > 60 ? 20 : 1000)
        }
    }

    private func bench(_ points: [TrackPoint]? = nil) async throws -> Bench {
        let bench = try await Bench()
        try await bench.upload("van", try points ?? drive())
        return bench
    }

    private func range(_ query: String = "") -> String {
        "entity_name=van&start_time=\(Self.start)&end_time=\(Self.start + 3600)&page_size=5000&\(query)"
    }

    private func metres(_ answer: JSONValue) -> Double { answer["distance"]?.doubleValue ?? -1 }

    @Test func aProcessedTrackHasNoStraysAndNoDrift() async throws {
        let bench = try await bench()
        let raw = try await bench.get("track/gettrack", range())
        #expect(raw["total"] == .integer(660))
        #expect(metres(raw) > 10_000)
        let processed = try await bench.get("track/gettrack", range("is_processed=1&explain=1"))
        #expect(abs(metres(processed) - 600) < 5)
        #expect(processed["dropped"]?["excursion"] == .integer(1))
        let stopped = try #require(processed["dropped"]?["stop"]?.integerValue)
        #expect(processed["total"] == .integer(660 - 1 - stopped))
        #expect(stopped > 580)
        #expect(raw["dropped"] == nil)
        #expect(try await bench.get("track/gettrack", range("is_processed=1"))["dropped"] == nil)
    }

    @Test func distanceAndTrackAgreeWhateverIsShown() async throws {
        let bench = try await bench()
        let distance = metres(try await bench.get("track/getdistance", range("is_processed=1")))
        for query in [
            "", "sort_type=desc", "page_size=7&page_index=2", "coord_type_output=wgs84",
            "process_option=vacuate_grade=5",
        ] {
            #expect(metres(try await bench.get("track/gettrack", range("is_processed=1&\(query)"))) == distance)
        }
    }

    @Test func thinningLeavesEndsAndSaysWhatIsGone() async throws {
        let bench = try await bench()
        let query = "is_processed=1&explain=points&process_option=vacuate_grade=3"
        let answer = try await bench.get("track/gettrack", range(query))
        let points = answer["points"]?.items ?? []
        #expect(answer["total"] == .integer(Int64(points.count)))
        #expect(points.count < 20)
        #expect(points.first?["loc_time"] == .integer(Self.start))
        #expect(points.last?["loc_time"] == .integer(Self.start + 659))
        let dropped = answer["dropped_points"]?.items ?? []
        #expect(dropped.count + points.count == 660)
        #expect(Set(dropped.compactMap { $0["_reason"]?.stringValue }) == ["excursion", "stop", "thinned"])
        let stray = dropped.first { $0["_reason"] == .string("excursion") }
        #expect(stray?["loc_time"] == .integer(Self.start + 30))
        // Another page repeats nothing of it.
        #expect(try await bench.get("track/gettrack", range("\(query)&page_index=2"))["dropped"] == nil)
    }

    @Test func aStopStandsStill() async throws {
        let bench = try await bench()
        let points = try await bench.get("track/gettrack", range("is_processed=1"))["points"]?.items ?? []
        let stop = points.filter { $0["transport_mode"] == .string("停留") }
        #expect(stop.count > 2)
        #expect(Set(stop.compactMap { $0["latitude"]?.doubleValue }).count == 1)
        #expect(stop.allSatisfy { $0["speed"] == .integer(0) })
        #expect(points.first?["transport_mode"] == .string("驾车"))
        #expect(points.allSatisfy { $0["locate_mode"] == .string("未知") })
        // A client that says how its entity travels is not told.
        let driven = try await bench.get(
            "track/gettrack", range("is_processed=1&process_option=transport_mode=driving"))
        #expect(driven["points"]?.items.allSatisfy { $0["transport_mode"] == nil } == true)
        let raw = try await bench.get("track/gettrack", range())["points"]?.items ?? []
        #expect(raw.allSatisfy { $0["transport_mode"] == nil && $0["locate_mode"] == nil })
    }

    /// A client reads the direction of each point without asking, because it uploads one with each point.
    @Test func aPointOfAStopKeepsTheDirectionThatWasUploaded() async throws {
        let points = try drive().map { point in
            var point = point
            point.fix.course = 900
            return point
        }
        let bench = try await bench(points)
        let shown = try await bench.get("track/gettrack", range("is_processed=1"))["points"]?.items ?? []
        #expect(shown.contains { $0["transport_mode"] == "停留" })
        #expect(shown.allSatisfy { $0["direction"] == 90 }, "\(shown)")
    }

    /// Roads are off here, so a call that asks for ways across interruptions shows the same points. But it has to know the
    /// whole cleaned track before it shows a sample.
    @Test(arguments: ["denoise_grade=0", "vacuate_grade=1", "denoise_grade=5,vacuate_grade=5", "transport_mode=riding"])
    func aTrackIsTheSameInOnePassAndAsAWhole(option: String) async throws {
        let seed = UInt64.random(in: .min ... .max)
        print("one pass seed \(seed)")
        var random = SplitMix(state: seed)
        var (north, east) = (0.0, 0.0)
        // Longer than two blocks, with stops, strays and radii.
        let points = try (0..<2500).map { second in
            let stands = second / 300 % 2 == 1
            north += stands ? 0 : .random(in: 0...20, using: &random)
            east += stands ? 0 : .random(in: -5...20, using: &random)
            let stray = Int.random(in: 0..<50, using: &random) == 0 ? 4000.0 : 0
            var point = try point(Self.start + Int64(second), (north + stray) / 111_195, east / 111_195, speed: 1000)
            point.fix.accuracy = .random(in: 10...600, using: &random)
            return point
        }
        let bench = try await bench(points)
        let query = "is_processed=1&explain=points&process_option=\(option)&coord_type_output=wgs84&supplement_mode="
        let pass = try await bench.get("track/gettrack", range(query + "straight"))
        let whole = try await bench.get(
            "track/gettrack", range(query + "driving&supplement_content=distance_and_points"))
        #expect(whole["roads"] != nil && pass["roads"] == nil)
        for name in ["total", "points", "distance", "distances", "dropped", "dropped_points"] {
            #expect(pass[name] == whole[name], "\(name), seed \(seed)")
        }
    }

    @Test func aShownPointTakesLittleMemory() throws {
        let stored = StoredPoints(try drive().map { StoredPoint($0, received: .at(0)) })
        var shown = ShownPoints(of: stored, isProcessed: true)
        let samples = TrackCleaner.clean(TrackColumns(stored.points), CleaningOptions()).samples
        for sample in samples { shown.append(sample, travel: .driving, road: nil) }
        #expect(shown.count == 660 && shown.bytes == stored.bytes + 20 * 660)
    }

    @Test func withoutDenoisingEveryPointIsThere() async throws {
        let bench = try await bench()
        for option in ["denoise_grade=0", "need_denoise=0"] {
            let answer = try await bench.get("track/gettrack", range("is_processed=1&process_option=\(option)"))
            #expect(answer["total"] == .integer(660))
        }
    }

    @Test func aStepIsTooFastForAWalk() async throws {
        // 1 m/s, and one point 24 m off: a car may have been there.
        let bench = try await bench(
            try (0..<20).map {
                try point(Self.start + Int64($0), $0 == 10 ? 24 / 111_195 : 0, Double($0) / 111_195, accuracy: 30)
            })
        func strays(_ mode: String) async throws -> JSONValue? {
            let option = "is_processed=1&explain=1&process_option=transport_mode=\(mode)"
            return try await bench.get("track/gettrack", range(option))["dropped"]?["excursion"]
        }
        #expect(try await strays("driving") == nil)
        #expect(try await strays("riding") == .integer(1))
        #expect(try await strays("walking") == .integer(1))
    }

    @Test func roadsAreSaidToBeOffWhenTheyWereAskedFor() async throws {
        let bench = try await bench()
        for path in ["track/gettrack", "track/getdistance", "analysis/staypoint", "analysis/drivingbehavior"] {
            let asked = range("is_processed=1&process_option=need_mapmatch=1")
            #expect(try await bench.get(path, asked)["roads"]?["state"] == .string("off"))
            #expect(try await bench.get(path, range("is_processed=1"))["roads"] == nil)
        }
    }

    @Test(arguments: ["explain=2", "explain=yes", "supplement_content=points"])
    func whatCannotBeReadIsRefused(query: String) async throws {
        #expect(try await bench().get("track/gettrack", range(query)).status == 2)
    }

    /// Clients send both generations of the options at once. The order of the keys says nothing.
    @Test(arguments: [
        ("denoise_grade=5,need_denoise=1", 5), ("need_denoise=1,denoise_grade=5", 5),
        ("denoise_grade=0,need_denoise=1", 1),
        ("denoise_grade=3,need_denoise=0", 3), ("need_denoise=0", 0), ("denoise_grade=0", 0), ("", 1),
        ("denoise_grade=2,denoise_grade=4", 4), ("denoise_grade=4,denoise_grade=x", 4), ("denoise_grade=9", 1),
    ])
    func theStricterDenoisingOfBothGenerationsCounts(_ text: String, _ grade: Int) {
        #expect(ProcessOption(parsing: text).denoiseGrade == grade)
    }

    @Test(arguments: [
        ("vacuate_grade=5,need_vacuate=1", 5), ("need_vacuate=1,vacuate_grade=1", 2),
        ("vacuate_grade=0,need_vacuate=1", 2),
        ("need_vacuate=0,vacuate_grade=3", 3), ("need_vacuate=0", 0), ("", 0),
    ])
    func theStrongerThinningOfBothGenerationsCounts(_ text: String, _ grade: Int) {
        #expect(ProcessOption(parsing: text).thinning.rawValue == grade)
    }
}
