import Foundation
import ProgramTestKit
import Testing

@testable import SakerCommand

@Suite(.timeLimit(.minutes(5))) struct WebCommandTests {
    private static let key = "AKtest/0123&456"

    private func run(
        _ arguments: [String], _ answers: TinyWebServer.Answer...
    ) async throws -> (SakerProgram.Result, [String]) {
        let (server, url) = try await TinyWebServer.start(answers)
        let result = try await SakerProgram.run(
            arguments + ["--server", url, "--service-id", "42"], environment: ["SAKER_AK": Self.key])
        try await server.stop()
        #expect(!result.output.contains(Self.key) && !result.errors.contains(Self.key))
        return (result, server.requests)
    }

    @Test func theLatestPointIsShown() async throws {
        let body = """
            {"status":0,"message":"成功","latest_point":{"loc_time":1772670000,"latitude":31.2281,"longitude":121.4771,\
            "speed":45,"direction":220,"radius":3.5,"fuel":50}}
            """
        let (result, requests) = try await run(["track", "latest", "货车 07"], .init(body: body))
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.lines[0] == "Entity    货车 07")
        #expect(result.lines[1] == "Place     31.228100, 121.477100")
        #expect(result.lines[2].hasPrefix("Time      2026-03-05 00:20:00+00:00 ("))
        #expect(result.lines[3...6] == ["Speed     45.0 km/h", "Course    220°", "Accuracy  ±3.5 m", "fuel      50"])
        #expect(
            requests.first?.hasPrefix(
                "GET /api/v3/track/getlatestpoint?ak=AKtest%2F0123%26456&service_id=42&entity_name=%E8%B4%A7%E8%BD%A6%2007"
            ) == true)
        let (json, _) = try await run(["track", "latest", "van", "--json"], .init(body: body))
        #expect(json.output.contains(#""latest_point":{"#))
    }

    @Test func historyAsksForAllPagesAndAddsUp() async throws {
        func page(_ first: Int) -> TinyWebServer.Answer {
            .init(
                body: """
                    {"status":0,"total":5001,"size":1,"distance":1234.5,"points":[{"loc_time":\(first),\
                    "latitude":31.5,"longitude":-0.25,"create_time":"x","fuel":1.5}]}
                    """)
        }
        let (result, requests) = try await run(
            ["track", "history", "van", "--from", "2026-03-05T00:00:00Z", "--to", "2026-03-05T01:00:00Z"],
            page(1_772_668_800), page(1_772_668_801))
        #expect(result.status == 0, "\(result.errors)")
        #expect(
            result.lines == [
                "TIME                         LATITUDE    LONGITUDE   KM/H  COURSE  ALT M  ACC M",
                "2026-03-05 00:00:00+00:00   31.500000    -0.250000",
                "    fuel=1.5",
                "2026-03-05 00:00:01+00:00   31.500000    -0.250000",
                "    fuel=1.5",
                "",
                "2 points, 1.2 km", "",
            ])
        #expect(requests.count == 2)
        #expect(requests.first?.contains("start_time=1772668800&end_time=1772672400&") == true)
        #expect(requests.last?.contains("page_index=2&") == true)
    }

    private static let hour = ["--from", "2026-03-05T00:00:00Z", "--to", "2026-03-05T01:00:00Z"]

    @Test func staysAreListed() async throws {
        let (result, requests) = try await run(
            ["track", "stays", "van", "--least", "300"] + Self.hour,
            .init(
                body: """
                    {"status":0,"staypoint_num":2,"stay_points":[{"start_time":1772668800,"end_time":1772669400,\
                    "duration":600,"stay_point":{"longitude":-0.25,"latitude":31.5}},{"start_time":1772670000,\
                    "end_time":1772672400,"duration":2400,"open":"end","stay_point":{"longitude":-0.3,"latitude":31.6}}]}
                    """))
        #expect(
            result.lines == [
                "FROM                       TO                   DURATION  PLACE",
                "2026-03-05 00:00:00+00:00  2026-03-05 00:10:00    10 min  31.500000, -0.250000",
                "2026-03-05 00:20:00+00:00  goes on                40 min  31.600000, -0.300000", "", "2 stays",
                "",
            ])
        #expect(requests.first?.contains("GET /api/v3/analysis/staypoint?") == true)
        #expect(requests.first?.contains("stay_time=300&stay_radius=20") == true)
    }

    @Test func tripsAndDistancesOfDaysAreOneAnswer() async throws {
        func trip(_ start: Int) -> String {
            """
            {"start_time":\(start),"end_time":\(start + 600),"duration":600,"distance":1500.5,"unrecorded_distance":0,\
            "max_speed":61.2,"start_point":{"longitude":1,"latitude":2},"end_point":{"longitude":3,"latitude":4}}
            """
        }
        let days = ["--from", "2026-03-05T00:00:00Z", "--to", "2026-03-06T12:00:00Z"]
        let (result, requests) = try await run(
            ["track", "trips", "van"] + days,
            .init(body: #"{"status":0,"trip_num":2,"trips":[\#(trip(1_772_668_800)),\#(trip(1_772_790_000))]}"#))
        #expect(requests.count == 1)
        #expect(requests.first?.contains("start_time=1772668800&end_time=1772798400&long_range=1&") == true)
        #expect(result.lines.count == 6)
        #expect(
            result.lines[1]
                == "2026-03-05 00:00:00+00:00  2026-03-05 00:10:00    10 min    1.5 km        61  "
                + "2.000000, 1.000000  4.000000, 3.000000"
        )
        #expect(result.lines[4] == "2 trips, 3.0 km")
        let (distance, asked) = try await run(
            ["track", "distance", "van", "--denoise", "2", "--travel", "riding"] + days,
            .init(body: #"{"status":0,"distance":3000}"#))
        #expect(distance.output == "3.0 km\n")
        #expect(
            asked.first?.contains("is_processed=1&process_option=denoise_grade%3D2%2Ctransport_mode%3Driding") == true)
    }

    @Test func drivingIsTold() async throws {
        let (result, requests) = try await run(
            ["track", "driving", "van", "--speed-limit", "80"] + Self.hour,
            .init(
                body: """
                    {"status":0,"distance":36000,"duration":3600,"average_speed":36,"max_speed":95.5,"speeding":[\
                    {"speeding_distance":400,"speeding_points":[{"longitude":1,"latitude":2,"loc_time":1772669400,\
                    "actual_speed":95.5,"limit_speed":80}]}],"harsh_breaking":[{"longitude":1,"latitude":2,\
                    "loc_time":1772668801,"acceleration":-2.5,"initial_speed":36,"end_speed":18}],\
                    "harsh":{"rated":0.1,"state":"insufficient_rate"}}
                    """))
        #expect(
            result.lines == [
                "Distance  36.0 km", "Duration  1 h", "Average   36.0 km/h", "Fastest   95.5 km/h", "",
                "TIME                       EVENT     DETAIL                    PLACE",
                "2026-03-05 00:00:01+00:00  braking   -2.5 m/s², 36 to 18 km/h  2.000000, 1.000000",
                "2026-03-05 00:10:00+00:00  speeding  400 m over 80 km/h        2.000000, 1.000000", "",
                "Most points are more than 3 s apart: harsh events may be missing. A gather interval of 2 s shows them.",
                "",
            ])
        #expect(requests.first?.contains("speeding_threshold=80") == true)
    }

    @Test(arguments: [
        ["distance", "--denoise", "6"], ["distance", "--thin", "-1"], ["history", "--radius", "0"],
        ["history", "--travel", "flying"], ["stays", "--least", "0"], ["stays", "--within", "501"],
        ["driving", "--speed-limit", "-80"], ["driving", "--speed-limit", "nan"],
    ])
    func whatNoServerTakesIsNotSent(arguments: [String]) async throws {
        let (result, requests) = try await run(["track", arguments[0], "van"] + Self.hour + arguments.dropFirst())
        #expect(result.status == 2, "\(result.errors)")
        #expect(requests.isEmpty)
    }

    @Test func anythingThatAServerAnswersCanBeShown() async throws {
        let odd = """
            {"status":0,"distance":1e308,"duration":9223372036854775807,"stay_points":[{},null,{"duration":-9223372036854775808}],\
            "trips":[{"start_time":9223372036854775807}],"speeding":[{}],"harsh_steering":[7]}
            """
        for command in ["stays", "trips", "driving", "distance"] {
            let (result, _) = try await run(["track", command, "van"] + Self.hour, .init(body: odd))
            #expect(result.status == 0, "\(result.errors)")
        }
    }

    @Test func anEmptyTrackAndAnEmptyServiceAreNoErrors() async throws {
        let zeros = #"{"status":0,"latest_point":{"loc_time":0,"latitude":0,"longitude":0}}"#
        #expect(try await run(["track", "latest", "van"], .init(body: zeros)).0.output == "van has no point yet.\n")
        let nothing = #"{"status":3003,"message":"指定entity不存在","total":0,"size":0,"entities":[]}"#
        let (list, _) = try await run(["entity", "list"], .init(body: nothing))
        #expect(list.status == 0)
        #expect(list.output == "The service has no entity yet.\n")
    }

    @Test func entitiesAreListedAndAdded() async throws {
        let body = """
            {"status":0,"total":2,"size":2,"entities":[{"entity_name":"货车 07","entity_desc":"blue","latest_location":\
            {"loc_time":1772670000,"latitude":31.2281,"longitude":121.4771}},{"entity_name":"van"}]}
            """
        let (list, _) = try await run(["entity", "list"], .init(body: body))
        #expect(list.lines[1].hasPrefix("货车 07  2026-03-05 00:20:00+00:00  "))
        #expect(list.lines[1].hasSuffix("  31.228100, 121.477100  blue"))
        #expect(list.lines[2].hasPrefix("van      never"))
        let (added, requests) = try await run(
            ["entity", "add", "van", "--description", "blue van"], .init(body: #"{"status":0,"message":"ok"}"#))
        #expect(added.output == "Added van.\n")
        #expect(requests.first?.hasPrefix("POST /api/v3/entity/add HTTP") == true)
        #expect(requests.first?.hasSuffix("entity_name=van&entity_desc=blue%20van") == true)
    }

    @Test func entitiesAreFoundByTextAndByPlace() async throws {
        let body = """
            {"status":0,"total":1,"size":1,"entities":[{"entity_name":"van","latest_location":\
            {"loc_time":1772670000,"latitude":31.2281,"longitude":121.4771,"distance":120.4}}]}
            """
        let (near, asked) = try await run(["entity", "near", "31.22,121.47", "--radius", "500"], .init(body: body))
        #expect(near.status == 0, "\(near.errors)")
        #expect(near.lines[0].contains("DISTANCE"))
        #expect(
            near.lines[1].hasPrefix("van     2026-03-05 00:20:00+00:00  ") && near.lines[1].contains("  120 m"),
            "\(near.lines)")
        let expected =
            "center=31.22%2C121.47&radius=500&coord_type_input=wgs84&sortby=distance&coord_type_output=wgs84&page_index=1"
        #expect(asked.first?.contains("GET /api/v3/entity/aroundsearch?") == true)
        #expect(asked.first?.contains(expected) == true, "\(asked)")
        let searches: [([String], String)] = [
            (
                ["search", "货 车", "--sort", "loc_time:desc"],
                "entity/search?query=%E8%B4%A7%20%E8%BD%A6&sortby=loc_time%3Adesc"
            ),
            (
                ["within", "--bounds", "-1,2;3,4"],
                "entity/boundsearch?bounds=-1.0%2C2.0%3B3.0%2C4.0&coord_type_input=wgs84"
            ),
            (
                ["within", "--polygon", "1,2; 3,4 ;5,6"],
                "entity/polygonsearch?vertexes=1.0%2C2.0%3B3.0%2C4.0%3B5.0%2C6.0&coord_type_input=wgs84"
            ),
            (["within", "--district", "x"], "entity/districtsearch?keyword=x"),
        ]
        for (arguments, call) in searches {
            let (result, requests) = try await run(["entity"] + arguments, .init(body: body))
            #expect(result.lines.count == 3 && result.lines[1].hasPrefix("van "), "\(result.errors)")
            #expect(!result.lines[0].contains("DISTANCE"))
            let request = requests.first?.replacing("ak=AKtest%2F0123%26456&service_id=42&", with: "")
            #expect(request?.hasPrefix("GET /api/v3/\(call)&") == true, "\(requests)")
        }
        let (json, _) = try await run(["entity", "search", "v", "--json"], .init(body: body))
        #expect(json.output.contains(#""entities":[{"#))
        let nothing = #"{"status":3003,"message":"指定entity不存在","total":0,"size":0,"entities":[]}"#
        #expect(try await run(["entity", "search", "v"], .init(body: nothing)).0.output == "Nothing was found.\n")
    }

    @Test(arguments: [
        ["search"], ["near"], ["near", "1"], ["near", "1,2", "--radius", "0"], ["near", "1,2", "--radius", "5001"],
        ["near", "nan,2"], ["within"], ["within", "--bounds", "1,2"], ["within", "--bounds", "1,2;3,4;5,6"],
        ["within", "--polygon", "1,2;3,4"], ["within", "--bounds", "1,2;3,4", "--district", "x"],
        ["within", "--bounds", "1,2;300,4"],
    ])
    func aSearchThatIsNoneIsWrongUsage(arguments: [String]) async throws {
        let (result, requests) = try await run(["entity"] + arguments)
        #expect(result.status == 2, "\(result.output)")
        #expect(requests.isEmpty)
    }

    @Test func aRefusalIsExitCode1WithWhatToDo() async throws {
        let (result, _) = try await run(
            ["track", "latest", "van"], .init(body: "{\"status\":3003,\"message\":\"指定entity不存在\\u001b\"}"))
        #expect(result.status == 1)
        #expect(result.errors.contains("saker entity list"))
        #expect(!result.errors.contains("\u{1B}"))
    }

    @Test(arguments: [
        (3003, "指定entity不存在", "(status 3003): there is no such entity (saker entity list shows all entities)"),
        (2, "参数错误: page_size: 1 to 5000", "(status 2): a value breaks a rule: page_size: 1 to 5000"),
        (240, "APP 服务被禁用: not about 货车 08", "(status 240): this is not allowed: not about 货车 08"),
        (9999, "没有", "(status 9999)"), (9999, "no: never", "(status 9999): no: never"),
    ])
    func aRefusalIsToldInOneLanguage(status: Int, message: String, told: String) async throws {
        let (result, _) = try await run(
            ["track", "latest", "van"], .init(body: "{\"status\":\(status),\"message\":\"\(message)\"}"))
        #expect(result.errors.hasSuffix("the server refused \(told)\n"), "\(result.errors)")
    }

    @Test func withoutAnAgentTheEntityMustBeNamed() async throws {
        for command in [["track", "latest"], ["track", "history", "--from", "1h ago"]] {
            let (result, requests) = try await run(command)
            #expect(result.status == 2 && result.errors.contains("which entity?"), "\(result.errors)")
            #expect(requests.isEmpty)
        }
    }

    @Test(arguments: ["", "<html>", "[]", #"{"status":"0"}"#])
    func anAnswerThatIsNoneIsExitCode1(body: String) async throws {
        let (result, _) = try await run(["track", "latest", "van"], .init(body: body))
        #expect(result.status == 1)
        let (error, _) = try await run(["track", "latest", "van"], .init(status: "502 Bad Gateway", body: body))
        #expect(error.status == 1)
        #expect(error.errors.contains("502"))
    }

    @Test func aServerThatCannotBeReachedIsExitCode3() async throws {
        let url = "http://127.0.0.1:\(try freePort())"
        let result = try await SakerProgram.run(
            ["track", "latest", "van", "--server", url, "--service-id", "1"], environment: ["SAKER_AK": Self.key])
        #expect(result.status == 3)
        #expect(result.errors.contains("Connection refused"))
        #expect(!result.errors.contains(Self.key))
    }

    @Test func theKeyComesFromAFileOrStandardInputToo() async throws {
        let directory = try TemporaryDirectory()
        try "\(Self.key)\n".write(toFile: directory.path + "/key", atomically: true, encoding: .utf8)
        try """
        [server]
        service_id = 42
        ak_file = "key"
        """.write(toFile: directory.path + "/client.toml", atomically: true, encoding: .utf8)
        let answer = TinyWebServer.Answer(body: #"{"status":0}"#)
        let (server, url) = try await TinyWebServer.start([answer, answer, answer])
        let base = ["track", "latest", "van", "--server", url]
        let ways: [([String], String?)] = [
            (["--service-id", "42", "--ak-file", directory.path + "/key"], nil),
            (["--service-id", "42", "--ak-file", "-"], Self.key), (["--config", directory.path + "/client.toml"], nil),
        ]
        for (arguments, input) in ways {
            let result = try await SakerProgram.run(base + arguments, input: input)
            #expect(result.status == 0, "\(result.errors)")
        }
        #expect(server.requests.allSatisfy { $0.contains("?ak=AKtest%2F0123%26456&service_id=42&") })
        #expect(server.requests.count == 3)
        let without = try await SakerProgram.run(base + ["--service-id", "42"])
        #expect(without.status == 2)
        #expect(without.errors.contains("SAKER_AK"))
        try await server.stop()
    }
}
