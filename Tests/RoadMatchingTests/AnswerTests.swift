import Geodesy
import JSON
import ProgramTestKit
import Testing
import TrackAnalysis
import TrackModel
import TrackTestKit

@testable import RoadMatching

@Suite struct RequestTests {
    @Test func aTraceAsksForWhatIsRead() throws {
        let samples = [sample(0, 0, along: 0, radius: 6), sample(1, 5.5, along: 50, radius: 300)]
        let request = TraceRequest.request(for: samples, .car)
        #expect(request.method == .post && request.path == "/trace_attributes")
        let json = try JSONReader.value(of: request.body)
        #expect(json["costing"] == .string("auto") && json["shape_match"] == .string("map_snap"))
        let shape = try #require(json["shape"]?.arrayValue)
        #expect(shape[0]["lat"] == .integer(47) && shape[0]["lon"] == .integer(9))
        #expect(shape[0]["time"] == .integer(1_767_600_000) && shape[1]["time"] == .double(1_767_600_005.5))
        // The engine takes no accuracy over 100 m.
        #expect(shape.map { $0["accuracy"] } == [.integer(6), .integer(100)])
        #expect(json["filters"]?["attributes"]?.arrayValue?.contains(.string("edge.source_percent_along")) == true)
        let bare = try JSONReader.value(of: TraceRequest.request(for: [sample(0, 0, along: 0)], .bicycle).body)
        #expect(bare["shape"]?.arrayValue?[0]["accuracy"] == nil && bare["costing"] == .string("bicycle"))
    }

    @Test func aRouteAlwaysBoundsItsSearch() throws {
        let request = RouteRequest.request(
            from: Degrees(latitude: 42.5, longitude: -1.25), to: Degrees(latitude: 42.6, longitude: 1), .pedestrian,
            heading: 359.7)
        #expect(request.path == "/route")
        let json = try JSONReader.value(of: request.body)
        let ends = try #require(json["locations"]?.arrayValue)
        #expect(ends.map { $0["search_cutoff"] } == [.integer(100), .integer(100)])
        #expect(ends.map { $0["heading"] } == [.integer(0), nil])
        #expect(ends[0]["lat"] == .double(42.5) && ends[0]["lon"] == .double(-1.25))
        #expect(json["costing"] == .string("pedestrian") && json["format"] == .string("osrm"))
    }

    @Test func costingsFollowTheMode() {
        #expect(TravelMode.allCases.map { RoadCosting.of($0, driving: .bus) } == [.bus, .bus, .bicycle, .pedestrian])
        #expect(RoadCosting.of(.automatic).rawValue == "auto")
        #expect(RoadRequest.status.path == "/status" && RoadRequest.status.method.rawValue == "GET")
    }
}

@Suite struct AnswerTests {
    private let samples = (0..<20).map { sample($0, Double($0) * 5, along: 30 + Double($0) * 60, left: 3) }

    /// The answer to the samples with one member of one of its objects exchanged.
    private func changed(
        _ list: String, _ position: Int, _ key: String, _ value: JSONValue?
    ) throws -> RoadReply {
        let reply = MadeEngine().reply(to: samples)
        guard case .object(var object) = try JSONReader.value(of: reply.body), case .array(var array)? = object[list],
            case .object(var member) = array[position]
        else { throw RoadFailure.invalid }
        member[key] = value
        array[position] = .object(member)
        object[list] = .array(array)
        return RoadReply(.object(object))
    }

    private func points(_ reply: RoadReply) throws -> [TracePoint?] {
        try TraceAnswer(reply, count: samples.count).points
    }

    @Test func aGoodAnswerIsReadWhole() throws {
        let answer = try TraceAnswer(MadeEngine().reply(to: samples), count: samples.count)
        #expect(answer.points.allSatisfy { $0.map { near($0.distance, 3, 0.1) } == true })
        #expect(answer.edges.count == 12)
        #expect(answer.edges[0].name == "Made/M 0" && answer.edges[0].limit == 50)
        #expect(answer.edges[0].roadClass == .primary && !answer.edges[0].isToll)
    }

    @Test func edgesThatAreNotThereLeaveAPointUnmatched() throws {
        // valhalla #3371, #3522.
        for index: JSONValue? in [nil, .double(18_446_744_073_709_551_616), .integer(12), .integer(-1), .string("0")] {
            let found = try points(changed("matched_points", 7, "edge_index", index))
            #expect(found[7] == nil && found[6] != nil && found[8] != nil)
        }
        let text = MadeEngine().reply(to: samples).body
        let huge = String(decoding: text, as: UTF8.self).replacing(
            "\"edge_index\":3,", with: "\"edge_index\":18446744073709551615,")
        #expect(try points(RoadReply(huge)).contains { $0 == nil })
    }

