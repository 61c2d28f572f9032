import AgentControl
import FenceCommands
import Foundation
import JSON
import ProgramTestKit
import Testing

@testable import SakerCommand

/// Files of points on their way to the agent: what is right is sent, what is not is left out and told.
@Suite(.timeLimit(.minutes(5))) struct PointFileTests {
    private func file(_ directory: TemporaryDirectory, _ name: String, _ text: String) throws -> String {
        let path = directory.path + "/" + name
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// The points that would be sent, the number of those left out, and the notes.
    private func read(
        _ text: String, _ rules: PointFileRules = PointFileRules()
    ) throws -> (points: [JSONValue], leftOut: Int64, first: String, notes: [String]) {
        let directory = try TemporaryDirectory()
        var (source, points) = (try PointFile(try file(directory, "a", text), times: rules), [JSONValue]())
        while let point = try source.next() { points.append(point.value) }
        return (points, source.leftOut.count, source.leftOut.first, source.notes)
    }

    private func rules(format: String? = nil, zone: String? = nil) throws -> PointFileRules {
        var options = PointFileOptions()
        (options.timeFormat, options.timeZone, options.encoding) = (format, zone, nil)
        return try options.rules()
    }

    init() {
        _ = LocalZone.isUTC
    }

    @Test func oneBadNumberCostsOneRow() async throws {
        let agent = try await ScriptedServer.start([
            "AddPoints": .turns([.reply(["stored": 1000, "refused": []]), .reply(["stored": 500, "refused": []])])
        ])
        let directory = try TemporaryDirectory()
        let rows = (0..<1500).map { "\(1_772_670_030 + $0),31.5,121.5\n" }
        let path = try file(
            directory, "a.csv",
            "time,lat,lon\n" + rows[..<700].joined() + "1772670030,95,2\nsoon,1,2\n" + rows[700...].joined())
        let result = try await agent.saker("point", "import", path)
        #expect(result.status == 1)
        #expect(
            result.errors.contains("\(path): line 702: latitude 95.0 must be a number from -90 to 90"),
            "\(result.errors)")
        #expect(result.errors.contains("\(path): line 703: time 'soon' is no time"))
        #expect(result.errors.hasSuffix("\(path): 2 points left out; the others are stored\n"))
        #expect(result.output.contains("1,500 of 1,502 points, 99 %") && !result.output.contains("100 %"))
        #expect(result.output.hasSuffix("The server has stored 1,500 points.\n"))
        #expect(try await agent.asked.map { $0.parameters["points"]?.arrayValue?.count } == [1000, 500])
        let trial = try await agent.saker("point", "import", path, "--dry-run")
        #expect(trial.status == 1 && trial.output.contains("1,500 points would be sent"), "\(trial.output)")
        #expect(try await agent.asked.count == 2)
        try await agent.stop()
    }

    @Test func aPartIsNeverTheWhole() async throws {
        let agent = try await ScriptedServer.start([
            "AddPoints": .reply(["stored": 2, "refused": [["index": 1, "reason": "too old"]]])
        ])
        let directory = try TemporaryDirectory()
        let path = try file(
            directory, "a.geojson",
            #"""
            {"type":"Feature","geometry":{"type":"MultiLineString","coordinates":[[[4,52],[5,52]],[[6,52],["x"]]]},
             "properties":{"coordTimes":[["2026-03-05T08:20:12Z","2026-03-05T08:20:13Z"],
             ["2026-03-05T08:20:14Z","2026-03-05T08:20:15Z"]]}}
            """#)
        let result = try await agent.saker("point", "import", path)
        #expect(result.status == 1 && !result.output.contains("100 %"), "\(result.output)")
        #expect(result.output.contains("2 of 4 points, 50 %"))
        #expect(result.errors.contains("1 point refused, 1 point left out; the others are stored"), "\(result.errors)")
        let sent = try await agent.asked.first?.parameters["points"]?.arrayValue
        #expect(sent?.map { $0["longitude"] } == [4.0, 5.0, 6.0])
        try await agent.stop()
    }

    /// The server keeps one point of one time.
    @Test func pointsOfOneTimeAreNotCountedTwice() async throws {
        let agent = try await ScriptedServer.start([
            "AddPoints": .turns([
                .reply(["stored": 4, "refused": []]), .reply(["stored": 3, "refused": [["index": 3, "reason": "x"]]]),
                .reply(["stored": 2, "refused": []]),
            ])
        ])
        let directory = try TemporaryDirectory()
        let path = try file(
            directory, "a.geojson",
            #"""
            {"type":"FeatureCollection","features":[{"type":"Feature","properties":{"time":"2026-03-05T08:20:12Z"},
             "geometry":{"type":"MultiPoint","coordinates":[[4,52],[5,52],[6,52]]}},{"type":"Feature",
             "properties":{"time":"2026-03-05T08:20:11Z"},"geometry":{"type":"Point","coordinates":[4,52]}}]}
            """#)
        let result = try await agent.saker("point", "import", path)
        #expect(result.status == 0, "\(result.errors)")
        #expect(
            result.output.hasSuffix(
                "The server has stored 2 points. 2 points have the time of another one: of one time the server keeps the"
                    + " point that came last.\n"), "\(result.output)")
        // A point that is refused replaces none.
        let json = try await agent.saker("point", "import", path, "--json")
        #expect(json.output.hasSuffix(#""refused":1,"replaced":2,"stored":1}"# + "\n"), "\(json.output)")
        let two = try file(directory, "a.csv", "time,lat,lon\n1772698812,1,2\n1772698812,1,3\n")
        let last = try await agent.saker("point", "import", two)
        #expect(last.output.contains("has stored 1 point. 1 point has the time of another one:"), "\(last.output)")
        try await agent.stop()
    }

    @Test(
        arguments: [
            ("12.5", 12.5), (" 12.5 ", 12.5), ("1e1", 10), ("-430", -430), ("", nil), ("NaN", nil), ("nan", nil),
            ("-19999", nil),
            ("3.4e38", nil), ("1e999", nil), ("-9999", nil), ("high", nil), ("12 m", nil), ("null", nil),
        ] as [(String, Double?)])
    func aHeightThatCannotBeIsUnknownAndThePointStays(text: String, height: Double?) throws {
        for file in [
            "<gpx><trkpt lat=\"1\" lon=\"2\"><ele>\(text)</ele><time>2026-03-05T08:20:12Z</time></trkpt></gpx>",
            "time,lat,lon,alt\n1772698812,1,2,\(text)\n",
            "<kml><Track><when>2026-03-05T08:20:12Z</when><coord>2 1</coord><SimpleArrayData name=\"altitude\"><value>\(text)</value></SimpleArrayData></Track></kml>",
            #"{"type":"Feature","geometry":{"type":"Point","coordinates":[2,1]},"properties":{"time":1772698812,"altitude":"\#(text)"}}"#,
        ] {
            let read = try read(file)
            #expect(read.points.count == 1 && read.leftOut == 0, "\(file): \(read)")
            #expect(read.points.first?["altitude"] == height.map(JSONValue.double), "\(file)")
            let isTold = read.notes.contains { $0.contains("no height that can be") }
            #expect(isTold == (height == nil && !["", "NaN", "nan", "null"].contains(text)), "\(file): \(read.notes)")
        }
        let json = try read(
            #"{"type":"Feature","geometry":{"type":"Point","coordinates":[2,1,NaN]},"properties":{"time":1772698812}}"#)
        #expect(json.points.count == 1 && json.points.first?["altitude"] == nil)
    }

    @Test(arguments: [
        "12 km/h", "1_000", "0x10", "٣", "1,5", "--1", "fast", "-2", "1e300", "12.512.5",
    ])
    func aBadSpeedCostsItsRow(text: String) throws {
        for file in [
            "<gpx><trkpt lat=\"1\" lon=\"2\"><time>2026-03-05T08:20:12Z</time><speed>\(text)</speed></trkpt><trkpt lat=\"1\" lon=\"2\"><time>2026-03-05T08:20:13Z</time></trkpt></gpx>",
            "time;lat;lon;speed\n1772698812;1.5;2;\(text)\n1772698813;1.5;2;3\n",
        ] {
            let read = try read(file)
            #expect(read.points.count == 1 && read.leftOut == 1 && read.first.contains("speed"), "\(file): \(read)")
        }
    }

    @Test(arguments: ["", "NaN", "-1", "-1.0", "n/a"])
    func anUnknownSpeedIsUnknown(text: String) throws {
        let read = try read("time,lat,lon,speed,course,accuracy\n1772698812,1,2,\(text),\(text),\(text)\n")
        #expect(read.points == [["time": 1_772_698_812_000, "latitude": 1.0, "longitude": 2.0]], "\(read)")
    }

    @Test(arguments: ["260305082012", "20260305082012", "1772698812000000"])
    func aNumberThatMayBeSeveralTimesIsNotGuessed(text: String) throws {
        let read = try read("time,lat,lon\n\(text),1,2\n")
        #expect(read.points.isEmpty && read.first.contains("--time-format") && read.first.contains(text), "\(read)")
        let formats = [12: "YYMMDDhhmmss", 14: "YYYYMMDDhhmmss", 16: "us"]
        let choice = try rules(format: formats[text.count], zone: "utc")
        let chosen = try self.read("time,lat,lon\n\(text),1,2\n", choice)
        #expect(chosen.points.first?["time"] == 1_772_698_812_000)
    }

    @Test(arguments: ["now", "yesterday", "2h ago", "2026-03-05", "1979-12-31T00:00:00Z", "100000000"])
    func whatIsNoTimeOfAPointIsLeftOut(text: String) throws {
        let read = try read("time,lat,lon\n\(text),1,2\n1772698812,1,2\n")
        #expect(read.points.count == 1 && read.leftOut == 1 && read.first.contains(text), "\(read)")
    }

    /// GPX says that its times are UTC. This process is in the zone of the test; a program is asked in another.
    @Test func timesWithoutAZone() async throws {
        let agent = try await ScriptedServer.start(["AddPoints": .reply(["stored": 1, "refused": []])])
        let directory = try TemporaryDirectory()
        let time = "2026-03-05T08:20:12"
        let files = [
            ("a.gpx", "<gpx><trkpt lat=\"1\" lon=\"2\"><time>\(time)</time></trkpt></gpx>", 0),
            ("a.kml", "<kml><Track><when>\(time)</when><coord>2 1</coord></Track></kml>", 0),
            (
                "a.geojson",
                #"{"type":"Feature","geometry":{"type":"Point","coordinates":[2,1]},"properties":{"time":"\#(time)"}}"#,
                0
            ),
            ("a.csv", "time,lat,lon\n\(time),1,2\n", 8),
        ]
        for (name, text, hours) in files {
            let path = try file(directory, name, text)
            let zone = ["TZ": "Asia/Shanghai"]
            let arguments = ["point", "import", path, "--socket", agent.path]
            let result = try await SakerProgram.run(arguments, environment: zone)
            #expect(result.status == 0, "\(result.errors)")
            #expect(
                result.errors.contains(hours == 0 ? "as those of UTC" : "as those of the local zone (+08:00)"),
                "\(result.errors)")
            var sent = try await agent.asked.last?.parameters["points"]?.arrayValue?.first?["time"]?.integerValue
            #expect(sent == 1_772_698_812_000 - Int64(hours) * 3_600_000, "\(name)")
            _ = try await SakerProgram.run(arguments + ["--time-zone", "+01:00"], environment: zone)
            sent = try await agent.asked.last?.parameters["points"]?.arrayValue?.first?["time"]?.integerValue
            let expected: Int64 = 1_772_695_212_000
            #expect(sent == expected, "\(name)")
        }
        let wrong = try await agent.saker("point", "import", "x", "--time-zone", "Mars/Olympus")
        #expect(wrong.status == 2 && wrong.errors.contains("'Mars/Olympus' is no zone"), "\(wrong.errors)")
        try await agent.stop()
    }

    @Test func anHourThatIsShownTwiceIsNoGuess() throws {
        let berlin = try FileZone("Europe/Berlin")
        // 2026-10-25: 3:00 becomes 2:00. 2026-03-29: 2:00 becomes 3:00.
        #expect(try berlin.milliseconds(1_792_889_999_000) == 1_792_882_799_000)
        #expect(throws: FileZone.Failure.self) { try berlin.milliseconds(1_792_895_400_000) }
        #expect(throws: FileZone.Failure.self) { try berlin.milliseconds(1_774_751_400_000) }
        #expect(try berlin.milliseconds(1_774_754_000_000) == 1_774_746_800_000)
        #expect(try FileZone("-05:30").milliseconds(0) == 19_800_000)
        #expect(try FileZone("utc").milliseconds(5) == 5 && FileZone("local").milliseconds(5) == 5)
    }

    @Test func fenceTestTellsWhatItLeavesOut() async throws {
        let folder = try FenceFolder()
        let fences = try folder.collection("f.geojson", FenceFolder.point("\"a\"", #""radius":100"#))
        let track = try folder.file("t.csv", "time,lat,lon\n1772698812,40,115.9\n1772698813,x,116\n1772698814,40,116\n")
        let result = try await SakerProgram.run(["fence", "test", track, "--fences", fences])
        #expect(result.status == 1 && result.output.contains("along 2 points"), "\(result.output) \(result.errors)")
        #expect(
            result.errors.contains("line 3: latitude 'x' is no number") && result.errors.contains("1 point left out"))
    }
}
