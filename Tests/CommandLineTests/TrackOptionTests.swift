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

    @Test func aRemarkOfSeveralAnswersNamesTheWorst() throws {
        func remark(_ state: String, _ points: Int64, _ matched: Double? = nil) throws -> RoadsRemark {
            var roads: [String: JSONValue] = ["state": .string(state)]
            roads["matched"] = matched.map { .double($0) }
            return try #require(RoadsRemark(["roads": .object(roads), "total": .integer(points)]))
        }
        let used = try remark("used", 300, 1)
        #expect(used.joined(try remark("unavailable", 100)).json == ["state": "partly", "matched": 0.75])
        #expect(used.joined(try remark("used", 100, 0.5)).state == "used")
        // A vehicle that only stood had nothing to bring to roads.
        let stood = try remark("used", 100)
        #expect(stood.line == "on roads" && used.joined(stood).json == ["state": "used", "matched": 1.0])
        #expect(try remark("none", 1).joined(try remark("unavailable", 1)).state == "unavailable")
    }

    /// Two days: one answer, and of history the pages and the sums.
    @Test func aLongRangeIsOneAnswer() async throws {
        let days = ["--from", "2026-03-05T00:00:00Z", "--to", "2026-03-06T12:00:00Z", "--json"]
        func part(_ time: Int) -> TinyWebServer.Answer {
            .init(
                body: """
                    {"status":0,"total":1,"size":1,"distance":500,"points":[{"loc_time":\(time),"latitude":1,"longitude":2}]}
                    """)
        }
        let (history, _) = try await run(["history", "van"] + days, part(1_772_668_900), part(1_772_790_000))
        let lines = try history.lines.dropLast().map { try JSONReader.value(of: Array($0.utf8)) }
        #expect(lines.count == 3 && lines[0]["distance"] == nil && lines[1]["points"]?.arrayValue?.count == 1)
        #expect(lines[2]["distance"]?.doubleValue == 1000 && lines[2]["total"] == 2 && lines[2]["points"] == nil)
        let (distance, _) = try await run(["distance", "van"] + days, part(1_772_668_900), part(1_772_790_000))
        #expect(distance.lines.count == 2)
    }
}
