import Geodesy
import JSON
import Testing
import TrackAnalysis
import TrackModel
import TrackStore
import TrackTestKit

@testable import WebAPI

@Suite("Exports")
struct ExportTests {
    /// The end of a day that is long past.
    private let end = Bench.now.seconds - 30_000

    private func range(_ span: Int64 = 3600) -> String { "start_time=\(end - span)&end_time=\(end)" }

    private func create(_ bench: Bench, _ more: String = "") async throws -> Int64 {
        let answer = try await bench.post("export/createjob", range() + more)
        return try #require(answer["job_id"]?.integerValue, "\(answer)")
    }

    /// As the worker of the server does it.
    private func finish(_ bench: Bench, _ job: Int64) async throws -> ExportRecord {
        let claimed = try await bench.store.claimExport(by: 1, at: Bench.now, through: Bench.now)
        try #require(claimed?.number == job)
        let result = ExportResult(points: 3, bytes: 400)
        try #require(try await bench.store.settleExport(job, by: 1, result, at: Bench.now))
        return try #require(try await bench.store.exports(in: bench.service, doneSince: Bench.now).last)
    }

    @Test(arguments: ["export", "historysearch"])
    func aJobIsMadeListedAndDeleted(_ module: String) async throws {
        let bench = try await Bench()
        let made = try await bench.post("\(module)/createjob", range(86_400) + "&coord_type_output=gcj02")
        let number = try #require(made["job_id"]?.integerValue)
        let jobs = try await bench.get("\(module)/getjob")
        #expect(jobs["total"]?.integerValue == 1)
        let job = try #require(jobs["jobs"]?.items.first)
        #expect(job["job_id"]?.integerValue == number)
        #expect(job["service_id"]?.integerValue == bench.service.rawValue)
        #expect(job["start_time"]?.integerValue == end - 86_400)
        #expect(job["end_time"]?.integerValue == end)
        #expect(job["coord_type_output"]?.stringValue == "gcj02")
        #expect(job["create_time"]?.stringValue == "2026-03-05 10:31:40")
        #expect(job["job_status"]?.stringValue == "waiting")
        #expect(job["file_url"]?.stringValue == "")
        #expect(try await bench.post("\(module)/deletejob", "job_id=\(number)").status == 0)
        #expect(try await bench.get("\(module)/getjob")["total"]?.integerValue == 0)
        #expect(try await bench.post("\(module)/deletejob", "job_id=\(number)").status == 2)
    }