    @Test func numbersThatCannotBeTrueLeaveAPointUnmatched() throws {
        let lies: [(String, JSONValue)] = [
            ("lat", .double(91)), ("lon", .double(-181)), ("lat", .string("47")), ("distance_along_edge", .double(1.5)),
            ("distance_along_edge", .double(-0.5)), ("distance_from_trace_point", .double(-1)),
            ("type", .string("unmatched")), ("type", .string("new")),
        ]
        for (key, value) in lies {
            #expect(try points(changed("matched_points", 3, key, value))[3] == nil, "\(key)")
        }
        #expect(try points(changed("matched_points", 3, "type", .string("interpolated")))[3] != nil)
    }

    /// The engine says how far a match is from its point, and where the match is: only both together are believed.
    @Test func aPlaceIsWhereTheEngineSaysThatItIs() throws {
        func match(_ reply: RoadReply) throws -> ChunkMatch {
            ChunkMatch(try TraceAnswer(reply, count: samples.count), for: samples)
        }
        let good = try match(MadeEngine().reply(to: samples))
        #expect(good.places.allSatisfy { $0 != nil } && good.disbelieved == 0)
        // 111 km away, and 3 m by its own words.
        let moved = try match(changed("matched_points", 3, "lat", .double(48)))
        #expect(moved.places[3] == nil && moved.places[4] != nil && moved.disbelieved == 1)
        // Near its point, and on another edge than it says.
        let elsewhere = try match(changed("matched_points", 3, "edge_index", .integer(9)))
        #expect(elsewhere.places[3] == nil && elsewhere.disbelieved == 1)
        // A road elsewhere, whatever is said of the points.
        let far = encoded((0..<40).map { MadeRoad.place(Double($0) * 50, left: 111_000) })
        guard case .object(var object) = try JSONReader.value(of: MadeEngine().reply(to: samples).body) else { return }
        object["shape"] = .string(far)
        let lost = try match(RoadReply(.object(object)))
        #expect(lost.places.allSatisfy { $0 == nil } && lost.disbelieved == samples.count)
        let plan = TracePlan(samples)
        let track = TrackMatcher.track(plan, [lost])
        #expect(track.matched == 0 && RoadsState(track, failures: []) == .implausible)
        #expect(track.samples.map(\.sample) == samples)
    }

