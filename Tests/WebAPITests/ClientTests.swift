import JSON
import Testing
import TrackModel

@testable import WebAPI

/// What known kinds of clients send, byte for byte in their ways, and what their readers need of the answers.
@Suite struct ClientTests {
    private static let now = Bench.now.seconds
    private static let secret = "demo-sk"

    private func account(_ bench: Bench) -> String { "ak=\(Bench.key)&service_id=\(bench.service.rawValue)" }

    private func withTrack(_ options: WebAPIOptions = WebAPIOptions(), secret: String? = nil) async throws -> Bench {
        let bench = try await Bench(options, secret: secret)
        try await bench.upload(
            "van", [try point(Self.now - 120, 52.1, 4.3, speed: 1234), try point(Self.now - 60, 52.11, 4.31)])
        return bench
    }

    /// No number of these has a fraction or is a text: readers of these clients take whole numbers only.
    private func expectWhole(_ value: JSONValue, _ keys: [String], _ location: SourceLocation = #_sourceLocation) {
        for key in keys { #expect(value[key]?.integerValue != nil, "\(key) in \(value)", sourceLocation: location) }
    }

    // MARK: Go

    @Test func aClientInGo() async throws {
        let bench = try await withTrack(secret: Self.secret)
        // Sorted keys with the signature among them; = in the filter.
        func signed(_ path: String, _ pairs: [(String, String)]) -> APIRequest {
            let all = (pairs + [("ak", Bench.key), ("service_id", "\(bench.service.rawValue)")]).sorted { $0.0 < $1.0 }
            let query = all.map { "\($0.0)=\(escaped($0.1))" }.joined(separator: "&")
            let base = "/api/v3/\(path)?\(query)\(Self.secret)"
            let sn = String(decoding: Signature.digest(FormEncoding.encoded(base.utf8, .go)), as: UTF8.self)
            let first = all.prefix { $0.0 < "sn" }.map { "\($0.0)=\(escaped($0.1))" }
            let rest = all.drop { $0.0 < "sn" }.map { "\($0.0)=\(escaped($0.1))" }
            return APIRequest(
                method: "GET", target: "/api/v3/\(path)?" + (first + ["sn=\(sn)"] + rest).joined(separator: "&"))
        }
        let list = try await bench.send(
            signed(
                "entity/list",
                [
                    ("filter", "entity_names=van,other|active_time=\(Self.now - 600)"), ("page_size", "100"),
                    ("page_index", "1"),
                ]))
        #expect(list.status == 0, "\(list)")
        let entity = try #require(list["entities"]?.items.first)
        for key in ["create_time", "modify_time"] {
            let text = try #require(entity[key]?.stringValue)
            #expect(text.wholeMatch(of: /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/) != nil, "\(text)")
        }
        expectWhole(try #require(entity["latest_location"]), ["loc_time"])
        expectWhole(list, ["status", "total", "size"])
        // Its call for stays asks for the latest point, with the parameters of stays.
        let latest = try await bench.send(
            signed("track/getlatestpoint", [("entity_name", "van"), ("stay_time", "60"), ("stay_radius", "20")]))
        #expect(latest.status == 0 && latest["latest_point"]?.objectValue != nil, "\(latest)")
    }

    /// As url.QueryEscape does.
    private func escaped(_ text: String) -> String {
        String(decoding: FormEncoding.encoded(text.utf8, .go), as: UTF8.self)
    }

    // MARK: C#

    @Test func aClientInCSharpThatPostsForms() async throws {
        let bench = try await withTrack()
        func post(_ path: String, _ body: String) async throws -> JSONValue {
            try await bench.send(
                APIRequest(
                    method: "POST", target: "/api/v3/\(path)",
                    contentType: "application/x-www-form-urlencoded; charset=utf-8",
                    body: Array("\(account(bench))&\(body)".utf8)))
        }
        let points = """
            [{"entity_name":"van","loc_time":\(Self.now - 30),"latitude":52.2,"longitude":4.4,"coord_type_input":"wgs84",\
            "speed":null,"direction":87,"height":null,"radius":null,"object_name":null,"floor":null,"distance":null}]
            """
        let added = try await post("track/addpoints", "point_list=\(escaped(points))")
        #expect(added.status == 0 && added["success_num"] == 1, "\(added)")
        let fence = try await post(
            "fence/createcirclefence",
            "fence_name=yard&monitored_person=van&longitude=4.3&latitude=52.1&radius=100&coord_type=wgs84&denoise=0")
        expectWhole(fence, ["status", "fence_id"])
        let fences = try await post("fence/list", "monitored_person=van")
        #expect(fences.status == 0 && fences["fences"]?.items.count == 1, "\(fences)")
        let driving = try await post(
            "analysis/drivingbehaviour", "entity_name=van&start_time=\(Self.now - 600)&end_time=\(Self.now)")
        #expect(driving.status == 0, "\(driving)")
        expectWhole(
            driving, ["duration", "speeding_num", "harsh_acceleration_num", "harsh_breaking_num", "harsh_steering_num"])
        for key in ["speeding", "harsh_acceleration", "harsh_breaking", "harsh_steering"] {
            #expect(driving[key]?.arrayValue != nil, "\(key)")
        }
        let states = try await post("fence/querystatus", "monitored_person=van")
        for state in try #require(states["monitored_statuses"]?.arrayValue) {
            #expect(["in", "out", "unknown"].contains(state["monitored_status"]?.stringValue))
        }
        let track = try await post(
            "track/gettrack",
            "entity_name=van&start_time=\(Self.now - 600)&end_time=\(Self.now)&coord_type_output=bd09ll")
        for point in try #require(track["points"]?.arrayValue) {
            #expect(point["coord_type"].map { ["wgs84", "gcj02", "bd09ll"].contains($0.stringValue) } != false)
            if point["direction"] != nil { expectWhole(point, ["direction"]) }
        }
    }

