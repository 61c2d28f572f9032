import FenceCommands
import Foundation
import JSON
import ProgramTestKit
import Testing

@testable import SakerCommand

@Suite(.timeLimit(.minutes(5))) struct TrackExportTests {
    private func run(
        _ arguments: [String], _ answers: TinyWebServer.Answer..., zone: String = "UTC"
    ) async throws -> (SakerProgram.Result, [String]) {
        let (server, url) = try await TinyWebServer.start(answers)
        let result = try await SakerProgram.run(
            arguments + ["--server", url, "--service-id", "42"], environment: ["SAKER_AK": "AKtest", "TZ": zone])
        try await server.stop()
        return (result, server.requests)
    }

    private static let hour = ["--from", "2026-03-05T00:00:00Z", "--to", "2026-03-05T01:00:00Z"]

    private static let twoPoints = """
        {"status":0,"total":2,"size":2,"distance":12,"points":[{"loc_time":1772668800,"latitude":31.5,"longitude":-0.25,\
        "speed":43.2,"direction":90,"height":3.5,"radius":6,"create_time":"x","coord_type":"wgs84","fuel":51,"plate":"51"},\
        {"loc_time":1772668801,"latitude":31.6,"longitude":-0.25,"create_time":"x","parked":1}]}
        """

    @Test(arguments: ["gpx", "geojson", "kml", "csv"]) func anExportIsReadByTheImport(format: String) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/track.\(format)"
        let (result, requests) = try await run(
            ["track", "export", "van", "--output", path, "--roads", "--supplement", "driving"] + Self.hour,
            .init(body: Self.twoPoints))
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output == "2 points in \(path).\n")
        #expect(
            requests.first?.contains(
                "is_processed=1&process_option=need_mapmatch%3D1&supplement_mode=driving&supplement_content=distance_and_points"
            )
                == true, "\(requests)")
        var file = try PointFile(path)
        let first = try #require(try file.next()).value
        #expect(first["time"] == 1_772_668_800_000 && first["latitude"] == 31.5 && first["longitude"] == -0.25)
        #expect(
            first["speed"] == 12.0 && first["course"] == 90.0 && first["altitude"] == 3.5 && first["accuracy"] == 6.0)
        #expect(first["attributes"] == ["fuel": 51, "plate": "51"], "\(first)")
        let second = try #require(try file.next()).value
        #expect(second["time"] == 1_772_668_801_000 && second["attributes"] == nil, "\(second)")
        #expect(try file.next() == nil)
        let (piped, _) = try await run(
            ["track", "export", "van", "--format", format] + Self.hour, .init(body: Self.twoPoints))
        #expect(piped.output == (try String(contentsOfFile: path, encoding: .utf8)))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["track.\(format)"])
    }

    /// They are in the file, so that a map shows the way, and say what they are.
    @Test(arguments: ["gpx", "geojson", "kml", "csv"]) func anImportSkipsCornersOfRoads(format: String) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/track.\(format)"
        let corner = #"{"loc_time":1772668800,"latitude":31.55,"longitude":-0.25,"_supplement":1},"#
        let body = Self.twoPoints.replacing(#"{"loc_time":1772668801,"#, with: corner + #"{"loc_time":1772668801,"#)
        let (result, _) = try await run(
            ["track", "export", "van", "--output", path, "--roads"] + Self.hour, .init(body: body))
        #expect(result.status == 0, "\(result.errors)")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.contains("31.55") && text.contains("_supplement"), "\(text)")
        var (file, latitudes) = (try PointFile(path), [JSONValue?]())
        while let point = try file.next() { latitudes.append(point.value["latitude"]) }
        #expect(latitudes == [31.5, 31.6])
    }

    @Test func gapsAreFeaturesWithoutAPlace() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/track.geojson"
        let gaps = #""gaps":[{"start_time":1772668700,"end_time":1772668800,"reason":"off","detail":"crash"}]"#
        let body = String(Self.twoPoints.dropLast()) + "," + gaps + "}"
        let (result, requests) = try await run(
            ["track", "export", "van", "--gaps", "--output", path] + Self.hour, .init(body: body))
        #expect(result.status == 0 && requests.first?.contains("gap_content=1") == true, "\(result.errors)")
        let json = try JSONReader.value(of: Array(try Data(contentsOf: URL(fileURLWithPath: path))))
        let features = try #require(json["features"]?.arrayValue)
        #expect(features.count == 2 && features.last?["geometry"] == .null)
        #expect(
            features.last?["properties"] == [
                "gap": "off", "detail": "crash", "from": "2026-03-04T23:58:20Z", "until": "2026-03-05T00:00:00Z",
            ], "\(features)")
        // An import takes the points and passes the gaps over.
        var (file, count) = (try PointFile(path), 0)
        while try file.next() != nil { count += 1 }
        #expect(count == 2)
        let refused = try await run(["track", "export", "van", "--gaps", "--format", "csv"] + Self.hour)
        #expect(refused.0.status == 2 && refused.1.isEmpty && refused.0.errors.contains("geojson"))
        let (shown, asked) = try await run(["track", "history", "van", "--gaps"] + Self.hour, .init(body: body))
        #expect(shown.status == 0 && asked.first?.contains("gap_content=1") == true)
        #expect(shown.output.contains("the agent was off (killed or crashed)"), "\(shown.output)")
    }

    /// The end of a gap stands without its zone, but not when summer time ended in the gap.
    @Test func anEndAfterTheEndOfSummerTimeNamesItsZone() async throws {
        // 2026-10-25 00:50 to 01:10 in UTC.
        let gaps = #""gaps":[{"start_time":1792889400,"end_time":1792890600,"reason":"off","detail":"crash"}]"#
        let body = String(Self.twoPoints.dropLast()) + "," + gaps + "}"
        let arguments = ["track", "history", "van", "--gaps"] + Self.hour
        let shown = try await run(arguments, .init(body: body), zone: "CET-1CEST,M3.5.0,M10.5.0/3").0
        #expect(shown.output.contains("2026-10-25 02:50:00+02:00  2026-10-25 02:10:00+01:00"), "\(shown.output)")
        let plain = try await run(arguments, .init(body: body)).0
        #expect(plain.output.contains("2026-10-25 00:50:00+00:00  2026-10-25 01:10:00  "), "\(plain.output)")
    }

    @Test func anExportThatFailsLeavesNoFile() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/track.csv"
        let (result, _) = try await run(
            ["track", "export", "van", "--output", path] + Self.hour, .init(status: "502 Bad", body: ""))
        #expect(result.status == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
        let (json, requests) = try await run(["track", "export", "van", "--json"] + Self.hour)
        #expect(json.status == 2 && requests.isEmpty)
        let nowhere = try await run(["track", "export", "van", "-o", directory.path + "/no/x.gpx"] + Self.hour).0
        #expect(nowhere.status == 1 && nowhere.errors.contains("cannot be written"))
    }
}