    /// Ends the oldest job with a file of so many bytes.
    private func end(_ bench: Bench, bytes: Int64) async throws {
        let job = try #require(try await bench.store.claimExport(by: 1, at: Bench.now, through: Bench.now))
        try #require(
            try await bench.store.settleExport(job.number, by: 1, ExportResult(points: 1, bytes: bytes), at: Bench.now))
    }

    @Test func filesOfAServiceHaveABound() async throws {
        let bench = try await Bench(WebAPIOptions(exportServiceBytes: 40 << 20))
        for _ in 0..<3 {
            _ = try await create(bench)
            try await end(bench, bytes: 10 << 20)
        }
        // The fourth may be as long as the others, and fits.
        _ = try await create(bench)
        let refused = try await bench.post("export/createjob", range())
        #expect(refused.status == 2)
        let message = refused["message"]?.stringValue ?? ""
        for word in ["31457280", "41943040", "service_limit", "deletejob", "48 hours"] {
            #expect(message.contains(word), "\(message)")
        }
        #expect(try await bench.post("export/deletejob", "job_id=1").status == 0)
        #expect(try await bench.post("export/createjob", range()).status == 0)
    }

    @Test func filesOfAllServicesHaveABound() async throws {
        let bench = try await Bench(WebAPIOptions(exportBytes: 40 << 20))
        let other = try await bench.store.createService(named: "other", at: Bench.now).id
        let order = ExportOrder(
            from: Timestamp(seconds: end - 60), through: Timestamp(seconds: end), coordinateType: .wgs84)
        _ = try await bench.store.addExport(order, token: ExportToken.random(), in: other, at: Bench.now)
        try await end(bench, bytes: 39 << 20)
        _ = try await create(bench)
        let refused = try await bench.post("export/createjob", range())
        #expect(refused.status == 2 && refused["message"]?.stringValue?.contains("limit of [exports]") == true)
    }

    @Test func smallFilesAreCountedToo() async throws {
        let bench = try await Bench(WebAPIOptions(exportServiceBytes: 1 << 40, exportBytes: 1 << 40))
        for _ in 0..<ExportRules.mostDone {
            _ = try await create(bench)
            try await end(bench, bytes: 300)
        }
        let refused = try await bench.post("export/createjob", range())
        #expect(refused.status == 2 && refused["message"]?.stringValue?.contains("100 are the most") == true)
    }

    @Test func wrongOrdersAreRefused() async throws {
        let bench = try await Bench()
        func status(_ body: String) async throws -> Int64? { try await bench.post("export/createjob", body).status }
        #expect(try await status("end_time=\(end)") == 2)
        #expect(try await status("start_time=\(end)") == 2)
        #expect(try await status("start_time=x&end_time=\(end)") == 2)
        #expect(try await status("start_time=\(end)&end_time=\(end - 1)") == 3201)
        #expect(try await status("start_time=\(end - 86_401)&end_time=\(end)") == 3200)
        #expect(try await status("start_time=\(Int64.min)&end_time=\(end)") == 3200)
        #expect(try await status("start_time=\(Int64.min)&end_time=\(Int64.min)") == 0)
        let late = Bench.now.seconds - 6 * 3600
        #expect(try await status("start_time=\(late)&end_time=\(late + 1)") == 2)
        #expect(try await status("start_time=\(late)&end_time=\(late)") == 0)
        #expect(try await status(range() + "&coord_type_output=mars") == 2)
        for body in ["", "job_id=", "job_id=1.5", "job_id=99999999999999999999"] {
            #expect(try await bench.post("export/deletejob", body).status == 2, "\(body)")
        }
        let open = try await Bench(WebAPIOptions(exportAge: 0))
        let now = Bench.now.seconds
        #expect(try await open.post("export/createjob", "start_time=\(now)&end_time=\(now)").status == 0)
        #expect(try await open.post("export/createjob", "start_time=\(now)&end_time=\(now + 1)").status == 2)
    }

    @Test func aServiceHasTenUnfinishedJobs() async throws {
        let bench = try await Bench()
        for _ in 0..<10 { _ = try await create(bench) }
        #expect(try await bench.post("export/createjob", range()).status == 2)
        _ = try await finish(bench, 1)
        _ = try await create(bench)
    }

    @Test func theLinkLeadsToTheFileAndNeedsTheKey() async throws {
        let bench = try await Bench()
        let job = try await finish(bench, try await create(bench))
        let key = "ak=\(Bench.key)&service_id=\(bench.service.rawValue)"
        let answer = await bench.router.respond(
            to: APIRequest(method: "GET", target: "/api/v3/export/getjob?\(key)", origin: "https://tracks.example:8443")
        )
        let path = "/export/\(job.token)/\(bench.service.rawValue)_\(job.number).zip"
        #expect(
            String(decoding: answer.body, as: UTF8.self).contains(
                "\"job_status\":\"done\",\"file_url\":\"https://tracks.example:8443\(path)\""))
        func get(_ target: String, method: String = "GET") async -> APIResponse {
            await bench.router.respond(to: APIRequest(method: method, target: target))
        }
        let file = await get("\(path)?ak=\(Bench.key)")
        #expect(file.httpStatus == 200 && file.hasValidKey)
        #expect(file.file == ServedFile(token: job.token, bytes: 400))
        #expect(file.headers.contains { $0 == ("Content-Type", "application/zip") })
        #expect(file.headers.contains { $0.value == "attachment; filename=\"1_1.zip\"" })
        #expect(await get("\(path)?ak=\(Bench.key)", method: "HEAD").file != nil)
        for (target, status) in [
            (path, 403), ("\(path)?ak=wrong", 403),
            ("/export/\(String(repeating: "a", count: 32))/1_1.zip?ak=\(Bench.key)", 404),
            ("/export/../1_1.zip?ak=\(Bench.key)", 404), ("/export/\(job.token)?ak=\(Bench.key)", 404),
            ("/export/\(job.token)/x/y?ak=\(Bench.key)", 404), ("/export/", 404),
        ] {
            let answer = await get(target)
            #expect(answer.httpStatus == status && answer.file == nil, "\(target)")
        }
        #expect(await get("\(path)?ak=\(Bench.key)", method: "POST").httpStatus == 405)
        let other = try await bench.store.createService(named: "other", at: Bench.now).id
        try await bench.store.addKey(
            AccessKey("other-ak").hash, secret: nil, to: other, replacing: false, at: Bench.now)
        #expect(await get("\(path)?ak=other-ak").httpStatus == 403, "another service's key")
    }

    @Test func theOperatorMayDoWithoutTheKey() async throws {
        let bench = try await Bench(
            WebAPIOptions(
                exportsNeedKey: false, hasExportTimesAsDigits: true, publicOrigin: "https://maps.example"))
        let number = try await create(bench)
        let waiting = await bench.router.respond(
            to: APIRequest(method: "GET", target: "/export/\(String(repeating: "0", count: 32))/1_1.zip"))
        #expect(waiting.httpStatus == 404)
        let job = try await finish(bench, number)
        let listed = try #require(try await bench.get("export/getjob")["jobs"]?.items.first)
        let url = try #require(listed["file_url"]?.stringValue)
        #expect(url.hasPrefix("https://maps.example/export/\(job.token)/"))
        #expect(listed["create_time"]?.stringValue == "20260305103140")
        let file = await bench.router.respond(
            to: APIRequest(method: "GET", target: String(url.dropFirst("https://maps.example".utf8.count))))
        #expect(file.file?.token == job.token)
    }

    @Test func everyValueOfAPointIsAText() throws {
        let order = ExportOrder(from: .at(0), through: .at(1), coordinateType: .bd09ll)
        let columns = [
            ColumnRecord(key: "fuel", type: .integer, description: "", isSearchable: false, created: .at(0)),
            ColumnRecord(key: "load", type: .double, description: "", isSearchable: false, created: .at(0)),
            ColumnRecord(key: "note", type: .string, description: "", isSearchable: false, created: .at(0)),
        ]
        var point = try WebAPITests.point(1_772_677_800, 39.9, 116.4, type: .bd09ll, speed: 900, accuracy: 60)
        point.fix.course = 877
        point.fix.altitude = 445
        point.attributes = [
            "fuel": .integer(51), "load": .double(1.5), "note": .string("a \"b\"\n\u{1}"), "gone": .integer(1),
        ]
        let entity = ExportedEntity(number: 17, name: "van_07")
        let stored = StoredPoint(point, received: Timestamp(seconds: 1_772_677_812))
        let text = ExportLines(order, columns: columns).text(entity, [stored, stored])
        let line = """
            {"entity_id":17,"entity_name":"van_07","loc":{"longitude":116.4,"latitude":39.9,"coord_type":"COORD_TYPE_BD09LL"},\
            "loc_time":1772677800,"create_time":1772677812,"custom_data":{"speed":"32.4","direction":"87","radius":"6",\
            "height":"44.5","fuel":"51","load":"1.5","note":"a \\"b\\"\\n\\u0001"}}

            """
        #expect(String(decoding: text, as: UTF8.self) == line + line)
        let abroad = try WebAPITests.point(1_772_677_800, 52, 4)
        let lines = ExportLines(order, columns: []).text(entity, [StoredPoint(abroad, received: .at(0))])
        #expect(
            String(decoding: lines, as: UTF8.self).contains(
                "\"loc\":{\"longitude\":4,\"latitude\":52,\"coord_type\":\"COORD_TYPE_WGS84LL\"}"))
        #expect(ExportLines(order, columns: []).text(entity, []).isEmpty)
        var after = abroad
        after.continuity = Continuity(interval: 5)
        let gap = TrackGap(
            .offByCrash, from: Timestamp(seconds: 1_772_677_000), until: Timestamp(seconds: 1_772_677_800))
        let told = ExportLines(order, columns: []).text(
            entity, [StoredPoint(abroad, received: .at(0)), StoredPoint(after, received: .at(0))],
            [abroad.fix.time: [gap]])
        let both = String(decoding: told, as: UTF8.self).split(separator: "\n")
        #expect(both.count == 2 && !both[0].contains("gaps"))
        #expect(
            both[1].hasSuffix(
                #","gaps":[{"start_time":1772677000,"end_time":1772677800,"reason":"off","detail":"crash"}]}"#))
    }

    /// The same numbers as `gettrack` in each datum.
    @Test(arguments: CoordinateType.allCases)
    func coordinatesAreThoseOfTheTrack(_ type: CoordinateType) async throws {
        let bench = try await Bench()
        let points = try (0..<20).map { try point(end - 100 + $0, 31 + Double($0) / 7, 121 + Double($0) / 13) }
        try await bench.upload("van", points)
        let query = "entity_name=van&\(range())&coord_type_output=\(type.rawValue)"
        let track = try #require(try await bench.get("track/gettrack", query)["points"]?.arrayValue)
        let stored = try await bench.store.points(
            of: "van", in: bench.service, from: Timestamp(seconds: end - 3600), through: Timestamp(seconds: end),
            limit: 99)
        let order = ExportOrder(from: .at(0), through: .at(1), coordinateType: type)
        let text = ExportLines(order, columns: []).text(ExportedEntity(number: 1, name: "van"), stored)
        let lines = try text.split(separator: UInt8(ascii: "\n")).map {
            try #require(try JSONReader.value(of: Array($0), .requests)["loc"])
        }
        #expect(lines.count == 20)
        #expect(lines.map { $0["longitude"] } == track.map { $0["longitude"] })
        #expect(lines.map { $0["latitude"] } == track.map { $0["latitude"] })
    }
}
