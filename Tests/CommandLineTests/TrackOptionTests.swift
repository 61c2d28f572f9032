import FenceCommands
import Foundation
import JSON
import ProgramTestKit
import Testing

@testable import SakerCommand

/// What `saker track` sends of its options, and what it says of roads.
@Suite(.timeLimit(.minutes(5))) struct TrackOptionTests {
    private static let hour = ["--from", "2026-03-05T00:00:00Z", "--to", "2026-03-05T01:00:00Z"]

    private func run(
        _ arguments: [String], _ answers: TinyWebServer.Answer...
    ) async throws -> (SakerProgram.Result, [String]) {
        let (server, url) = try await TinyWebServer.start(answers)
        let result = try await SakerProgram.run(
            ["track"] + arguments + ["--server", url, "--service-id", "42"], environment: ["SAKER_AK": "AKtest"])
        try await server.stop()
        return (result, server.requests)
    }

    // MARK: Options

    @Test(arguments: [
        (["stays", "van", "--process", "transport_mode=walking"], "process_option=transport_mode%3Dwalking"),
        (["trips", "van", "--travel", "riding"], "process_option=transport_mode%3Driding"),
        (
            ["driving", "van", "--roads", "--process", "transport_mode=driving"],
            "process_option=need_mapmatch%3D1%2Ctransport_mode%3Ddriving"
        ),
        (
            ["driving", "van", "--harsh-acceleration", "2", "--harsh-braking", "2.5", "--harsh-curve", "4"],
            "harsh_acceleration_threshold=2&harsh_breaking_threshold=-2.5&harsh_steering_threshold=4"
        ),
        (
            ["distance", "van", "--process", "need_denoise=1,radius_threshold=50", "--low-speed", "20"],
            "is_processed=1&process_option=need_denoise%3D1%2Cradius_threshold%3D50&low_speed_threshold=20"
        ),
        (
            ["history", "van", "--process", "need_vacuate=1", "--explain", "points"],
            "is_processed=1&process_option=need_vacuate%3D1&explain=points"
        ),
    ])
    func anOptionIsSentAsTheServerReadsIt(arguments: [String], sent: String) async throws {
        let (result, requests) = try await run(arguments + Self.hour, .init(body: "{\"status\":0}"))
        #expect(result.status == 0 && requests.first?.contains(sent) == true, "\(result.errors) \(requests)")
    }

    @Test func theLatestPointIsProcessedWhenAsked() async throws {
        let point =
            #"{"status":0,"limit_speed":80,"latest_point":{"loc_time":1,"latitude":1,"longitude":2,"road_name":"M 39"},"#
        let body = point + #""roads":{"state":"used","matched":1,"attribution":"© OpenStreetMap contributors"}}"#
        let (result, requests) = try await run(["latest", "van", "--process", "need_mapmatch=1"], .init(body: body))
        #expect(requests.first?.contains("process_option=need_mapmatch%3D1%2Cdenoise_grade%3D0") == true)
        for text in ["road_name  M 39", "Limit      80 km/h", "© OpenStreetMap contributors"] {
            #expect(result.output.contains(text), "\(result.output)")
        }
    }

    @Test(arguments: [
        (["stays", "--process", "denoise_grade=2"], "this command has no use for it; it takes transport_mode"),
        (["distance", "--process", "vacuate_grade=2"], "this command has no use for it"),
        (["history", "--process", "mapmatch=1"], "there is no such option; it takes denoise_grade, need_denoise"),
        (["history", "--process", "denoise_grade=6"], "denoise_grade is a grade from 0 to 5"),
        (["trips", "--process", "transport_mode=flying"], "transport_mode is auto, driving, riding or walking"),
        (["trips", "--process", "transport_mode"], "give it as name=value"),
        (["history", "--process", "need_mapmatch=1,need_mapmatch=0"], "is given twice"),
        (["history", "--roads", "--process", "need_mapmatch=0"], "an option of this command says it already"),
        (["history", "--explain", "counts"], "add --processed"),
        (["driving", "--harsh-braking", "-2"], "--harsh-braking"), (["distance", "--low-speed", "0"], "--low-speed"),
    ])
    func whatNoServerReadsIsNamed(arguments: [String], told: String) async throws {
        let (result, requests) = try await run([arguments[0], "van"] + Self.hour + arguments.dropFirst())
        #expect(result.status == 2 && result.errors.contains(told), "\(result.errors)")
        #expect(requests.isEmpty)
    }

    @Test func whatWasLeftOutAndTheSlowPartAreTold() async throws {
        let body = """
            {"status":0,"total":1,"distance":2000,"low_speed_distance":500,"dropped":{"stop":826,"excursion":1},\
            "dropped_points":[{"loc_time":1772668800,"latitude":1,"longitude":2,"_reason":"excursion"}],\
            "points":[{"loc_time":1772668801,"latitude":1,"longitude":2,"road_name":"A 13"}]}
            """
        let (result, _) = try await run(
            ["history", "van", "--processed", "--explain", "points", "--low-speed", "20"] + Self.hour, .init(body: body)
        )
        for text in [
            "road_name=A 13", "1 point, 2.0 km, 500 m of it slower than 20 km/h",
            "826 points: one of many points of a stop", "2026-03-05 00:00:00+00:00  1.000000, 2.000000  excursion",
        ] {
            #expect(result.output.contains(text), "\(result.output)")
        }
    }

    // MARK: Roads

    private static let dead = #"{"status":0,"distance":1500,"roads":{"state":"unavailable","reason":"refused"}}"#

    @Test func aDeadRoadEngineIsTold() async throws {
        let (result, _) = try await run(["distance", "van", "--roads"] + Self.hour, .init(body: Self.dead))
        #expect(result.status == 0 && result.output == "1.5 km\n")
        #expect(result.errors.contains("not on roads: the road engine gave nothing (it refuses connections)"))
        let (json, _) = try await run(["distance", "van", "--roads", "--json"] + Self.hour, .init(body: Self.dead))
        #expect(json.output.contains(#""roads":{"reason":"refused","state":"unavailable"}"#) && json.errors.isEmpty)
        let (plain, _) = try await run(["distance", "van"] + Self.hour, .init(body: #"{"status":0,"distance":1500}"#))
        #expect(plain.errors.isEmpty)
    }

    @Test func theMapIsNamedInTablesAndFiles() async throws {
        let body = """
            {"status":0,"total":1,"distance":7,"roads":{"state":"partly","matched":0.982,"attribution":"© <Map> & co"},\
            "points":[{"loc_time":1772668801,"latitude":1,"longitude":2,"road_name":"A 13","road_grade":"x"}]}
            """
        let (table, _) = try await run(["history", "van", "--roads"] + Self.hour, .init(body: body))
        #expect(table.output.contains("The track is partly on roads (98.2 % of the points), © <Map> & co."))
        let escaped = "© &lt;Map&gt; &amp; co"
        let credits = [
            "gpx": "<copyright author=\"\(escaped)\"/>", "kml": "<description>The track is partly on roads",
            "geojson": #""roads":{"state":"partly","matched":0.982,"attribution":"© <Map> & co"}"#,
            "csv": "The track is partly on roads (98.2 % of the points), © <Map> & co.",
        ]
        for (format, credit) in credits {
            let directory = try TemporaryDirectory()
            let path = directory.path + "/track.\(format)"
            let (result, _) = try await run(
                ["export", "van", "--roads", "--output", path] + Self.hour, .init(body: body))
            #expect(result.status == 0 && result.errors.contains("© <Map> & co"), "\(result.errors)")
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(text.contains(credit) && text.contains("A 13"), "\(text)")
            // No track column can have these names, so an import sends neither.
            var file = try PointFile(path)
            let point = try #require(try file.next()).value
            #expect(point["attributes"] == nil && point["latitude"] == 1.0, "\(format): \(point)")
            #expect(try file.next() == nil)
        }
    }

    @Test func aVehicleThatOnlyStoodHadNothingToBringToRoads() throws {
        #expect(try #require(RoadsRemark(["roads": ["state": "used"]])).line == "on roads")
    }

    // MARK: Several days

    private static let days = ["--from", "2026-03-05T00:00:00Z", "--to", "2026-03-08T12:00:00Z"]

    @Test(arguments: [
        (["stays"], #"{"status":0,"staypoint_num":1,"stay_points":[S]}"#, "2026-03-05 20:00:00+00:00", 1),
        (["trips"], #"{"status":0,"trip_num":0,"trips":[]}"#, "No trip", 1),
        (["distance"], #"{"status":0,"distance":1234567.5}"#, "1234.6 km", 1),
        (["gaps"], #"{"status":0,"total":0,"gaps":[G]}"#, "parked", 1),
        (["driving"], #"{"status":0,"distance":1000,"duration":200000}"#, "Distance  1.0 km", 1),
    ])
    func severalDaysAreOneRequest(command: [String], body: String, told: String, count: Int) async throws {
        let span = #""start_time":1772740800,"end_time":1772780400,"duration":39600"#
        let body = body.replacing("S", with: "{\(span),\"stay_point\":{\"latitude\":52,\"longitude\":4}}")
            .replacing("[G]", with: "[{\(span),\"reason\":\"parked\"}]")
        let (result, requests) = try await run(command + ["van"] + Self.days, .init(body: body))
        #expect(result.status == 0 && result.output.contains(told), "\(result.output) \(result.errors)")
        try #require(requests.count == count)
        #expect(requests[0].contains("start_time=1772668800&end_time=1772971200&long_range=1"), "\(requests)")
    }

    private static func page(_ times: [Int], total: Int, _ more: String = "") -> TinyWebServer.Answer {
        let points = times.map { #"{"loc_time":\#($0),"latitude":1,"longitude":2}"# }.joined(separator: ",")
        return .init(body: #"{"status":0,"total":\#(total),"distance":2500\#(more),"points":[\#(points)]}"#)
    }

    /// The first page has what is true of all.
    @Test func historyAndExportReadEachPageAndTheFirstOneHasTheSums() async throws {
        let gap = #","gaps":[{"start_time":1772668801,"end_time":1772790000,"reason":"off"}]"#
        let (first, second) = (
            Self.page([1_772_668_800, 1_772_668_801], total: 5001, gap), Self.page([1_772_790_000], total: 5001)
        )
        let (history, asked) = try await run(["history", "van", "--gaps"] + Self.days, first, second)
        #expect(history.status == 0, "\(history.errors)")
        #expect(asked.count == 2 && asked[1].contains("page_index=2&page_size=5000"), "\(asked)")
        for text in [
            "2026-03-05 00:00:00+00:00", "2026-03-06 09:40:00+00:00", "3 points, 2.5 km", "the agent was off",
            "1 gap",
        ] {
            #expect(history.output.contains(text), "\(history.output)")
        }
        let (json, _) = try await run(["history", "van", "--json"] + Self.days, first, second)
        let pages = try json.lines.filter { !$0.isEmpty }.map { try JSONReader.value(of: Array($0.utf8)) }
        #expect(pages.map { $0["points"]?.arrayValue?.count } == [2, 1] && pages[0]["distance"] == 2500)
        let directory = try TemporaryDirectory()
        let path = directory.path + "/days.geojson"
        let (export, _) = try await run(["export", "van", "--gaps", "--output", path] + Self.days, first, second)
        #expect(export.output == "3 points in \(path).\n", "\(export.output) \(export.errors)")
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains(#""gap":"off""#))
    }

    /// A server that has fewer points by now, or that says anything at all.
    @Test func pagesEndWithOneThatIsEmpty() async throws {
        let (result, requests) = try await run(
            ["history", "van"] + Self.days, Self.page([1_772_668_800], total: .max), Self.page([], total: .max))
        #expect(result.status == 0 && requests.count == 2, "\(result.errors)")
    }

    @Test(arguments: [
        (3200, "时间段超过24小时", "which only newer servers answer"),
        (3006, "x: the range has more than 600000 points: make it shorter", "more than 600000 points"),
    ])
    func aServerThatRefusesSaysWhy(status: Int, message: String, told: String) async throws {
        let answer = TinyWebServer.Answer(body: "{\"status\":\(status),\"message\":\"\(message)\"}")
        for command in ["history", "distance", "stays", "trips", "driving", "gaps"] {
            let (result, requests) = try await run([command, "van"] + Self.days, answer)
            #expect(result.status == 1 && result.errors.contains(told), "\(command): \(result.errors)")
            #expect(requests.count == 1)
        }
        let directory = try TemporaryDirectory()
        let path = directory.path + "/days.gpx"
        let (export, _) = try await run(["export", "van", "--output", path] + Self.days, answer)
        #expect(export.status == 1 && export.errors.contains(told) && !FileManager.default.fileExists(atPath: path))
    }
}