    @Test func indicesOutOfTheShapeSpoilTheAnswer() throws {
        for (key, value) in [("begin_shape_index", 9), ("end_shape_index", 100_000), ("begin_shape_index", -1)] {
            let reply = try changed("edges", 0, key, .integer(Int64(value)))
            #expect(throws: RoadFailure.invalid) { try points(reply) }
        }
        #expect(throws: RoadFailure.invalid) {
            try TraceAnswer(MadeEngine().reply(to: samples), count: samples.count + 1)
        }
    }

    @Test func aLimitIsANumber() throws {
        for value: JSONValue in [.string("unlimited"), .integer(0), .integer(-5), .null] {
            let answer = try TraceAnswer(changed("edges", 2, "speed_limit", value), count: samples.count)
            #expect(answer.edges[2].limit == nil && answer.edges[3].limit == 50)
        }
    }

    @Test func errorsAreAnswersOrTrouble() {
        func failure(_ text: String, _ status: Int) -> RoadFailure? {
            do { _ = try TraceAnswer(RoadReply(text, status: status), count: 2) } catch { return error }
            return nil
        }
        #expect(failure(RecordedAnswers.nothingMatched, 400) == .noMapHere)
        #expect(failure(RecordedAnswers.noSegment, 400) == .noMapHere)
        #expect(failure(#"{"error_code":442,"error":"No path could be found for input"}"#, 400) == .noWay)
        #expect(failure(#"{"code":"NoRoute"}"#, 400) == .noWay)
        #expect(failure(RecordedAnswers.tooFewPoints, 400) == .rejected)
        #expect(failure(#"{"error_code":503}"#, 503) == .invalid)
        #expect(failure("<html>", 200) == .invalid)
        #expect(failure("", 200) == .invalid)
        #expect(failure("[]", 200) == .invalid)
        #expect(failure("{}", 200) == .invalid)
        #expect(failure(String(repeating: " ", count: RoadReply.largestBody + 1), 200) == .invalid)
        #expect(failure(String(repeating: "[", count: 100), 200) == .invalid)
        #expect(RoadFailure.allCases.filter(\.isTrouble) == [.timeout, .refused, .invalid])
        #expect(
            RoadFailure.allCases.map(\.name) == [
                "timeout", "refused", "busy", "open", "invalid", "invalid", "no_map_here", "no_way",
            ])
    }

    @Test func statusTellsTheMap() throws {
        let text = #"{"version":"3.9.1","tileset_last_modified":1795335922,"available_actions":["route","locate"]}"#
        let status = try EngineStatus(RoadReply(text))
        #expect(status.version == "3.9.1" && status.tilesModified == 1_795_335_922)
        #expect(EngineStatus.neededActions.filter { !status.actions.contains($0) } == ["trace_attributes"])
        #expect(throws: RoadFailure.invalid) { try EngineStatus(RoadReply("{}")) }
    }

    @Test func garbageNeverHurts() {
        let good = MadeEngine().reply(to: samples).body
        for seed in Dice.seeds(400) {
            var random = Dice(seed: seed)
            var bytes = good
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let position = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[position] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes[position] = [0x30, 0x39, 0x2D, 0x5B, 0x7D, 0x22][Int.random(in: 0..<6, using: &random)]
                default: bytes.removeSubrange(position..<min(bytes.count, position + 5))
                }
            }
            guard let answer = try? TraceAnswer(RoadReply(status: 200, body: bytes), count: samples.count) else {
                continue
            }
            let match = ChunkMatch(answer, for: samples)
            let plan = TracePlan(samples)
            let track = TrackMatcher.track(plan, plan.chunks.map { _ in match })
            #expect(track.samples.count == samples.count, "seed \(seed)")
            #expect(track.length().driven.isFinite && track.length().driven >= 0, "seed \(seed)")
        }
    }

    // MARK: Shapes

    @Test func aPolylineIsReadAsItWasWritten() {
        // Google's own example, whose numbers have five decimals there and six here.
        let example = Polyline.places("_p~iF~ps|U_ulLnnqC_mqNvxq`@")
        #expect(
            example?.map { [$0.latitude, $0.longitude] } == [[3.85, -12.02], [4.07, -12.095], [4.3252, -12.6453]])
        #expect(Polyline.places("") == [])
        for seed in Dice.seeds(200) {
            var random = Dice(seed: seed)
            let places = (0..<50).map { _ in
                Degrees(
                    latitude: Double.random(in: -90...90, using: &random),
                    longitude: Double.random(in: -180...180, using: &random))
            }
            let read = Polyline.places(encoded(places)) ?? []
            #expect(read.count == places.count, "seed \(seed)")
            for (one, other) in zip(read, places) {
                #expect(near(one.latitude, other.latitude, 6e-7) && near(one.longitude, other.longitude, 6e-7))
            }
        }
    }

    @Test func aTextThatIsNoPolylineIsRefused() {
        for text in ["_", "_p~iF", "_p~iF~ps|", "a b", "é?", "~~~~~~~~~~~~~~~~", "\u{7F}?", "_p~iF~ps|U!"] {
            #expect(Polyline.places(text) == nil, "\(text)")
        }
        // Past the pole.
        let north = Degrees(latitude: 90, longitude: 0)
        #expect(Polyline.places(encoded([north])) != nil)
        #expect(Polyline.places(encoded([north]) + encoded([Degrees(latitude: 0.000001, longitude: 0)])) == nil)
        for seed in Dice.seeds(500) {
            var random = Dice(seed: seed)
            let bytes = (0..<40).map { _ in UInt8.random(in: 60...127, using: &random) }
            let places = Polyline.places(String(decoding: bytes, as: UTF8.self)) ?? []
            #expect(places.allSatisfy { $0.latitude.magnitude <= 90 && $0.longitude.magnitude <= 180 }, "seed \(seed)")
        }
    }

    // MARK: Routes

    @Test func aRouteTellsItsTunnel() throws {
        let route = try RouteAnswer(RoadReply(RecordedAnswers.tunnelRoute))
        #expect(near(route.metres, 2917.5, 0.5))
        // The shape between both portals, as geodesics. On a sphere it has 2,859.3 m.
        #expect(near(route.tunnel, 2865.16, 0.1) && route.toll == 0)
        #expect(throws: RoadFailure.noMapHere) {
            try RouteAnswer(RoadReply(RecordedAnswers.noSegment, status: 400))
        }
        #expect(throws: RoadFailure.invalid) { try RouteAnswer(RoadReply(#"{"routes":[]}"#)) }
        #expect(throws: RoadFailure.invalid) {
            try RouteAnswer(RoadReply(#"{"routes":[{"distance":-1,"geometry":""}]}"#))
        }
        let odd =
            #"{"routes":[{"distance":5,"geometry":"","legs":[{"steps":[{"intersections":[{"geometry_index":9}]}]}]}]}"#
        #expect(try RouteAnswer(RoadReply(odd)).tunnel == 0)
    }
}
