import Foundation
import JSON
import Testing
import TrackModel
import TrackStore

@testable import WebAPI

/// Every parameter of every call, given wrongly in every way. The list of calls is the router's own: a call or a parameter
/// that is new makes a test fail until it has a right value here.
@Suite(.timeLimit(.minutes(20))) struct BadInputTests {
    private static let now = Bench.now.seconds

    /// A right value of each parameter, so that only one thing is wrong in a request.
    private static let right: [String: String] = [
        "entity_name": "van", "entity_desc": "blue", "filter": "entity_names:van", "query": "va",
        "sortby": "entity_name:asc", "coord_type_output": "wgs84", "coord_type_input": "wgs84", "coord_type": "wgs84",
        "page_index": "1", "page_size": "10", "bounds": "30,120;32,122", "center": "31,121", "keyword": "x",
        "return_type": "all", "column_key": "fuel", "column_desc": "litres", "column_type": "1", "is_search": "0",
        "loc_time": "\(now - 100)", "latitude": "31", "longitude": "121", "speed": "10", "direction": "90",
        "height": "1",
        "object_name": "box", "floor": "2", "start_time": "\(now - 3600)", "end_time": "\(now - 60)",
        "is_processed": "1",
        "process_option": "denoise_grade=1", "supplement_mode": "straight", "supplement_content": "only_distance",
        "gap_content": "1", "long_range": "0",
        "low_speed_threshold": "20", "sort_type": "asc", "explain": "1", "stay_time": "600", "stay_radius": "20",
        "speeding_threshold": "50", "harsh_acceleration_threshold": "1.67", "harsh_breaking_threshold": "-1.67",
        "harsh_steering_threshold": "5", "fence_name": "yard", "monitored_person": "van", "denoise": "0",
        "radius": "100", "vertexes": "31,121;31,121.1;31.1,121.1", "offset": "20", "fence_id": "1", "fence_ids": "1",
        "include_stale": "0", "alarm_source": "all", "time_range": "60", "url": "https://example.com/a", "job_id": "1",
        "point_list":
            "[{\"entity_name\":\"van\",\"latitude\":31,\"longitude\":121,\"loc_time\":\(now - 90),\"coord_type_input\":\"wgs84\"}]",
    ]

    /// Values where the usual one would not do.
    private static let special: [String: [String: String]] = [
        "entity/add": ["entity_name": "new"],
        "entity/addcolumn": ["column_key": "team"], "track/addcolumn": ["column_key": "door"],
        "export/createjob": ["start_time": "\(now - 90_000)", "end_time": "\(now - 86_000)"],
        "historysearch/createjob": ["start_time": "\(now - 90_000)", "end_time": "\(now - 86_000)"],
    ]

    /// Wrong, odd and hostile values, percent-encoded as they are sent.
    private static let wrong: [String] = [
        "", "%20", "%20%20", "0", "-0", "-1", "1.5", "NaN", "nan", "inf", "-Infinity", "1e308", "-1e308", "1e-320",
        "1e999",
        "9223372036854775807", "9223372036854775808", "-9223372036854775808", "4294967296", "2147483648", "0x10", "+1",
        "1_000", "%C2%A01", "true", "null", "undefined", "%00", "a%00b", "%0A", "%1B%5B2J", "%E2%80%AEabc",
        "%EF%BB%BF1",
        "%F0%9F%98%80", "%E6%B1%89%E5%AD%97", "%27%20OR%201%3D1--", "..%2F..%2Fetc%2Fpasswd", "%3Cscript%3E", ",",
        ",,,",
        ";", "%7C", ":", "%3D", "1,1", "1;1", "91,181", "-91,-181;91,181", "a:b%7Cc:d", "%5B%5D", "%7B%7D",
        "%5B%7B%7D%5D",
        "%5Bnull,1,%22a%22%5D", "%7B%22a%22%3A", "#allentity".replacing("#", with: "%23"), "%23partofentity",
        "%23clearentity",
        "denoise_grade%3D99,need_mapmatch%3Dx,%3D,a%3D,%3Db",
    ]

    /// Long ones. A parameter gets one of them, and each parameter's name gets all of them in some call.
    private static let long: [String] = [
        String(repeating: "a", count: 1 << 20), String(repeating: "9", count: 100_000),
        String(repeating: "%5B", count: 5000), String(repeating: "n,", count: 30_001),
        String(repeating: "31,121;", count: 10_000), "entity_names%3A" + String(repeating: "n,", count: 30_001),
    ]

    private static let notUTF8 = ["%FF", "%C3%28", "%ED%A0%80", "a%80"]

    private struct Form {
        let endpoint: Endpoint
        let pairs: [(name: String, value: String)]

        init(_ endpoint: Endpoint) throws {
            self.endpoint = endpoint
            pairs = try endpoint.parameters.sorted().map { name in
                let value = BadInputTests.special[endpoint.path]?[name] ?? BadInputTests.right[name]
                return (
                    name,
                    BadInputTests.encoded(
                        try #require(value, "\(endpoint.path): \(name) has no right value in this test"))
                )
            }
        }

        /// The body with another value; nil leaves the parameter out.
        func body(_ name: String = "", _ value: String? = nil) -> String {
            let rest = pairs.filter { $0.name != name }.map { "\($0.name)=\($0.value)" }
            return (rest + (value.map { ["\(name)=\($0)"] } ?? [])).joined(separator: "&")
        }
    }

    private static func encoded(_ text: String) -> String {
        String(decoding: FormEncoding.encoded(text.utf8, .rfc3986), as: UTF8.self)
    }

    /// A service with an entity, its points, a column of each kind and a fence.
    private func bench() async throws -> Bench {
        let bench = try await Bench()
        try await bench.upload(
            "van",
            (0..<20).map { index in
                var made = try point(Self.now - 3000 + Int64(index) * 60, 31 + Double(index) / 1000, 121)
                // As of an agent, after the first ones: only such points have gaps.
                if index > 9 { made.continuity = Continuity(interval: 60) }
                return made
            })
        _ = try await bench.post("track/addcolumn", "column_key=fuel&column_type=2")
        _ = try await bench.post("entity/addcolumn", "column_key=fuel")
        _ = try await bench.post("fence/createcirclefence", "monitored_person=van&longitude=121&latitude=31&radius=50")
        return bench
    }

    /// Sends a body, and checks what holds for every answer. Returns status and message.
    private func send(
        _ bench: Bench, _ endpoint: Endpoint, _ body: String, _ what: String
    ) async throws -> (status: Int, message: String) {
        let sent = "ak=\(Bench.key)&service_id=\(bench.service.rawValue)&\(body)"
        let response = await bench.router.respond(
            to: APIRequest(
                method: "POST", target: "/api/v3/\(endpoint.path)", contentType: "application/x-www-form-urlencoded",
                body: Array(sent.utf8)))
        #expect(response.httpStatus == 200, "\(endpoint.path) \(what)")
        // An answer never grows with the request beyond what it repeats of it.
        #expect(response.body.count <= 65_536 + 4 * sent.utf8.count, "\(endpoint.path) \(what): \(response.body.count)")
        let value = try JSONReader.value(of: response.body, .requests)
        let number = Int(try #require(value["status"]?.integerValue))
        let status = try #require(APIStatus(rawValue: number), "\(endpoint.path) \(what): status \(number)")
        let message = try #require(value["message"]?.stringValue)
        #expect(status != .internalError, "\(endpoint.path) \(what): \(message)")
        let isState = endpoint.path == "frequentroute/getjob" && status == .success
        #expect(
            (message.hasPrefix(status.message) || isState) && message.utf8.count < 1000,
            "\(endpoint.path) \(what): \(message.prefix(300))")
        if status == .parameter {
            #expect(message.count > status.message.count + 2, "\(endpoint.path) \(what): no reason")
        }
        #expect(!message.utf8.contains { $0 < 0x20 }, "\(endpoint.path) \(what): control characters in \(message)")
        return (number, message)
    }

    private static func shown(_ value: String) -> String { "\(value.prefix(40))(\(value.utf8.count))" }

    @Test(arguments: Endpoint.all.map(\.path)) func noParameterBreaksACall(_ path: String) async throws {
        let endpoint = try #require(Endpoint.named[path])
        let form = try Form(endpoint)
        for (number, name) in endpoint.parameters.sorted().enumerated() {
            let bench = try await bench()
            let turn = number + path.utf8.reduce(0) { $0 + Int($1) }
            // The first call that takes a parameter gets all long values.
            let isFirst = Endpoint.all.first { $0.parameters.contains(name) }?.path == path
            let long = isFirst ? Self.long : [Self.long[1 + turn % (Self.long.count - 1)]]
            for value in Self.wrong + long {
                let (status, message) = try await send(
                    bench, endpoint, form.body(name, value), "\(name)=\(Self.shown(value))")
                // The one thing that is wrong has a name.
                if status == APIStatus.parameter.rawValue {
                    #expect(
                        // Or something that another parameter says of it, as of a fence of another kind.
                        endpoint.parameters.contains(where: message.contains) || path == "track/addpoints",
                        "\(path) \(name)=\(Self.shown(value)): \(message)")
                }
            }
            for value in Self.notUTF8 {
                let (status, _) = try await send(bench, endpoint, form.body(name, value), "\(name)=\(value)")
                #expect(status == APIStatus.notUTF8.rawValue, "\(path) \(name)=\(value): \(status)")
            }
            _ = try await send(bench, endpoint, form.body(name), "without \(name)")
            _ = try await send(bench, endpoint, form.body() + "&\(name)=1&\(name)=2", "\(name) three times")
            let many = String(repeating: "&\(name)=x", count: 200)
            _ = try await send(bench, endpoint, form.body() + many, "\(name) two hundred times")
        }
    }

    @Test func aRightRequestOfEveryCallIsTaken() async throws {
        for endpoint in Endpoint.all {
            let bench = try await bench()
            let (status, message) = try await send(bench, endpoint, try Form(endpoint).body(), "right")
            let allowed: Set<Int> = [
                0, APIStatus.noEntity.rawValue, APIStatus.noFence.rawValue, APIStatus.notAllowed.rawValue,
            ]
            // No district is imported, no job exists, and the fence is a circle.
            let known =
                message.contains("keyword") || message.contains("job_id") || message.contains("fence_id")
                || message.contains("there is no job")
            #expect(allowed.contains(status) || known, "\(endpoint.path): \(message)")
        }
    }

    @Test(arguments: Endpoint.all.filter { $0.parameters.contains("start_time") }.map(\.path))
    func everyRangeIsJudged(_ path: String) async throws {
        let endpoint = try #require(Endpoint.named[path])
        let form = try Form(endpoint)
        let bench = try await bench()
        let start = Self.special[path] == nil ? Self.now - 80_000 : Self.now - 200_000
        func ask(_ from: Int64, _ to: Int64) async throws -> Int {
            let rest = form.pairs.filter { !["start_time", "end_time"].contains($0.name) }
            let body = (rest.map { "\($0.name)=\($0.value)" } + ["start_time=\(from)", "end_time=\(to)"])
                .joined(separator: "&")
            return try await send(bench, endpoint, body, "\(from)...\(to)").status
        }
        #expect(try await ask(start, start - 1) == APIStatus.rangeReversed.rawValue, "\(path)")
        // No job exists.
        let isJob = path == "frequentroute/getjob"
        #expect(try await ask(start, start) == (isJob ? APIStatus.parameter.rawValue : 0), "\(path)")
        for (from, to) in [(Int64.min, Int64.max), (.max, .min), (0, .max), (.min, .min), (.max, .max), (-1, 0)] {
            _ = try await ask(from, to)
        }
        let isHistory = path.hasPrefix("fence/historyalarm")
        if path != "fence/batchhistoryalarm", !isHistory {
            let longest = path.hasPrefix("frequentroute/") ? RouteJobRules.longestRange : 86_400
            #expect(try await ask(start, start + longest) != APIStatus.rangeTooLong.rawValue, "\(path)")
            #expect(try await ask(start, start + longest + 1) == APIStatus.rangeTooLong.rawValue, "\(path)")
        }
    }

    @Test(arguments: Endpoint.all.filter { $0.parameters.contains("vertexes") }.map(\.path))
    func everyShapeIsJudged(_ path: String) async throws {
        let endpoint = try #require(Endpoint.named[path])
        let form = try Form(endpoint)
        let bench = try await bench()
        func ask(_ vertexes: String) async throws -> (status: Int, message: String) {
            try await send(bench, endpoint, form.body("vertexes", Self.encoded(vertexes)), Self.shown(vertexes))
        }
        let isLine = path.contains("polyline")
        let isUpdate = path.contains("update")
        let one = try await ask("31,121")
        #expect(one.status != 0, "\(path): \(one)")
        let ring = (0..<10_000).map { index in
            // A ring of 1 km.
            let angle = Double(index) / 10_000 * 6.283185
            return "\(31 + 0.01 * sin(angle)),\(121 + 0.01 * cos(angle))"
        }
        let many = try await ask(ring.joined(separator: ";"))
        #expect(many.status != 0 && (isUpdate || many.message.contains("vertexes")), "\(path): \(many)")
        for text in [
            "10,179.9;10,-179.9;10.1,-179.9", "89.9,0;90,120;-90,240", "31,121;31,121;31,121",
            "0,0;0,180;0,-180", "31,121;31.1,121.1;31,121.1;31.1,121",
        ] {
            let (status, message) = try await ask(text)
            #expect([0, 2, 3003].contains(status), "\(path) \(text): \(message)")
        }
        if isLine { #expect(try await ask("31,121;31,121.1").status == (isUpdate ? 2 : 0)) }
    }

    @Test func aPageBeyondTheEndIsEmpty() async throws {
        let bench = try await bench()
        for (path, query, list) in [
            ("entity/list", "", "entities"),
            ("track/gettrack", "entity_name=van&start_time=\(Self.now - 3600)&end_time=\(Self.now)", "points"),
            ("fence/list", "monitored_person=van", "fences"),
        ] {
            for page in ["2", "2097151", "9223372036854775807"] {
                let answer = try await bench.get(path, "\(query)&page_index=\(page)&page_size=1000")
                #expect(answer.status == 0, "\(path) \(answer)")
                #expect(answer[list] == [] && answer["size"] == 0, "\(path) \(page): \(answer)")
                #expect(answer["total"]?.integerValue ?? 0 > 0, "\(path)")
            }
        }
    }

    @Test func whatEveryCallTakesIsJudgedToo() async throws {
        let bench = try await bench()
        for (query, status) in [
            ("", 101), ("ak=", 101), ("ak=x&service_id=1", 200), ("ak=\(Bench.key)", 2),
            ("ak=\(Bench.key)&service_id=", 2), ("ak=\(Bench.key)&service_id=x", 2),
            ("ak=\(Bench.key)&service_id=1e0", 2), ("ak=\(Bench.key)&service_id=99", 4005),
            ("ak=\(Bench.key)&service_id=-1", 4005), ("ak=\(Bench.key)&service_id=9223372036854775808", 2),
            ("ak=%FF&service_id=1", 3007), ("ak=%00&service_id=1", 200),
            ("ak=\(String(repeating: "a", count: 1 << 20))&service_id=1", 2),
            ("ak=\(Bench.key)&service_id=1&ak=\(Bench.key)", 200),
        ] {
            for path in ["entity/list", "track/gettrack", "export/getjob"] {
                let answer = try await bench.send(APIRequest(method: "GET", target: "/api/v3/\(path)?\(query)"))
                #expect(answer.status == Int64(status), "\(path) \(query.prefix(60)): \(answer)")
            }
        }
    }
}
