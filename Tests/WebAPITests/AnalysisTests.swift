import JSON
import Testing
import TrackModel
import TrackStore

@testable import WebAPI

/// The module `analysis`. The numbers themselves are tested in the room TrackAnalysis.
@Suite struct AnalysisTests {
    private static let start: Int64 = 1_772_670_000

    /// Half an hour on the equator: 300 s at 20 m/s with one hard braking to 10 m/s and back, 700 s of standing, 300 s
    /// at 20 m/s, then on for a minute in which the range ends.
    private func drive(east: Double = 0, north: Double = 0) throws -> [TrackPoint] {
        var points: [TrackPoint] = []
        var metres = 0.0
        for second in 0..<1360 {
            let speed: Double =
                switch second {
                case 100...102: 20 - Double(second - 99) * 3
                case 103..<300: 11
                case 300..<1000: 0
                default: 20
                }
            metres += speed
            points.append(
                try point(
                    Self.start + Int64(second), north, east + metres / 111_195, speed: Int32(speed * 100)))
        }
        return points
    }

    private func bench(_ points: [TrackPoint]? = nil, options: WebAPIOptions = WebAPIOptions()) async throws -> Bench {
        let bench = try await Bench(options)
        try await bench.upload("van", try points ?? drive())
        return bench
    }

    private func range(_ query: String = "", length: Int64 = 3600) -> String {
        "entity_name=van&start_time=\(Self.start)&end_time=\(Self.start + length)&\(query)"
    }

    // MARK: Stays

    @Test func aStayHasItsTimesAndItsPlace() async throws {
        let answer = try await bench().get("analysis/staypoint", range())
        #expect(answer.status == 0)
        #expect(answer["staypoint_num"] == .integer(1))
        let stay = try #require(answer["stay_points"]?.items.first)
        let (begin, end) = (stay["start_time"]?.integerValue ?? 0, stay["end_time"]?.integerValue ?? 0)
        #expect((295...300).contains(begin - Self.start))
        #expect((999...1001).contains(end - Self.start))
        #expect(stay["duration"] == .integer(end - begin))
        #expect(stay["stay_point"]?["coord_type"] == .string("wgs84"))
        #expect(abs((stay["stay_point"]?["longitude"]?.doubleValue ?? 0) * 111_195 - 4183) < 40)
        #expect(stay["open"] == nil)
    }

    @Test func aStayThatTheRangeCutsSaysSo() async throws {
        let bench = try await bench()
        let stays = try await bench.get("analysis/staypoint", range(length: 950))["stay_points"]?.items
        #expect(stays?.map { $0["open"] } == [.string("end")])
    }

    @Test(arguments: [
        ("stay_time=0&stay_radius=0", 0, 1), ("stay_time=-1&stay_radius=-5", 0, 1), ("stay_time=720", 0, 0),
        ("stay_time=600&stay_radius=500", 0, 1), ("stay_radius=0.5", 2, nil), ("stay_radius=501", 2, nil),
        ("stay_time=86401", 0, 0), ("stay_time=9223372036854775807", 0, 0), ("stay_time=x", 2, nil),
        ("stay_radius=nan", 2, nil),
    ])
    func staysHaveTheirRules(query: String, status: Int64, count: Int64?) async throws {
        let answer = try await bench().get("analysis/staypoint", range(query))
        #expect(answer.status == status)
        #expect(answer["staypoint_num"]?.integerValue == count)
    }

    // MARK: Driving

    @Test(arguments: ["analysis/drivingbehavior", "analysis/drivingbehaviour"])
    func drivingIsRated(path: String) async throws {
        let answer = try await bench().get(path, range("speeding_threshold=60"))
        #expect(answer["duration"] == .integer(1359))
        #expect(answer["max_speed"] == .integer(72))
        #expect(answer["harsh_breaking_num"]?.integerValue ?? 0 >= 1)
        let braking = try #require(answer["harsh_breaking"]?.items.first)
        let (initial, end) = (braking["initial_speed"]?.doubleValue ?? 0, braking["end_speed"]?.doubleValue ?? 0)
        #expect(initial == 72)
        #expect(abs((braking["acceleration"]?.doubleValue ?? 0) - (end - initial) / 3.6 / 3) < 1e-6)
        #expect(braking["coord_type"] == .string("wgs84"))
        #expect(answer["speeding_num"] == .integer(2))
        let ends = answer["speeding"]?.items.first?["speeding_points"]?.items ?? []
        #expect(ends.map { $0["limit_speed"] } == [.integer(60), .integer(60)])
        #expect(ends.first?["actual_speed"] == .integer(72))
        #expect(answer["start_point"]?["address"] == .string(""))
        let (distance, average) = (answer["distance"]?.doubleValue ?? 0, answer["average_speed"]?.doubleValue ?? 0)
        #expect(abs(average - distance / 1359 * 3.6) < 1e-3)
        #expect(answer["harsh"]?["state"] == nil)
        #expect(answer["harsh"]?["rated"]?.doubleValue ?? 0 > 0.9)
    }

