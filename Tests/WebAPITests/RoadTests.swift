import Geodesy
import JSON
import Logging
import RoadEngine
import RoadMatching
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import WebAPI

/// Tracks on roads, with an engine that knows one straight road. The rules themselves are tested in the rooms below.
@Suite struct RoadTests {
    private static let start: Int64 = 1_772_670_000

    /// 20 m/s along the road, 3 m beside it, a point every 2 s; 600 s pass between the points 49 and 50, in which the
    /// vehicle drives 1 km.
    private func drive(gap: Bool = true, count: Int = 100) throws -> [TrackPoint] {
        try (0..<count).map { number in
            let (later, farther) = gap && number >= 50 ? (598, 960) : (0, 0)
            let place = MadeRoad.place(30 + Double(number * 40 + farther), left: 3)
            return try point(
                Self.start + Int64(number * 2 + later), place.latitude, place.longitude, speed: 2000, accuracy: 50)
        }
    }

    private func roads(_ transport: MadeTransport) -> RoadClient {
        RoadClient(transport, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }) {
            MonotonicTime(milliseconds: 0)
        }
    }

    private func bench(
        _ transport: MadeTransport = MadeTransport(), _ options: WebAPIOptions = WebAPIOptions(),
        points: [TrackPoint]? = nil
    ) async throws -> Bench {
        let bench = try await Bench(options, roads: roads(transport))
        try await bench.upload("van", try points ?? drive())
        return bench
    }

    private func range(_ query: String = "") -> String {
        "entity_name=van&start_time=\(Self.start)&end_time=\(Self.start + 3600)&page_size=5000&\(query)"
    }

    private static let matching = "is_processed=1&process_option=need_mapmatch=1"

    private func metres(_ answer: JSONValue, _ name: String = "distance") -> Double {
        answer[name]?.doubleValue ?? -1
    }

    @Test func pointsComeToTheirRoad() async throws {
        let answer = try await bench(points: drive(gap: false)).get("track/gettrack", range(Self.matching))
        #expect(
            answer["roads"]
                == .object([
                    "state": .string("used"), "matched": .integer(1),
                    "attribution": .string("© OpenStreetMap contributors"),
                ]))
        let points = answer["points"]?.items ?? []
        #expect(answer["total"]?.integerValue == Int64(points.count))
        let corners = points.filter { $0["_supplement"] != nil }
        #expect(corners.count == 79 && corners.allSatisfy { $0["_supplement"] == .integer(1) })
        #expect(corners.allSatisfy { $0["create_time"] == nil && $0["speed"] == nil && $0["loc_time"] != nil })
        let own = points.filter { $0["_supplement"] == nil }
        #expect(own.count == 100 && own.allSatisfy { $0["create_time"] != nil && $0["speed"] == .integer(72) })
        #expect(own.first?["road_name"] == .string("Made/M 0") && own[5]["road_name"] == .string("Made/M 2"))
        #expect(own.allSatisfy { $0["road_grade"] == .string("主干路") })
        // Every point is on the road now.
        #expect(
            points.allSatisfy { point in
                let place = Degrees(
                    latitude: point["latitude"]?.doubleValue ?? 0, longitude: point["longitude"]?.doubleValue ?? 0)
                let along = SurfaceDistance.between(MadeRoad.place(0), place)
                return GreatCircle.distance(from: MadeRoad.place(along), to: place) < 0.5
            })
        let times = points.compactMap { $0["loc_time"]?.integerValue }
        #expect(times == times.sorted())
        #expect(abs(metres(answer) - 99 * 40) < 2)
    }

    @Test func nobodyWhoDoesNotAskGetsRoads() async throws {
        let transport = MadeTransport()
        let bench = try await bench(transport)
        for query in ["", "is_processed=1", "process_option=need_mapmatch=1", "supplement_mode=straight"] {
            let answer = try await bench.get("track/gettrack", range(query))
            #expect(answer["roads"] == nil && answer["total"] == .integer(100))
            #expect(answer["toll_distance"] == .integer(0))
        }
        #expect(transport.requests.isEmpty)
    }

    @Test func trackAndDistanceAgreeOnEveryPage() async throws {
        let bench = try await bench(MadeTransport(MadeEngine(isToll: true)))
        let query = Self.matching + "&supplement_mode=driving&supplement_content=distance_and_points"
        let whole = try await bench.get("track/gettrack", range(query))
        let distance = metres(whole)
        // 98 steps of 40 m, and the kilometre between the points 49 and 50.
        #expect(abs(distance - (98 * 40 + 1000)) < 3)
        #expect(abs(metres(whole, "toll_distance") - distance) < 1)
        #expect(metres(try await bench.get("track/getdistance", range(query))) == distance)
        var pages: [JSONValue] = []
        for page in 1...5 {
            let answer = try await bench.get(
                "track/gettrack", range(query).replacing("page_size=5000", with: "page_size=50&page_index=\(page)"))
            #expect(metres(answer) == distance && answer["total"] == whole["total"])
            pages += answer["points"]?.items ?? []
        }
        #expect(pages == whole["points"]?.items)
        #expect(Set(pages.map { $0["_supplement"]?.integerValue }) == [nil, 1, 2])
    }

    @Test(arguments: ["", "is_processed=1&"])
    func interruptionsAreFilledWithRoutes(processing: String) async throws {
        let bench = try await bench()
        let asked = processing + "supplement_mode=driving"
        let distance = try await bench.get("track/getdistance", range(asked))
        #expect(abs(metres(distance) - (98 * 40 + 1000)) < 3)
        #expect(distance["roads"]?["state"] == .string("used") && distance["roads"]?["matched"] == nil)
        let plain = try await bench.get("track/gettrack", range(asked))
        #expect(plain["total"] == .integer(100) && metres(plain) == metres(distance))
        let filled = try await bench.get("track/gettrack", range(asked + "&supplement_content=distance_and_points"))
        let points = filled["points"]?.items ?? []
        let routed = points.indices.filter { points[$0]["_supplement"] == .integer(2) }
        #expect(routed == Array(50..<50 + routed.count) && routed.count == 19)
        let descending = try await bench.get(
            "track/gettrack", range(asked + "&supplement_content=distance_and_points&sort_type=desc"))
        #expect(descending["points"]?.items == points.reversed())
    }

    @Test func theWayOnFootMayBeAsFastAsTheVehicle() async throws {
        // 10 km in 600 s: nobody walks so fast, and a lorry whose supplement is the way on foot did.
        let far = try (0..<100).map { number in
            let (later, farther) = number >= 50 ? (598, 9960) : (0, 0)
            let place = MadeRoad.place(30 + Double(number * 40 + farther), left: 3)
            return try point(Self.start + Int64(number * 2 + later), place.latitude, place.longitude, speed: 2000)
        }
        let bench = try await bench(points: far)
        for processing in ["", "is_processed=1&"] {
            for mode in ["driving", "riding", "walking"] {
                let answer = try await bench.get(
                    "track/getdistance", range(processing + "supplement_mode=\(mode)"))
                #expect(abs(metres(answer) - (98 * 40 + 10_000)) < 3, "\(mode)")
                #expect(answer["roads"]?["state"] == .string("used"), "\(mode)")
            }
        }
        // Of a track on foot the route is not believed: the engine knows it all the same.
        let walk = try await bench.get(
            "track/getdistance",
            range("is_processed=1&process_option=transport_mode=walking,need_denoise=0&supplement_mode=walking"))
        #expect(walk["roads"]?["state"] == .string("none") && walk["roads"]?["reason"] == .string("implausible"))
        #expect(walk["roads"]?["implausible_routes"] == .integer(1))
    }

    /// The published guide's own example: a drive that is corrected as one, with walks across its interruptions.
    @Test(arguments: ["", "is_processed=1&process_option=transport_mode=driving&", "is_processed=1&"])
    func aWalkAcrossAGapOfADriveIsARoute(processing: String) async throws {
        let transport = MadeTransport()
        // 5 km in 360 s: nobody walks so fast, and the vehicle did not walk.
        let far = try (0..<20).map { number in
            let (later, farther) = number >= 10 ? (358, 4960) : (0, 0)
            let place = MadeRoad.place(30 + Double(number * 40 + farther), left: 3)
            return try point(
                Self.start + Int64(number * 2 + later), place.latitude, place.longitude, speed: 2000, accuracy: 50)
        }
        let bench = try await bench(transport, points: far)
        for mode in ["walking", "riding", "driving"] {
            let answer = try await bench.get(
                "track/gettrack",
                range(processing + "supplement_mode=\(mode)&supplement_content=distance_and_points"))
            #expect(answer["roads"]?["state"] == .string("used"), "\(mode)")
            #expect(abs(metres(answer) - (18 * 40 + 5000)) < 3, "\(mode)")
            #expect(answer["points"]?.items.contains { $0["_supplement"] == .integer(2) } == true, "\(mode)")
        }
        let bodies = transport.requests.filter { $0.path == "/route" }.map { String(decoding: $0.body, as: UTF8.self) }
        #expect(bodies.count == 3)
        for (body, costing) in zip(bodies, ["pedestrian", "bicycle", "auto"]) {
            #expect(body.contains("\"costing\":\"\(costing)\""), "\(body)")
        }
    }

    /// The guard is the cap of the track's own means of travel.
    @Test func aWalkerDoesNotDriveAcrossAGap() async throws {
        let bench = try await bench(
            points: try [(0, 0.0), (600, 5000)].map { seconds, along in
                let place = MadeRoad.place(30 + along)
                return try point(Self.start + Int64(seconds), place.latitude, place.longitude)
            })
        let query = "is_processed=1&process_option=denoise_grade=0,transport_mode=walking&supplement_mode=driving"
        let answer = try await bench.get("track/getdistance", range(query))
        // 5 km in 600 s are 30 km/h.
        #expect(answer["roads"]?["reason"] == .string("implausible"))
        #expect(abs(metres(answer) - 5000) < 3)
    }

    /// A way that nobody can have driven, a lie, and a place without roads are three answers.
    @Test func aRefusedRouteIsNoUnknownRoad() async throws {
        func state(_ reply: @escaping @Sendable (RoadRequest) -> RoadReply) async throws -> String? {
            let bench = try await bench(MadeTransport { _, request throws(RoadFailure) in reply(request) })
            let answer = try await bench.get("track/getdistance", range("supplement_mode=driving"))
            #expect(abs(metres(answer) - (98 * 40 + 1000)) < 3)
            return answer["roads"]?["reason"]?.stringValue ?? answer["roads"]?["state"]?.stringValue
        }
        let engine = MadeEngine()
        #expect(try await state { engine.reply(to: $0) } == "used")
        #expect(try await state { $0.path == "/route" ? .nothingMatched : engine.reply(to: $0) } == "none")
        for (metres, shape) in [(0.0, 0...1), (0, 0...0), (500_000, 0...1), (1000, 5_000_000...5_001_000)] {
            let line = encoded([MadeRoad.place(Double(shape.lowerBound)), MadeRoad.place(Double(shape.upperBound))])
            let lie = RoadReply(
                .object([
                    "code": .string("Ok"),
                    "routes": .array([.object(["distance": .double(metres), "geometry": .string(line)])]),
                ]))
            #expect(
                try await state { $0.path == "/route" ? lie : engine.reply(to: $0) } == "implausible",
                "\(metres) \(shape)")
        }
    }

    @Test func cornersAreThinnedWithTheRestAndAreNoDroppedPoints() async throws {
        let bench = try await bench(points: drive(gap: false))
        let answer = try await bench.get("track/gettrack", range(Self.matching + ",vacuate_grade=5&explain=points"))
        let points = answer["points"]?.items ?? []
        #expect(points.count < 20)
        let kept = points.count { $0["_supplement"] == nil }
        #expect(answer["dropped_points"]?.items.count == 100 - kept)
        #expect(answer["dropped"]?["thinned"] == .integer(Int64(100 - kept)))
    }

    @Test func theLatestPointHasItsRoad() async throws {
        let bench = try await bench(points: drive(gap: false))
        let plain = try await bench.get("track/getlatestpoint", "entity_name=van")
        let answer = try await bench.get(
            "track/getlatestpoint", "entity_name=van&process_option=need_mapmatch=1")
        #expect(answer["limit_speed"] == .integer(50))
        #expect(answer["latest_point"]?["road_name"] == .string("Made/M 39"))
        #expect(answer["latest_point"]?["road_grade"] == .string("主干路"))
        #expect(answer["latest_point"]?["loc_time"] == plain["latest_point"]?["loc_time"])
        #expect(answer["roads"]?["state"] == .string("used"))
        let moved = { (answer: JSONValue) in answer["latest_point"]?["latitude"]?.doubleValue ?? 0 }
        #expect(abs((moved(plain) - moved(answer)) * 111_195 - 3) < 0.2)
        #expect(plain["roads"] == nil && plain["limit_speed"] == nil && plain["latest_point"]?["road_name"] == nil)
    }

    @Test func aParkedVehicleHasNoRoad() async throws {
        let transport = MadeTransport()
        var points = try drive(gap: false)
        points[99].isParked = true
        let answer = try await bench(transport, points: points).get(
            "track/getlatestpoint", "entity_name=van&process_option=need_mapmatch=1")
        #expect(answer["roads"] == .object(["state": .string("none")]) && answer["limit_speed"] == nil)
        #expect(transport.requests.isEmpty)
    }

    @Test func roadsLimitSpeedsWhenTheClientGivesNoThreshold() async throws {
        let transport = MadeTransport()
        let bench = try await bench(transport, points: drive(gap: false))
        let fixed = try await bench.get("analysis/drivingbehavior", range("speeding_threshold=100"))
        #expect(fixed["speeding_num"] == .integer(0) && fixed["roads"] == nil && transport.requests.isEmpty)
        let answer = try await bench.get("analysis/drivingbehavior", range())
        #expect(answer["speeding_num"] == .integer(1) && answer["roads"]?["state"] == .string("used"))
        let ends = answer["speeding"]?.items.first?["speeding_points"]?.items ?? []
        #expect(ends.count == 2 && ends.allSatisfy { $0["limit_speed"] == .integer(50) })
        // Ways are those of the roads only when the client asks for it.
        #expect(metres(answer) == metres(fixed))
        let matched = try await bench.get("analysis/drivingbehavior", range("process_option=need_mapmatch=1"))
        #expect(metres(matched) != metres(fixed) && abs(metres(matched) - metres(fixed)) < 3)
    }

    @Test func staysAndTripsUseNoRoads() async throws {
        let transport = MadeTransport()
        let bench = try await bench(transport)
        for path in ["analysis/staypoint", "analysis/trips"] {
            let answer = try await bench.get(path, range("process_option=need_mapmatch=1"))
            #expect(answer["roads"]?["state"] == .string("off"))
        }
        #expect(transport.requests.isEmpty)
    }

    @Test func withoutTheEngineEveryAnswerIsAsItWas() async throws {
        let dead = try await bench(MadeTransport { _, _ throws(RoadFailure) in throw .refused })
        let none = try await Bench()
        try await none.upload("van", try drive())
        let query = Self.matching + "&supplement_mode=driving&supplement_content=distance_and_points"
        for path in ["track/gettrack", "track/getdistance", "analysis/drivingbehavior"] {
            let (answer, usual) = (try await dead.get(path, range(query)), try await none.get(path, range(query)))
            #expect(answer.status == 0)
            #expect(answer["roads"]?["state"] == .string("unavailable"))
            #expect(["refused", "open"].contains(answer["roads"]?["reason"]?.stringValue))
            #expect(usual["roads"] == .object(["state": .string("off")]))
            guard case .object(var one) = answer, case .object(var other) = usual else { continue }
            one["roads"] = nil
            other["roads"] = nil
            #expect(one == other)
        }
        let latest = try await dead.get("track/getlatestpoint", "entity_name=van&process_option=need_mapmatch=1")
        #expect(latest.status == 0 && latest["roads"]?["reason"] == .string("open"))
    }

    @Test func theOperatorChoosesWhatIsSaidOfRoads() async throws {
        let options = WebAPIOptions(roadAttribution: "", showsRoadGrades: false)
        let answer = try await bench(MadeTransport(), options).get("track/gettrack", range(Self.matching))
        #expect(answer["roads"]?["attribution"] == nil)
        #expect(answer["points"]?.items.allSatisfy { $0["road_grade"] == nil } == true)
        #expect(answer["points"]?.items.first?["road_name"] != nil)
    }
}