    @Test func aClientInCSharpThatPostsMultipart() async throws {
        let bench = try await withTrack()
        func post(_ path: String, _ pairs: [(String, String)]) async throws -> JSONValue {
            let boundary = "-----------------------------28947758029299"
            let all = [("ak", Bench.key), ("service_id", "\(bench.service.rawValue)")] + pairs
            let parts = all.map {
                "--\(boundary)\r\nContent-Disposition: form-data; name=\"\($0.0)\"\r\n\r\n\($0.1)\r\n"
            }
            return try await bench.send(
                APIRequest(
                    method: "POST", target: "/api/v3/\(path)", contentType: "multipart/form-data; boundary=\(boundary)",
                    body: Array((parts.joined() + "--\(boundary)--\r\n").utf8)))
        }
        let old: [(String, String)] = [
            ("entity_name", "unseen"), ("latitude", "39.9"), ("longitude", "116.4"), ("loc_time", "1522550400"),
            ("coord_type_input", "bd09ll"), ("speed", "0"), ("direction", "0"), ("height", "0"), ("radius", "0"),
        ]
        #expect(try await post("track/addpoint", old).status == 0)
        // Times of the year 1, page 0 and empty values: as if they were not there.
        let list = try await post(
            "entity/list",
            [
                ("filter", "|active_time:-62135596800|inactive_time:-62135596800"), ("page_index", "0"),
                ("page_size", "100"),
                ("coord_type_output", "bd09ll"),
            ])
        #expect(list.status == 0 && list["total"] == 2, "\(list)")
        // Four paths end with a space.
        let paths: [(String, [(String, String)])] = [
            ("entity/boundsearch%20", [("bounds", "39,116;40,117"), ("filter", ""), ("sortby", "entity_name:asc")]),
            ("entity/aroundsearch%20", [("center", "39.9,116.4"), ("radius", "1000")]),
            ("entity/polygonsearch%20", [("vertexes", "39.8,116.3;39.8,116.5;40,116.5;39.8,116.3")]),
            ("fence/deletemonitoredperson%20", [("fence_id", "1"), ("monitored_person", "van")]),
        ]
        for (path, pairs) in paths {
            let status = try await post(path, pairs).status
            #expect([0, 3003, 5104].contains(status), "\(path): \(status ?? -1)")
        }
        #expect(
            try await post(
                "fence/historyalarm",
                [("monitored_person", "nobody"), ("start_time", ""), ("end_time", ""), ("fence_ids", " 1, 2")]
            )
            .status == 0)
        #expect(
            try await post("fence/batchhistoryalarm", [("start_time", "1522550400"), ("end_time", "1522550500")]).status
                == 0)
    }

    // MARK: PHP

    @Test func clientsInPHP() async throws {
        let bench = try await Bench()
        // A name that is encoded once more before the form is.
        let name = "%E4%BA%AC"
        let body = "\(account(bench))&entity_name=\(escaped(name))&entity_desc=\(escaped("京"))"
        func post(_ path: String, _ body: String) async throws -> JSONValue {
            try await bench.send(
                APIRequest(
                    method: "POST", target: "/api/v3/\(path)", contentType: "application/x-www-form-urlencoded",
                    body: Array(body.utf8)))
        }
        #expect(try await post("entity/add", body).status == 0)
        // An object also when there is no point, with zeros.
        let latest = try await bench.get("track/getlatestpoint", "entity_name=\(escaped(name))")
        #expect(latest["latest_point"] == ["longitude": 0, "latitude": 0, "loc_time": 0], "\(latest)")
        // Numbers are texts in its JSON.
        let points = """
            [{"entity_name":"\(name)","latitude":"33.41","longitude":"116.5","loc_time":"\(Self.now)","coord_type_input":"wgs84"}]
            """
        #expect(
            try await post("track/addpoints", "\(account(bench))&point_list=\(escaped(points))")["success_num"] == 1)
        let list = try await bench.get("entity/list")
        #expect(list["entities"]?.items.first?["entity_name"]?.stringValue == name)
        // Another one has raw commas in its query, and posts getjob.
        let raw = APIRequest(
            method: "GET", target: "/api/v3/entity/list?\(account(bench))&filter=entity_names:a,\(escaped(name)),b")
        #expect(try await bench.send(raw).status == 0)
        let jobs = try await post("export/getjob", account(bench))
        #expect(jobs.status == 0 && jobs["jobs"] == [] && jobs["total"] == 0)
    }

    // MARK: Python

    @Test func aClientInPython() async throws {
        let bench = try await Bench()
        // The key in the query, a form in the body that is called JSON.
        let points =
            "[{\"entity_name\":\"van\",\"latitude\":31,\"longitude\":121,\"loc_time\":\(Self.now),\"coord_type_input\":\"wgs84\"}]"
        let answer = try await bench.send(
            APIRequest(
                method: "POST", target: "/trace/v3/track/addpoints?\(account(bench))",
                contentType: "application/json;charset=utf-8", body: Array("point_list=\(escaped(points))".utf8)))
        #expect(answer["success_num"] == 1, "\(answer)")
        let get = try await bench.send(
            APIRequest(
                method: "GET", target: "/api/v3/entity/list?\(account(bench))",
                contentType: "application/json;charset=utf-8"))
        #expect(get.status == 0)
    }

    // MARK: Browsers

    @Test func pagesInBrowsers() async throws {
        let bench = try await Bench()
        let calls = [
            ("entity/list", "entities"), ("entity/search", "entities"), ("track/listcolumn", "columns"),
            ("entity/listcolumn", "columns"), ("export/getjob", "jobs"),
            ("fence/batchhistoryalarm&start_time=\(Self.now - 60)&end_time=\(Self.now)", "alarms"),
        ]
        for (call, list) in calls {
            let path = call.prefix { $0 != "&" }
            let response = await bench.router.respond(
                to: APIRequest(
                    method: "GET",
                    target:
                        "/api/v3/\(path)?\(account(bench))\(call.dropFirst(path.count))&callback=jQuery_1.cb&_=1488123&timeStamp=1"
                ))
            let text = String(decoding: response.body, as: UTF8.self)
            #expect(text.hasPrefix("/**/jQuery_1.cb({") && text.hasSuffix("})"), "\(text)")
            #expect(response.headers.contains { $0.name == "Access-Control-Allow-Origin" && $0.value == "*" })
            let value = try JSONReader.value(
                of: Array(text.dropFirst("/**/jQuery_1.cb(".count).dropLast().utf8), .requests)
            #expect(value[list] == [], "\(call): \(value)")
            #expect([0, 3003].contains(value.status), "\(call): \(value)")
        }
        _ = try await bench.post("entity/add", "entity_name=van")
        let empty = try await bench.get(
            "track/gettrack", "entity_name=van&start_time=\(Self.now - 60)&end_time=\(Self.now)")
        #expect(empty.status == 0 && empty["points"] == [] && empty["total"] == 0, "\(empty)")
        // A page reads `latest_location.loc_time` without asking whether there is one.
        let list = try await bench.get("entity/list")
        let nothing: JSONValue = ["loc_time": 0, "longitude": 0, "latitude": 0]
        #expect(list["entities"]?.items.first?["latest_location"] == nothing, "\(list)")
        let latest = try await bench.get("track/getlatestpoint", "entity_name=van")
        #expect(latest["latest_point"] == nothing, "\(latest)")
    }
}