    @Test func withoutALimitNobodySpeeds() async throws {
        let answer = try await bench().get("analysis/drivingbehavior", range())
        #expect(answer["speeding_num"] == .integer(0))
        #expect(answer["speeding"] == .array([]))
    }

    @Test func pointsThatAreTooFarApartAreSaidToBe() async throws {
        let points = try drive().enumerated().filter { $0.offset % 5 == 0 }.map(\.element)
        let answer = try await bench(points).get("analysis/drivingbehavior", range())
        #expect(answer["harsh"]?["state"] == .string("insufficient_rate"))
        // From 11 m/s to rest in 5 s: the mean alone proves it. The braking of 3 m/s² is hidden between two points.
        #expect(answer["harsh_breaking_num"] == .integer(1))
    }

    @Test func anEmptyTrackHasZeros() async throws {
        let bench = try await bench()
        #expect(
            await bench.text("analysis/drivingbehavior", "entity_name=van&start_time=1&end_time=2")
                == #"{"status":0,"message":"成功","distance":0,"duration":0,"average_speed":0,"max_speed":0,"speeding_num":0,"#
                + #""harsh_acceleration_num":0,"harsh_breaking_num":0,"harsh_steering_num":0,"speeding":[],"#
                + #""harsh_acceleration":[],"harsh_breaking":[],"harsh_steering":[]}"#)
        #expect(
            await bench.text("analysis/staypoint", "entity_name=van&start_time=1&end_time=2")
                == #"{"status":0,"message":"成功","staypoint_num":0,"stay_points":[]}"#)
        #expect(
            await bench.text("analysis/trips", "entity_name=van&start_time=1&end_time=2")
                == #"{"status":0,"message":"成功","trip_num":0,"trips":[]}"#)
    }

    @Test(arguments: [
        ("harsh_acceleration_threshold=-1", 2), ("harsh_breaking_threshold=1", 2), ("harsh_steering_threshold=-1", 2),
        ("speeding_threshold=-1", 2), ("speeding_threshold=x", 2), ("speeding_threshold=0", 0),
        ("harsh_acceleration_threshold=0&harsh_breaking_threshold=0&harsh_steering_threshold=0", 0),
        ("speeding_threshold=1e308&harsh_breaking_threshold=-1e308", 0),
    ])
    func thresholdsHaveTheirSigns(query: String, status: Int64) async throws {
        #expect(try await bench().get("analysis/drivingbehavior", range(query)).status == status)
    }

    // MARK: Trips

    @Test func tripsLieBetweenStays() async throws {
        let answer = try await bench().get("analysis/trips", range())
        let trips = answer["trips"]?.items ?? []
        #expect(answer["trip_num"] == .integer(2))
        #expect(trips.map { $0["open"] } == [.string("start"), .string("end")])
        #expect(trips.first?["max_speed"] == .integer(72))
        let sum = trips.compactMap { $0["distance"]?.doubleValue }.reduce(0, +)
        let whole = try await bench().get("track/getdistance", range("is_processed=1"))["distance"]?.doubleValue
        // The ways into the stay and out of it, 50 m each, belong to the stay.
        #expect((0...100).contains((whole ?? 0) - sum))
    }

    // MARK: What they have in common

    @Test func placesInChinaAreInTheDatumThatWasAskedFor() async throws {
        let bench = try await bench(try drive(east: 116.4, north: 39.9))
        for (query, name) in [("", "bd09ll"), ("coord_type_output=gcj02", "gcj02")] {
            let stay = try await bench.get("analysis/staypoint", range(query))["stay_points"]?.items.first?[
                "stay_point"]
            #expect(stay?["coord_type"] == nil)
            let longitude = stay?["longitude"]?.doubleValue ?? 0
            #expect(longitude > 116.4 + 4183 / 111_195 + 0.001)
            let driving = try await bench.get("analysis/drivingbehavior", range(query))
            #expect(driving["start_point"]?["coord_type"] == .string(name))
        }
    }

    @Test(arguments: ["analysis/staypoint", "analysis/drivingbehavior", "analysis/drivingbehaviour", "analysis/trips"])
    func rangesHaveTheirRules(path: String) async throws {
        let bench = try await bench(options: WebAPIOptions(maximumProcessedPoints: 100))
        #expect(try await bench.get(path, range()).status == 9001)
        #expect(try await bench.get(path, range(length: 99)).status == 0)
        #expect(try await bench.get(path, range("coord_type_output=bd09mc", length: 99)).status == 2)
        #expect(try await bench.get(path, "entity_name=van&start_time=2&end_time=1").status == 3201)
        #expect(try await bench.get(path, "entity_name=van&start_time=1&end_time=86402").status == 3200)
        #expect(try await bench.get(path, "entity_name=bus&start_time=1&end_time=2").status == 3003)
        #expect(try await bench.get(path, "start_time=1&end_time=2").status == 2)
    }
}
