import Foundation
import JSON
import ProgramTestKit
import Testing

@testable import SakerCommand

/// `saker fence test`, and how files become fences.
@Suite(.timeLimit(.minutes(5))) struct FenceTestTests {
    private func test(_ arguments: String...) async throws -> SakerProgram.Result {
        // A socket on which nobody listens: none of this needs an agent.
        try await SakerProgram.run(["fence", "test"] + arguments, environment: ["SAKER_SOCKET": "/nowhere"])
    }

    @Test func aTrackIsTriedWithoutAnAgent() async throws {
        let folder = try FenceFolder()
        let fences = try folder.collection(
            "fences.geojson", FenceFolder.point("17", #""name":"Gate","radius":100"#),
            FenceFolder.point("\"b\"", #""name":"Elsewhere","radius":100"#, at: 117))
        let result = try await test(try folder.drive(), "--fences", fences, "--stay", "10")
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        #expect(
            result.output == """
                TIME                       ACTION  FENCE  NAME  PLACE                  DETAIL
                2026-03-05 08:20:15+00:00  enter      17  Gate  40.000000, 115.998829
                2026-03-05 08:20:25+00:00  stay       17  Gate  40.000000, 116.000000  inside for 10 s
                2026-03-05 08:20:34+00:00  exit       17  Gate  40.000000, 116.001171  inside for 19 s

                3 alarms of 2 fences along 6 points.

                """, "\(result.output)")
    }

    @Test func theMapAndTheJSONHaveWhatTheTableHas() async throws {
        let folder = try FenceFolder()
        let fences = try folder.collection("f.geojson", FenceFolder.point("17", #""name":"Gate","radius":100"#))
        let map = folder.directory.file("map.geojson")
        let result = try await test(try folder.drive(), "--fences", fences, "--output", map)
        #expect(result.status == 0 && result.lines.contains("The map is in \(map)."), "\(result.output)")
        let features = try #require(
            JSONReader.value(of: Array(Data(contentsOf: URL(fileURLWithPath: map))))["features"]?.arrayValue)
        #expect(features.map { $0["geometry"]?["type"] } == ["LineString", "Point", "Point", "Point"])
        #expect(features.compactMap { $0["properties"]?["action"] } == ["enter", "exit"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.directory.path).count == 3)
        let json = try await test(try folder.drive(), "--fences", fences, "--json")
        let value = try JSONReader.value(of: Array(json.output.utf8))
        #expect(value["alarms"]?.arrayValue?.map { $0["action"] } == ["enter", "exit"])
        #expect(value["alarms"]?.arrayValue?.first?["fence_name"] == "Gate" && value["points"] == 6)
        // The map is a file of fences and of points itself, and the exported fence keeps its number.
        let again = try await test(try folder.drive(), "--fences", map, "--where", "radius = 100")
        #expect(again.output.contains("enter      17  Gate"), "\(again.output)")
    }

    @Test func everyFormatOfFencesIsTaken() async throws {
        let folder = try FenceFolder()
        let drive = try folder.drive()
        let package = folder.directory.file("yards.gpkg")
        try SampleGeoPackage.write(
            package, SampleGeoPackage.tables, SampleGeoPackage.layer("yards"),
            "INSERT INTO yards VALUES (7, \(SampleGeoPackage.point(40, 116)), 'Gate', 2), (8, NULL, 'none', 3)")
        let gpx = try folder.file(
            "route.gpx",
            "<gpx><rte><name>Side road</name><rtept lat=\"39.99\" lon=\"116\"/><rtept lat=\"40.01\" lon=\"116\"/></rte></gpx>"
        )
        let kml = try folder.file(
            "route.kml",
            "<kml><Placemark><name>Side road</name><LineString><coordinates>116,39.99 116,40.01</coordinates></LineString>"
                + "</Placemark></kml>")
        for (file, name) in [(package, "Gate"), (gpx, "Side road"), (kml, "Side road")] {
            let result = try await test(drive, "--fences", file, "--buffer", "100")
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.lines.filter { $0.contains("  \(name)  ") }.count == 2, "\(result.output)")
            #expect(result.output.contains("2 alarms of 1 fence along 6 points."))
        }
        let refused = try await test(drive, "--fences", package, "--buffer", "100")
        #expect(refused.errors.contains("yards.gpkg: feature 2 ('8'): it has no geometry"), "\(refused.errors)")
        let none = try await test(drive, "--fences", package, "--buffer", "100", "--where", "size > 5")
        #expect(none.status == 1 && none.errors.contains("no feature became a fence"), "\(none.errors)")
    }

    /// South and west as a person types them, in each way of writing places.
    @Test(arguments: [
        ["--within", "-55,-69 -54,-68"], ["--within=-55,-69 -54,-68"], ["--within", "-55, -69; -54, -68"],
        ["--within", "-55,-69 -55,-68 -54,-68 -54,-69"],
    ])
    func southernAndWesternAreasAreTaken(arguments: [String]) async throws {
        let folder = try FenceFolder()
        let ushuaia = FenceFolder.point("1", #""radius":50"#).replacing("[116.0,40]", with: "[-68.3,-54.8]")
        let fences = try folder.collection("f.geojson", ushuaia, FenceFolder.point("2", #""radius":50"#))
        let result = try await SakerProgram.run(["fence", "test", try folder.drive(), "--fences", fences] + arguments)
        #expect(result.output == "No alarm of 1 fence along 6 points.\n", "\(result.output) \(result.errors)")
    }

    /// A fence in GCJ-02 lies where a Chinese map shows it.
    @Test func theDatumOfAFileCounts() async throws {
        let folder = try FenceFolder()
        let fences = try folder.collection(
            "f.geojson",
            FenceFolder.point("1", #""radius":100"#).replacing("[116.0,40]", with: "[116.0061,40.0013]"))
        let plain = try await test(try folder.drive(), "--fences", fences)
        #expect(plain.output.contains("No alarm"), "\(plain.output)")
        let shifted = try await test(try folder.drive(), "--fences", fences, "--datum", "gcj02")
        #expect(shifted.output.contains("2 alarms of 1 fence"), "\(shifted.output)")
    }

    @Test func windowsCountInTheirZone() async throws {
        let folder = try FenceFolder()
        let fences = try folder.collection("f.geojson", FenceFolder.point("1", #""radius":100"#))
        // Thursday, 08:20 UTC, is 16:20 in Shanghai.
        for (window, zone, alarms) in [
            ("mon-fri 16:00-17:00", "Asia/Shanghai", "2 alarms"), ("mon-fri 08:00-09:00", "Asia/Shanghai", "No alarm"),
            ("thu 08:00-09:00", "UTC", "2 alarms"), ("fri-wed 08:00-09:00", "UTC", "No alarm"),
            ("daily 12:00-13:00", "+04:00", "2 alarms"), ("daily 22:00-05:00", "-04:00", "2 alarms"),
        ] {
            let result = try await test(
                try folder.drive(), "--fences", fences, "--window", window, "--zone", zone)
            #expect(result.output.contains(alarms), "\(window) \(zone): \(result.output) \(result.errors)")
        }
        let unknown = try await test(
            try folder.drive(), "--fences", fences, "--window", "daily 00:00-24:00", "--zone", "Mars/Olympus")
        #expect(unknown.output.contains("Fence 1 was not tried: the time zone Mars/Olympus"), "\(unknown.output)")
    }

    @Test(
        arguments: [
            (["--within", "40,116"], "one place is no area"), (["--within", "40;116"], "a comma is needed"),
            (["--within", "91,116 92,117"], "91.0,116.0 is no place"),
            (["--within", "a,b"], "'a' is no number of degrees"),
            (["--within", ""], "--within is empty"), (["--within", "41,116 40,117"], "is no box"),
            (["--buffer", "-1"], "--buffer -1.0 is not allowed: give 0 to 100000 metres"),
            (["--where", "name ="], "the where clause, character"), (["--where", ""], "the where clause is empty"),
            (["--where", "name = 'x"], "character 8"), (["--where", "name LIKE 5"], "the where clause, character"),
            (["--where", "name == 'x'"], "the where clause, character"), (["--where", "DROP TABLE a"], "character 6"),
            (["--where", "(((((a = 1"], "the where clause, character"),
            (["--rule", "enter,leave"], "'leave' is none: give enter, exit or stay"),
            (["--rule", "stay"], "--rule has stay: give --stay"), (["--stay", "4"], "both are 5 to 604800 seconds"),
            (["--stay-every", "60"], "--stay-every needs --stay"),
            (["--stay", "60", "--rule", "enter"], "--rule has no stay"),
            (["--window", "monday 8-18"], "is no window"), (["--window", "mon 08:00-25:00"], "is no window"),
            (["--window", "mon 08:00-09:00", "--zone", "+8"], "--zone '+8' is no zone"),
            (["--zone", "UTC"], "give --window, too"),
            (["--above", "10", "--below", "-10"], "--above lies over --below"),
            (["--speed-limit", "0"], "the speed is above 0"), (["--speed-duration", "5"], "needs --speed-limit"),
            (["--watch", "a", "--watch-all"], "exclude each other"),
            (["--watch", "a;b"], "--watch: 'a;b' cannot be watched"),
            (["--action", "enter"], "give it as enter="), (["--action", "leave={}"], "'leave' is no action"),
            (["--action", "enter=[1]"], "is a JSON object"), (["--remote", "in"], "'in' is no action"),
            (["--datum", "itrf"], "'itrf' is invalid"), (["--denoise", "-5"], "denoise"),
        ] as [([String], String)])
    func wrongUsageNamesTheValueAndTheRule(arguments: [String], reason: String) async throws {
        let folder = try FenceFolder()
        let fences = try folder.collection("f.geojson", FenceFolder.point("1", #""radius":100"#))
        let result = try await SakerProgram.run(["fence", "test", try folder.drive(), "--fences", fences] + arguments)
        #expect(result.errors.contains(reason), "\(result.errors)")
        // What only the fence as a whole shows is a refused feature.
        #expect(result.status == (arguments[0] == "--denoise" ? 1 : 2), "\(result.status)")
    }

    @Test func whatIsWrongWithAFileIsTold() async throws {
        let folder = try FenceFolder()
        let drive = try folder.drive()
        let deep = String(repeating: "[", count: 10_000)
        let million = (0..<1_000_000).map { "[\(Double($0) / 1e4),1]" }.joined(separator: ",")
        let large = (0..<101_000).map { "[\(116 + Double($0) / 1e6),40]" }.joined(separator: ",")
        for (name, text, reason) in [
            (
                "deep.geojson", "{\"type\":\"FeatureCollection\",\"features\":[\(deep)",
                "nested more than 64 levels deep"
            ),
            ("feature.geojson", "{\"type\":\"Polygon\",\"coordinates\":\(deep)", "nested more than 64 levels deep"),
            (
                "million.geojson",
                "{\"type\":\"FeatureCollection\",\"features\":[{\"type\":\"Feature\",\"geometry\":{\"type\":\"Polygon\",\"coordinates\":[[\(million)]]}}]}",
                "feature 1: it has more than"
            ),
            (
                "large.geojson",
                "{\"type\":\"FeatureCollection\",\"features\":[{\"type\":\"Feature\",\"geometry\":{\"type\":\"Polygon\",\"coordinates\":[[\(large)]]}}]}",
                "100,000"
            ),
            ("nan.geojson", "{\"type\":\"Point\",\"coordinates\":[NaN,1]}", "its point is '[null,1]'"),
            (
                "pole.geojson",
                "{\"type\":\"Polygon\",\"coordinates\":[[[0,-80],[90,-80],[180,-80],[-90,-80],[0,-80]]]}", "pole"
            ),
            (
                "zero.geojson",
                "{\"type\":\"Feature\",\"geometry\":{\"type\":\"Point\",\"coordinates\":[1,1]},\"properties\":{\"radius\":0}}",
                "radius is above 0"
            ),
            ("plain.txt", "hello", "neither GeoJSON"), ("empty", "", "it is empty"),
            (
                "crs.geojson",
                "{\"type\":\"FeatureCollection\",\"crs\":{\"properties\":{\"name\":\"EPSG:3857\"}},\"features\":[]}",
                "only WGS 84 is read"
            ),
            ("broken.gpkg", "SQLite format 3\0 and then nothing of a database", "SQLite cannot read it"),
            ("open.gpx", "<gpx><rte>", "it ends within an element"),
            ("other.xml", "<svg></svg>", "neither GPX nor KML"),
        ] {
            let path = try folder.file(name, text)
            let result = try await test(drive, "--fences", path)
            #expect(result.status == 1 && result.errors.contains(reason), "\(name): \(result.errors.prefix(400))")
            #expect(result.errors.contains(name))
        }
        for (path, reason) in [
            (folder.directory.path, "Is a directory"), (folder.directory.file("none"), "No such file"),
            ("/dev/zero", "neither GeoJSON"),
        ] {
            let result = try await test(drive, "--fences", path)
            #expect(result.status == 1 && result.errors.contains(reason), "\(result.errors)")
        }
        let layered = try await test(
            drive, "--fences", try folder.collection("f.geojson", FenceFolder.point("1")), "--layer", "a")
        #expect(layered.errors.contains("only a GeoPackage has layers"), "\(layered.errors)")
    }

    @Test func aColumnThatNoFeatureHasIsTold() async throws {
        let folder = try FenceFolder()
        let fences = try folder.collection("f.geojson", FenceFolder.point("1", #""radius":100,"kind":"x""#))
        for (arguments, reason) in [
            (["--where", "kimd = 'x'"], "no feature has a column 'kimd'; there are kind, radius"),
            (["--id-column", "nr"], "no feature has a column 'nr'"),
            (["--floor-column", "level"], "no feature has a column 'level'"),
            (["--where", "kind > 5"], "feature 1 ('1')"),
        ] {
            let result = try await SakerProgram.run(
                ["fence", "test", try folder.drive(), "--fences", fences] + arguments)
            #expect(result.status == 1 && result.errors.contains(reason), "\(result.errors)")
        }
    }

    /// A text that looks like a number names a floor, and a number too, as they do on the vehicle and at the server.
    @Test(arguments: ["table", "texts", "numbers"]) func floorsThatLookLikeNumbers(track: String) async throws {
        let folder = try FenceFolder()
        let floors = [("20:00", "2"), ("21:00", "3"), ("23:00", "2")]
        let path =
            if track == "table" {
                try folder.file(
                    "floors.csv",
                    "time,lat,lon,accuracy,floor\n"
                        + floors.map { "2026-03-05T08:\($0.0)Z,40,116,5,\($0.1)\n" }.joined())
            } else {
                try folder.file(
                    "floors.geojson",
                    "{\"type\":\"FeatureCollection\",\"features\":["
                        + floors.map { time, floor in
                            let value = track == "texts" ? "\"\(floor)\"" : floor
                            return FenceFolder.point(
                                "1", #""time":"2026-03-05T08:\#(time)Z","accuracy":5,"floor":\#(value)"#)
                        }.joined(separator: ",") + "]}")
            }
        let fences = try folder.collection("f.geojson", FenceFolder.point("1", #""radius":100,"floor":"3""#))
        let result = try await test(path, "--fences", fences, "--floor-column", "floor", "--json")
        let alarms = try JSONReader.value(of: Array(result.output.utf8))["alarms"]?.arrayValue
        #expect(alarms?.compactMap { $0["action"] } == ["enter", "exit"], "\(result)")
    }

    /// Four gigabytes take neither memory nor time.
    @Test func aHugeFileIsRefusedAtOnce() async throws {
        let folder = try FenceFolder()
        let drive = try folder.drive()
        for (beginning, reason) in [
            ("", "neither GeoJSON"), ("{\"type\":\"FeatureCollection\",\"features\":[", "no"), ("<gpx>", "XML"),
            ("SQLite format 3\0", "SQLite cannot read it"),
        ] {
            let path = try folder.file("huge", beginning)
            try #require(truncate(path, 4 << 30) == 0)
            let result = try await SakerProgram.run(
                ["fence", "test", drive, "--fences", path],
                through: ["/usr/bin/prlimit", "--cpu=30", "--as=2147483648"])
            #expect(result.status == 1 && result.errors.contains(reason), "\(beginning): \(result.errors)")
        }
        let track = try folder.file("track", "time,lat,lon\n")
        try #require(truncate(track, 4 << 30) == 0)
        let fences = try folder.collection("f.geojson", FenceFolder.point("1", #""radius":100"#))
        let result = try await test(track, "--fences", fences)
        #expect(result.status == 1 && result.errors.contains("more than 64 KiB"), "\(result.errors)")
    }

    @Test func aMapThatCannotBeWrittenIsTold() async throws {
        let folder = try FenceFolder()
        let fences = try folder.collection("f.geojson", FenceFolder.point("1", #""radius":100"#))
        let result = try await test(try folder.drive(), "--fences", fences, "--output", "/nowhere/map.geojson")
        #expect(
            result.status == 1 && result.errors.contains("/nowhere/map.geojson: cannot be written"), "\(result.errors)")
    }
}
