import Glibc
import ProgramTestKit
import Testing

@testable import TrackFiles

@Suite struct TrackFileReaderTests {
    private func points(_ text: String) throws -> [FilePoint] {
        try points(Array(text.utf8))
    }

    private func points(_ bytes: [UInt8]) throws -> [FilePoint] {
        var reader = try TrackFileReader(ByteSource(bytes: bytes))
        var points: [FilePoint] = []
        while let point = try reader.next() { points.append(point) }
        return points
    }

    private func problem(_ text: String) -> String {
        do {
            return "no problem: \(try points(text))"
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: [",", ";", "\t"])
    func aTableIsReadByItsColumns(separator: String) throws {
        let text = """
            Time,lat,LON,speed,heading,fuel,note
            2026-03-05T08:20:12Z,31.5,121.25,12.5,,51,"a, ""b""
            c"

            1772670030,-1,2,,,,
            """.replacing(",", with: separator)
        let points = try points("\u{FEFF}" + text)
        #expect(points.count == 2)
        #expect(points[0].place == "line 2")
        #expect(
            points[0].fields == [
                .time: "2026-03-05T08:20:12Z", .latitude: "31.5", .longitude: "121.25", .speed: "12.5",
            ])
        #expect(points[0].attributes == ["fuel": "51", "note": "a\(separator) \"b\"\nc"])
        #expect(points[1].place == "line 5")
        #expect(points[1].fields == [.time: "1772670030", .latitude: "-1", .longitude: "2"])
        #expect(points[1].attributes.isEmpty)
    }

