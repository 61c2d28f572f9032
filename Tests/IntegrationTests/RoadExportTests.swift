import Foundation
import ProgramTestKit
import Testing

private let liechtenstein = "roads/liechtenstein.osm.pbf"
private let loop = "roads/li-loop.gpx"

/// Exports of a drive on roads: a real Valhalla, the real server, and the command line.
@Suite(
    .serialized, .timeLimit(.minutes(60)),
    .needs(.python, .recordings([liechtenstein, loop]), .valhalla))
struct RoadExportTests {
    /// Not the default: so the text comes from the server.
    private static let attribution = "© OpenStreetMap contributors, of 2015"
    /// 2026-01-05 07:30 UTC, the first fix of the drive, and the seconds of it that the server has.
    private static let start = 1_767_598_200
    private static let seconds = 480

    private static func site(_ engine: Valhalla) throws -> Fleet {
        let fleet = try Fleet()
        try fleet.edit(
            fleet.server + "/server.toml", "# url = \"http://127.0.0.1:8002\"",
            to: """
                url = "\(engine.url)"
                timeout = 60000
                request_timeout = 60000
                attribution = "\(attribution)"
                """)
        let file = fleet.directory.file("points.zip")
        let script = """
            import calendar, json, re, sys, time, zipfile
            path, drive, start, end = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
            fix = re.compile(r'<trkpt lat="(.*?)" lon="(.*?)"><time>(.*?)</time>.*?<speed>(.*?)</speed>')
            rows = []
            for latitude, longitude, text, speed in fix.findall(open(drive).read()):
                at = calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))
                if start <= at < end:
                    rows.append({
                        "entity_id": 1, "entity_name": "van_07", "loc_time": at, "create_time": at,
                        "loc": {"longitude": float(longitude), "latitude": float(latitude),
                                "coord_type": "COORD_TYPE_WGS84LL"},
                        "custom_data": {"speed": str(round(float(speed) * 3.6, 2))}})
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("1_1.json", "".join(json.dumps(row) + "\\n" for row in rows))
            """
        let made = try Program.run(
            "/usr/bin/env",
            ["python3", "-c", script, file, Recordings.path(loop), "\(start)", "\(start + seconds)"])
        try require(made.status == 0, made.all)
        let arguments = ["import", "--config", fleet.server + "/server.toml", "--service", "1", file]
        let imported = try Program.run(Built.path("saker-server"), arguments)
        try require(imported.status == 0, imported.all)
        return fleet
    }

    @Test func everyFormatNamesTheRoadsAndTheirMap() throws {
        let engine = try Valhalla(liechtenstein)
        let fleet = try Self.site(engine)
        let server = try fleet.startServer()
        let credits = [
            "gpx": "<copyright author=\"\(Self.attribution)\"/>",
            "kml": "<description>The track is on roads (",
            "geojson": #""roads":{"state":"used","matched":"#,
            "csv": "The track is on roads (",
        ]
        for (format, credit) in credits {
            let file = fleet.directory.file("drive.\(format)")
            let exported = try fleet.saker([
                "track", "export", fleet.entity, "--roads", "--from", "\(Self.start)", "--to",
                "\(Self.start + Self.seconds)", "--output", file, "--config", fleet.agent + "/client.toml",
            ])
            #expect(exported.status == 0 && exported.all.contains(Self.attribution), "\(exported.all)")
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.contains(credit) && text.contains(Self.attribution), "\(format): \(text.prefix(600))")
            // The drive is on this road for 314 points, and corners of the road have no name.
            let named = text.components(separatedBy: "Landstrasse").count - 1
            #expect((300...328).contains(named), "\(format): \(named)")
        }
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
        // The engine lives until here.
        engine.end()
    }
}
