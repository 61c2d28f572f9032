import Foundation
import ProgramTestKit
import Testing

/// Files of exports from the real server, which is killed and whose disk fills up meanwhile.
@Suite(.serialized, .timeLimit(.minutes(60))) struct ExportTests {
    /// Points of one vehicle, a second apart.
    private static let points = 60_000

    /// A fleet whose server has the points, some days ago.
    private struct Site {
        let fleet: Fleet
        let start: Int
        var exports: String { fleet.server + "/exports" }

        init() throws {
            fleet = try Fleet()
            start = Int(Date().timeIntervalSince1970) - 3 * 86_400
            try fleet.edit(fleet.server + "/server.toml", "# minimum_age = 21600", to: "minimum_age = 0")
            // As the published service writes its files.
            let file = fleet.directory.file("points.zip")
            let script = """
                import json, sys, zipfile
                path, start, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
                with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                    archive.writestr("1_1.json", "".join(json.dumps({
                        "entity_id": 1, "entity_name": "van_07", "loc_time": start + n, "create_time": start + n,
                        "loc": {"longitude": 4.3 + n * 1e-5, "latitude": 52 + n * 1e-6, "coord_type": "COORD_TYPE_WGS84LL"},
                        "custom_data": {"speed": str(n % 97), "direction": str(n * 7 % 360)}}) + "\\n" for n in range(count)))
                """
            let made = try Program.run(
                "/usr/bin/env", ["python3", "-c", script, file, "\(start)", "\(ExportTests.points)"])
            try require(made.status == 0, made.all)
            let arguments = ["import", "--config", fleet.server + "/server.toml", "--service", "1", file]
            let imported = try Program.run(Built.path("saker-server"), arguments)
            try require(imported.status == 0, imported.all)
        }

        func order() throws {
            let answer = try fleet.web(
                "export/createjob", ["start_time": "\(start)", "end_time": "\(start + 86_400)"], post: true)
            try require(answer["status"] as? Int == 0, "\(answer)")
        }

        /// State and address of the only job.
        func job() throws -> (state: String, address: String) {
            let answer = try fleet.web("export/getjob", [:])
            let jobs = try require(answer["jobs"] as? [[String: Any]], "\(answer)")
            let job = try require(jobs.first, "\(answer)")
            return (
                try require(job["job_status"] as? String, "\(job)"), try require(job["file_url"] as? String, "\(job)")
            )
        }

        /// Names in the folder of exports.
        func files(_ ending: String) -> [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: exports)) ?? []).filter { $0.hasSuffix(ending) }
        }

        /// Bytes of the file that is being written; nil when there is none.
        func written() -> Int? {
            guard let part = files(".zip.part").first else { return nil }
            return try? FileManager.default.attributesOfItem(atPath: exports + "/" + part)[.size] as? Int
        }

        /// HTTP status of an address of a file.
        func httpStatus(_ address: String) throws -> String {
            let key = try String(contentsOfFile: fleet.agent + "/credentials/ak", encoding: .utf8)
                .trimmingCharacters(in: .whitespacesAndNewlines)
            let answer = try Program.run(
                "/usr/bin/curl",
                [
                    "--silent", "--cacert", fleet.agent + "/ca.pem", "--get", "--data-urlencode", "ak=\(key)",
                    "--output", fleet.directory.file("fetched.zip"), "--write-out", "%{http_code}", address,
                ])
            return answer.output
        }

        /// Different points in the file that was fetched, by their times.
        func fetchedPoints() throws -> (lines: Int, times: Int) {
            let script = """
                import json, sys, zipfile
                archive = zipfile.ZipFile(sys.argv[1])
                assert archive.testzip() is None
                times = [json.loads(line)["loc_time"] for line in archive.read(archive.namelist()[0]).splitlines()]
                print(len(times), len(set(times)))
                """
            let run = try Program.run(
                "/usr/bin/env", ["python3", "-c", script, fleet.directory.file("fetched.zip")])
            try require(run.status == 0, run.all)
            let numbers = run.output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
            try require(numbers.count == 2, run.all)
            return (numbers[0], numbers[1])
        }

        func expectWholeFile() throws {
            let address = try job().address
            #expect(try httpStatus(address) == "200")
            let found = try fetchedPoints()
            #expect(found.lines == ExportTests.points && found.times == ExportTests.points, "\(found)")
            #expect(files(".part").isEmpty)
            #expect(files(".zip").count == 1)
        }
    }

    /// At each tenth of the file. The server that comes back begins the job anew at once, and nobody gets a half file.
    @Test(.needs(.python)) func aServerThatIsKilledAtEachTenthOfAJobGoesOn() throws {
        let site = try Site()
        // The bytes of a whole file.
        var server = try site.fleet.startServer()
        try site.order()
        try waitUntil("the first job is done", within: 600) { try site.job().state == "done" }
        let name = try #require(site.files(".zip").first)
        let size = try #require(
            try FileManager.default.attributesOfItem(atPath: site.exports + "/" + name)[.size] as? Int)
        try site.expectWholeFile()
        let number = try #require(
            (try site.fleet.web("export/getjob", [:])["jobs"] as? [[String: Any]])?.first?["job_id"] as? Int)
        _ = try site.fleet.web("export/deletejob", ["job_id": "\(number)"], post: true)

        try site.order()
        var kills = 0
        for tenth in 0..<10 {
            try waitUntil("\(tenth) tenths are written", within: 600) {
                try require(server.isRunning, "\(server.printed)")
                if let bytes = site.written() { return bytes * 10 >= size * tenth }
                return try site.job().state == "done"
            }
            if try site.job().state == "done" { break }
            // While it is written there is no file under the address that it will have. It may be finished just now.
            if let part = site.files(".zip.part").first {
                let address = "https://127.0.0.1:\(site.fleet.webPort)/export/\(part.prefix(32))/1_2.zip"
                if try site.httpStatus(address) != "404" { #expect(try site.fetchedPoints().times == Self.points) }
            }
            let job = try site.job()
            #expect(job.address == "" || job.state == "done", "at \(tenth) tenths")
            server.end(SIGKILL)
            kills += 1
            server = try site.fleet.startServer()
        }
        #expect(kills >= 5, "the job was too fast to be killed at each tenth")
        try waitUntil("the job is done", within: 600) { try site.job().state == "done" }
        try site.expectWholeFile()
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
    }

    @Test(.needs(.python, .smallDisks)) func aFullDiskIsSaidAndTheJobGoesOnWhenThereIsRoom() throws {
        let site = try Site()
        let disk = try SmallDisk(over: site.exports, megabytes: 8)
        try disk.fill()
        let server = try site.fleet.startServer()
        try site.order()
        try waitUntil("the server says why", within: 300) {
            server.printed.contains("an export cannot be written") && server.printed.contains("No space left")
        }
        #expect(try site.job() == ("waiting", ""))
        #expect(site.files(".zip").isEmpty && site.files(".part").isEmpty)
        disk.empty()
        // The server tries again every minute.
        try waitUntil("the job is done", within: 300) { try site.job().state == "done" }
        try site.expectWholeFile()
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
    }
}
