import JSON
import Testing
import TrackModel
import TrackStore

@testable import WebAPI

/// `track/getlatestpoint` of entities with many points.
@Suite struct LatestPointTests {
    private static let start: Int64 = 1_772_670_000

    private func shown(_ points: [TrackPoint], _ option: String = "") async throws -> JSONValue {
        let bench = try await Bench()
        try await bench.upload("van", points)
        let answer = try await bench.get("track/getlatestpoint", "entity_name=van&process_option=\(option)")
        return try #require(answer["latest_point"])
    }

    private func latest(_ points: [TrackPoint], _ option: String = "") async throws -> Int64? {
        try await shown(points, option)["loc_time"]?.integerValue.map { $0 - Self.start }
    }

    /// Seconds from the start; the last one is 5 km off.
    private func jumping(at times: [Int64]) throws -> [TrackPoint] {
        try times.map { try point(Self.start + $0, $0 == times.last ? 0.05 : 0, Double($0) * 10 / 111_195) }
    }

    @Test func aJumpAtTheEndIsShownOnceItIsAMinuteOld() async throws {
        // The clock stands 7,900 s after the start.
        #expect(try await latest(jumping(at: [7880, 7881, 7882, 7883])) == 7882)
        #expect(try await latest(jumping(at: [7880, 7881, 7882, 7883]), "denoise_grade=0") == 7883)
        #expect(try await latest(jumping(at: [7830, 7831, 7832, 7833])) == 7833)
    }

    @Test func aPointWithoutAnAccurateOneIsSoughtInTheLastDay() async throws {
        let points = try [0, 7000, 7001].map { second in
            try point(Self.start + second, 0, 0, accuracy: second == 0 ? 50 : 5000)
        }
        #expect(try await latest(points) == 7001)
        #expect(try await latest(points, "radius_threshold=20") == 0)
        #expect(try await latest(Array(points.dropFirst()), "radius_threshold=20") == 7001)
    }

    /// The last 200 points are judged, whatever their age; before them nothing is sought.
    @Test func whereTheLastDayHasNoAccuratePointTheLast200PointsAreSought() async throws {
        let day: Int64 = 86_400
        func points(_ bad: Int64) throws -> [TrackPoint] {
            try [point(Self.start - 400 * day, 0, 0, accuracy: 50)]
                + (0..<bad).map { try point(Self.start - $0 * 600, 0, 0, accuracy: 5000) }.reversed()
        }
        #expect(try await latest(points(3), "radius_threshold=20") == -400 * day)
        #expect(try await latest(points(199), "radius_threshold=20") == -400 * day)
        #expect(try await latest(points(200), "radius_threshold=20") == 0)
        #expect(try await latest(points(199)) == 0)
    }

    @Test func howItIsFoundAndHowTheVehicleTravelsIsTold() async throws {
        let driving = try (0..<60).map { (second: Int64) -> TrackPoint in
            try point(Self.start + second, 0, Double(second) * 10 / 111_195, speed: 1000)
        }
        let standing = try (60..<240).map { (second: Int64) -> TrackPoint in
            try point(Self.start + second, Double(second % 5) / 111_195, 600 / 111_195, speed: 20, accuracy: 50)
        }
        var shown = try await shown(driving)
        #expect(shown["locate_mode"] == .string("未知"))
        #expect(shown["transport_mode"] == .string("驾车"))
        shown = try await self.shown(driving + standing)
        #expect(shown["locate_mode"] == .string("GPS/北斗定位"))
        #expect(shown["transport_mode"] == .string("停留"))
        // The point itself is where it was uploaded, with its speed.
        #expect(shown["speed"]?.doubleValue == 0.72)
        #expect(shown["latitude"]?.doubleValue == 0.000036)
        // A client that says how its entity travels is not told, and without denoising there are no stops.
        #expect(try await self.shown(driving, "transport_mode=driving")["transport_mode"] == nil)
        #expect(
            try await self.shown(driving + standing, "denoise_grade=0")["transport_mode"] == .string("驾车"))
        var parked = driving[0]
        parked.isParked = true
        #expect(try await self.shown([parked], "denoise_grade=0")["transport_mode"] == .string("停留"))
    }

    @Test func anEntityWithoutPointsHasNoModes() async throws {
        let bench = try await Bench()
        _ = try await bench.post("entity/add", "entity_name=van")
        let answer = try await bench.get("track/getlatestpoint", "entity_name=van&explain=points")
        #expect(
            answer["latest_point"]
                == .object(["longitude": .integer(0), "latitude": .integer(0), "loc_time": .integer(0)]))
    }

    /// The limits of `[api]` are for ranges that a client has chosen.
    @Test func theLatestPointIsToldHoweverManyPointsAreBeforeIt() async throws {
        var options = WebAPIOptions()
        options.maximumRawPoints = 10
        options.maximumProcessedPoints = 10
        let bench = try await Bench(options)
        let points = try (0..<660).map { (second: Int64) -> TrackPoint in
            try point(Self.start + second, 0, Double(second) * 10 / 111_195, speed: 1000)
        }
        try await bench.upload("van", points)
        let answer = try await bench.get("track/getlatestpoint", "entity_name=van")
        #expect(answer.status == 0, "\(answer)")
        #expect(answer["latest_point"]?["loc_time"] == .integer(Self.start + 659))
    }
}