    @Test func carriageReturnsAndAMissingLastLineEndDoNoHarm() throws {
        #expect(
            try points("time,lat,lon\r\n1,2,3\r\n4,5,\"6\"\r\n7,8,9").map { $0.fields[.longitude] } == ["3", "6", "9"])
    }

    @Test(arguments: [
        ("", "is empty"), ("time,lat\n", "line 1: no column is named longitude"),
        ("time,lat,latitude,lon\n", "line 1: two columns are named latitude"),
        ("time,lat,lon\n1,2,\"3\n", "line 2: a quote"),
        ("time,lat,lon\n1,2," + String(repeating: "x", count: 70_000), "line 2: a line of more than 64 KiB"),
    ]) func aBadTableIsExplained(text: String, reason: String) {
        #expect(problem(text).contains(reason), "\(problem(text))")
    }

    @Test func tracksAreReadFromGPX() throws {
        let text = """
            <?xml version="1.0"?>
            <!DOCTYPE gpx [<!ENTITY x "y">]>
            <gpx xmlns:t="urn:t"><!-- <trkpt lat="0" lon="0"/> --><metadata><time>2000-01-01T00:00:00Z</time></metadata>
            <trk><name>A &amp; B</name><trkseg>
            <trkpt lat="52.5" lon='4.25'><ele> 3.5 </ele><time>2026-03-05T08:20:12Z</time>
            <extensions><t:TrackPointExtension><t:speed>12.5</t:speed><t:course>90</t:course></t:TrackPointExtension>
            </extensions></trkpt><trkpt lat="1" lon="2"/></trkseg></trk>
            <rte><rtept lat="3" lon="4"><ele><![CDATA[7]]></ele></rtept></rte></gpx>
            """
        let points = try points(text)
        #expect(points.count == 3)
        #expect(points[0].place == "line 5" && !points[0].isPlanned)
        #expect(
            points[0].fields == [
                .latitude: "52.5", .longitude: "4.25", .altitude: "3.5", .time: "2026-03-05T08:20:12Z",
                .speed: "12.5", .course: "90",
            ])
        #expect(points[1].fields == [.latitude: "1", .longitude: "2"])
        #expect(points[2].isPlanned && points[2].fields[.altitude] == "7")
    }

    @Test(arguments: [
        ("<gpx><trk>", "ends within an element"), ("<gpx></trk></gpx>", "</trk> ends what has not begun"),
        ("<gpx\n", "line 2: no XML: it ends within a tag"), ("<gpx a=b>", "no value in quotes"),
        ("<gpx>\n\u{0}", "line 2: no XML: the byte 0"),
        ("<gpx><!-- ", "ends before -->"),
        ("<" + String(repeating: "x", count: 20_000), "more than 16 KiB"),
        (String(repeating: "<a>", count: 70), "64 deep"), ("{", "no JSON"),
    ]) func aBadFileIsExplained(text: String, reason: String) {
        #expect(problem(text).contains(reason), "\(problem(text))")
    }

    @Test func longTextsAreCutAndNotKept() throws {
        let long = String(repeating: "é", count: 50_000)
        let text = "<gpx><trkpt lat=\"1\" lon=\"2\"><time>\(long)</time></trkpt><a>\(long)</a></gpx>"
        let point = try #require(try points(text).first)
        #expect((point.fields[.time]?.utf8.count ?? 0) <= 8192)
    }

    @Test func pointsAndLinesAreReadFromGeoJSON() throws {
        let text = #"""
            {"type":"FeatureCollection","features":[
            {"type":"Feature","properties":{"time":"2026-03-05T08:20:12Z","speed":3.5,"fuel":51,"list":[1]},
             "geometry":{"type":"Point","coordinates":[121.25,31.5]}},
            {"type":"Feature","geometry":{"type":"LineString","coordinates":[[4,52,7],[5,53]]},
             "properties":{"coordTimes":[1772670030,"x"],"driver":"Li"}}]}
            """#
        let points = try points(text)
        #expect(points.map(\.place) == ["shape 1", "shape 2, point 1", "shape 2, point 2"])
        #expect(
            points[0].fields == [
                .time: "2026-03-05T08:20:12Z", .speed: "3.5", .latitude: "31.5", .longitude: "121.25",
            ])
        #expect(points[0].attributes == ["fuel": "51"])
        #expect(points[1].fields == [.time: "1772670030", .latitude: "52.0", .longitude: "4.0", .altitude: "7.0"])
        #expect(points[1].attributes == ["driver": "Li"])
        #expect(points[2].fields[.time] == "x")
    }

    @Test func aFileIsReadInPiecesAndNotWhole() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/long.csv"
        let file = try #require(fopen(path, "w"))
        fputs("time,lat,lon\n", file)
        for number in 0..<50_000 { fputs("\(1_772_670_030 + number),31.\(number),121.5\n", file) }
        fclose(file)
        var reader = try TrackFileReader(path: path)
        var count = 0
        var last: FilePoint?
        while let point = try reader.next() {
            count += 1
            last = point
        }
        #expect(count == 50_000)
        #expect(last?.place == "line 50001" && last?.fields[.latitude] == "31.49999")
        #expect(throws: TrackFileError.self) { try TrackFileReader(path: directory.path + "/missing") }
    }

    @Test func rubbishNeverCrashes() throws {
        let seed = UInt64.random(in: 1...UInt64(UInt32.max))
        print("rubbishNeverCrashes: seed \(seed)")
        var state = seed
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let samples = [
            "<gpx><trkpt lat=\"1\" lon=\"2\"><ele>3</ele><time>x</time></trkpt><!-- --><![CDATA[y]]></gpx>",
            "time,lat,lon,x\n1,2,3,\"a\"\"b\"\n", #"{"type":"LineString","coordinates":[[4,52,7],[5,53]]}"#,
        ].map { Array($0.utf8) }
        for _ in 0..<3000 {
            var bytes = samples[next(samples.count)]
            for _ in 0...next(4) { bytes[next(bytes.count)] = UInt8(next(256)) }
            bytes.removeLast(next(bytes.count))
            do { _ = try points(bytes) } catch is TrackFileError {}
        }
    }
}
