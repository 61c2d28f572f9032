import AgentControl
import FenceCommands
import Foundation
import JSON
import ProgramTestKit
import Testing
import Varlink

@testable import SakerCommand

@Suite(.timeLimit(.minutes(5))) struct PointCommandTests {
    private static let stored: ScriptedAgent.Answer = .reply(["stored": 1, "refused": []])

    @Test func onePointIsSentWithWhatIsKnownOfIt() async throws {
        let agent = try await ScriptedServer.start(["AddPoints": Self.stored])
        let result = try await agent.saker(
            "point", "add", "--lat", "31.5", "--lon=-121.25", "--time", "2026-03-05T08:20:12Z", "--speed", "12.5",
            "--entity", "van", "--attribute", "fuel=51", "--attribute", "full=0.5", "--attribute", "driver=Li Wei",
            "--attribute", "code=\"7\"")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output == "The server has stored the point.\n")
        #expect(
            try await agent.asked == [
                .init(
                    method: "AddPoints",
                    parameters: [
                        "entity": "van",
                        "points": [
                            [
                                "time": 1_772_698_812_000, "latitude": 31.5, "longitude": -121.25, "speed": 12.5,
                                "attributes": ["fuel": 51, "full": 0.5, "driver": "Li Wei", "code": "7"],
                            ]
                        ],
                    ])
            ])
        let json = try await agent.saker("point", "add", "--lat", "1", "--lon", "2", "--json")
        #expect(json.output == "{\"refused\":[],\"stored\":1}\n")
        try await agent.stop()
    }

    /// Ushuaia's harbour, and a place below the sea: west, south and down as a person types them.
    @Test func aWesternAndSouthernPlaceIsTakenAsItIsTyped() async throws {
        let agent = try await ScriptedServer.start(["AddPoints": Self.stored])
        let result = try await agent.saker(
            "point", "add", "--lat", "-54.8", "--lon", "-68.3", "--altitude", "-3.5", "--attribute", "temp=-5",
            "--time", "2026-03-05T08:20:12Z")
        #expect(result.status == 0, "\(result.errors)")
        let point = try await agent.asked.first?.parameters["points"]?.arrayValue?.first
        #expect(point?["latitude"] == -54.8 && point?["longitude"] == -68.3 && point?["altitude"] == -3.5)
        #expect(point?["attributes"] == ["temp": -5])
        try await agent.stop()
    }

    /// A number that breaks a rule is answered with the rule, not with "missing value".
    @Test(arguments: [
        ["point", "add", "--lat", "1", "--lon", "2", "--speed", "-1"], ["point", "import", "x", "--skip", "-1"],
        ["alarms", "--limit", "-1"], ["point", "add", "--lat", "-91", "--lon", "2"],
    ])
    func aNegativeNumberThatMayNotBeIsNotAMissingValue(arguments: [String]) async throws {
        let result = try await SakerProgram.run(arguments)
        #expect(result.status == 2 && !result.errors.contains("Missing value"), "\(result.errors)")
    }

    @Test(arguments: [
        ["point", "add", "--lat", "91", "--lon", "2"], ["point", "add", "--lat", "1"],
        ["point", "add", "--lat", "1", "--lon", "2", "--speed=-1"],
        ["point", "add", "--lat", "1", "--lon", "2", "--time", "soon"],
        ["point", "add", "--lat", "1", "--lon", "2", "--attribute", "fuel"],
        ["point", "add", "--lat", "1", "--lon", "2", "--entity", "a;b"], ["point", "import"],
        ["point", "import", "x", "--skip=-1"],
    ]) func wrongUsageIsExitCode2(arguments: [String]) async throws {
        let result = try await SakerProgram.run(arguments)
        #expect(result.status == 2, "\(result.errors)")
    }

    @Test func aRefusedPointIsExitCode1() async throws {
        let agent = try await ScriptedServer.start([
            "AddPoints": .reply(["stored": 0, "refused": [["index": 0, "reason": "time 5 ms is too far ahead"]]])
        ])
        let result = try await agent.saker("point", "add", "--lat", "1", "--lon", "2")
        #expect(result.status == 1)
        #expect(result.errors.contains("time 5 ms is too far ahead"))
        try await agent.stop()
    }

    private func file(_ directory: TemporaryDirectory, _ name: String, _ text: String) throws -> String {
        let path = directory.path + "/" + name
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    private func table(_ rows: Int) -> String {
        "time,lat,lon,fuel\n" + (0..<rows).map { "\(1_772_670_030 + $0),31.5,121.5,\($0)\n" }.joined()
    }

    @Test func aTextOfGeoJSONStaysAText() async throws {
        let agent = try await ScriptedServer.start(["AddPoints": .reply(["stored": 1, "refused": []])])
        let directory = try TemporaryDirectory()
        let path = try file(
            directory, "tour.geojson",
            """
            {"type":"Feature","geometry":{"type":"LineString","coordinates":[[4,52]]},"properties":{"tour":"007",
            "fuel":51,"floor":1,"coordinateProperties":{"times":["2026-03-05T08:20:12Z"],"floor":["3"]}}}
            """)
        let result = try await agent.saker("point", "import", path)
        #expect(result.status == 0, "\(result.errors)")
        let sent = try await agent.asked.first?.parameters["points"]?.arrayValue?.first
        #expect(sent?["attributes"] == ["tour": "007", "fuel": 51, "floor": "3"])
        try await agent.stop()
    }

    @Test func aFileGoesInPieces() async throws {
        let agent = try await ScriptedServer.start(["AddPoints": .reply(["stored": 1000, "refused": []])])
        let directory = try TemporaryDirectory()
        let path = try file(directory, "long.csv", table(2500))
        let result = try await agent.saker("point", "import", path, "--entity", "van")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.lines.suffix(3) == ["2,500 of 2,500 points, 100 %", "The server has stored 3,000 points.", ""])
        let asked = try await agent.asked
        #expect(asked.map { $0.parameters["points"]?.arrayValue?.count } == [1000, 1000, 500])
        #expect(asked.allSatisfy { $0.parameters["entity"] == "van" })
        let first = asked.first?.parameters["points"]?.arrayValue?.first
        #expect(
            first == ["time": 1_772_670_030_000, "latitude": 31.5, "longitude": 121.5, "attributes": ["fuel": 0]])
        let rest = try await agent.saker("point", "import", path, "--skip", "2400", "--json")
        #expect(rest.output == "{\"ignored\":[],\"left_out\":0,\"refused\":0,\"replaced\":0,\"stored\":1000}\n")
        #expect(try await agent.asked.last?.parameters["points"]?.arrayValue?.count == 100)
        try await agent.stop()
    }

    @Test func theBarShowsHowFarItIs() {
        var work = ImportWork(file: "x", command: "saker point import x", total: 3000, skipped: 0, isShown: false)
        #expect(work.bar == "[------------------------------] 0 of 3,000 points")
        let chunk = Array(repeating: PointFile.Point(place: "line 2", value: [:]), count: 1500)
        work.took(AddPointsReply(stored: 1500, refused: []), of: chunk)
        #expect(work.bar == "[###############---------------] 1,500 of 3,000 points")
        #expect(work.advice(from: nil).hasSuffix("saker point import x --skip 1500"))
        work.took(AddPointsReply(stored: 1500, refused: []), of: chunk)
        #expect(work.bar == "[##############################] 3,000 of 3,000 points")
    }

    @Test func anErrorNamesFileLineAndValueAndNothingIsSent() async throws {
        let agent = try await ScriptedServer.start(["AddPoints": Self.stored])
        let directory = try TemporaryDirectory()
        // Nothing in them can be sent.
        let cases = [
            ("b.csv", "time,lat,lon\nsoon,1,2\n", "line 2: time 'soon' is no time"),
            ("c.csv", "time,lat,lon\n1772670030,one,2\n", "line 2: latitude 'one' is no number"),
            ("d.gpx", "<gpx><trkpt lat=\"1\" lon=\"2\"/></gpx>", "line 1: the point has no time"),
            ("e.csv", "time,lat,lon\n", "no point in it"), ("f.json", "{", "no JSON"),
        ]
        for (name, text, reason) in cases {
            let path = try file(directory, name, text)
            let result = try await agent.saker("point", "import", path)
            #expect(result.status == 1)
            #expect(result.errors.contains(path) && result.errors.contains(reason), "\(result.errors)")
        }
        #expect(try await agent.saker("point", "import", directory.path + "/none").status == 1)
        #expect(try await agent.asked.isEmpty)
        try await agent.stop()
    }

    @Test func whatIsLeftAfterAFailureIsToldWithTheCommandForIt() async throws {
        let error = AgentControlError(.networkError, in: .addPoints, reason: "the server cannot be reached")
        let agent = try await ScriptedServer.start([
            "AddPoints": .error(error.varlinkError.name, error.varlinkError.parameters)
        ])
        let directory = try TemporaryDirectory()
        let path = try file(directory, "it's here.csv", table(30))
        let result = try await agent.saker(
            "point", "import", path, "--skip", "10", "--entity", "van 07", "--time-zone", "+08:00", "--encoding",
            "utf-8")
        #expect(result.status == 3)
        let told = result.errors.replacing("\n", with: " ")
        #expect(told.contains("from line 12 on"), "\(told)")
        let quoted = "'\(directory.path)/it'\\''s here.csv'"
        #expect(
            told.contains(" \(quoted) ")
                && told.contains(" --entity 'van 07' --time-zone +08:00 --encoding utf-8 --skip 10"), "\(told)")
        try await agent.stop()
    }

    @Test func refusedPointsAreToldWithTheirLines() async throws {
        let agent = try await ScriptedServer.start([
            "AddPoints": .reply(["stored": 2, "refused": [["index": 1, "reason": "too old"]]])
        ])
        let directory = try TemporaryDirectory()
        let path = try file(directory, "a.csv", table(3))
        let result = try await agent.saker("point", "import", path)
        #expect(result.status == 1)
        #expect(result.errors.contains("\(path): line 3: refused: too old"))
        #expect(result.errors.contains("\(path): 1 point refused; the others are stored"))
        try await agent.stop()
    }
}
