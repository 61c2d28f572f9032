import Ingest
import JSON
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import WebAPI

@Suite("The router")
struct RouterTests {
    @Test(arguments: [
        "/api/v3/entity/list", "/api/v3/entity/list%20", "/API/V3/Entity/List", "//api//v3/entity/list/",
        "/api/v2/entity/list", "/trace/v2/entity/list", "/trace/v3/entity/list",
        "http://yingyan.baidu.com/api/v3/entity/list",
        "HTTPS://yingyan.baidu.com:443/api/v3/entity/list", "/api/v3/entity/%6cist",
    ])
    func pathsThatClientsReallySendAreUnderstood(path: String) async throws {
        let bench = try await Bench()
        let request = APIRequest(method: "GET", target: "\(path)?ak=\(Bench.key)&service_id=1#x")
        #expect(try await bench.send(request).status == 3003)
    }

    @Test func onlyACallHasAUsualPath() {
        #expect(RequestTarget("/trace/v3//Track/GetTrack%20?a=b").usualPath == "/api/v3/track/gettrack")
        // Every call has the same answer in both generations: the published browser sample asks for the older one.
        for endpoint in Endpoint.all {
            #expect(RequestTarget("/api/v2/\(endpoint.path)?a=b").endpoint == endpoint.path)
        }
        #expect(RequestTarget("/api/v2/analysis/drivingbehaviour").endpoint == "analysis/drivingbehavior")
        for version in ["v1", "v4", "v", "3", "v22"] {
            #expect(RequestTarget("/api/\(version)/entity/list").endpoint == nil)
        }
        // Decoded, the mark would begin a fragment.
        let unknown = RequestTarget("https://h/api/v3/Track/a%23b?a=b")
        #expect(unknown.endpoint == "track/a#b")
        #expect(unknown.usualPath == "/api/v3/Track/a%23b")
    }

    @Test func anUnknownCallIsAnAnswerAndAForeignPathIsNotFound() async throws {
        let bench = try await Bench()
        let unknown = await bench.router.respond(to: APIRequest(method: "GET", target: "/api/v3/entity/nothing"))
        #expect(unknown.httpStatus == 200)
        #expect(try JSONReader.value(of: unknown.body).status == 260)
        for target in ["/", "", "?", "/favicon.ico", "/apis/v3/entity/list", "http://", "%FF"] {
            let query = target.contains("?") ? "" : "?callback=f"
            let foreign = await bench.router.respond(to: APIRequest(method: "GET", target: target + query))
            #expect(foreign.httpStatus == 404)
            #expect(foreign.body.starts(with: Array("{".utf8)))
        }
    }

    @Test func answersAreCountedByCallAndStatusAndNothingElse() async throws {
        let bench = try await Bench()
        _ = try await bench.post("entity/add", "entity_name=van")
        _ = try await bench.get("entity/list")
        _ = try await bench.get("entity/list", "coord_type_output=mars")
        for name in ["nothing", "van\"}", String(repeating: "x", count: 500)] {
            _ = await bench.router.respond(to: APIRequest(method: "GET", target: "/api/v3/entity/\(name)"))
        }
        _ = await bench.router.respond(to: APIRequest(method: "GET", target: "/favicon.ico"))
        _ = await bench.router.call(
            service: bench.service, entity: "van", path: "track/getlatestpoint", parameters: [:], policy: .entity)
        _ = await bench.router.call(
            service: bench.service, entity: "van", path: "no/call", parameters: [:], policy: .entity)
        typealias Answer = APICounters.Answer
        #expect(
            bench.router.counters.answers == [
                Answer(way: .http, call: "entity/add", status: 0): 1,
                Answer(way: .http, call: "entity/list", status: 0): 1,
                Answer(way: .http, call: "entity/list", status: 2): 1,
                Answer(way: .http, call: "unknown", status: 260): 4,
                Answer(way: .device, call: "track/getlatestpoint", status: 0): 1,
                Answer(way: .device, call: "unknown", status: 260): 1,
            ])
    }

    @Test func anEnrolmentTokenIsNoAccessKey() async throws {
        let bench = try await Bench()
        _ = try await bench.store.addToken(.sample(1, in: bench.service), at: Bench.now)
        for (key, isToken) in [("token%201", true), ("token%202", false)] {
            let answer = try await bench.send(
                APIRequest(method: "GET", target: "/api/v3/entity/list?ak=\(key)&service_id=\(bench.service.rawValue)"))
            #expect(answer.status == 200)
            #expect((answer["message"]?.stringValue?.contains("enrolment token") == true) == isToken, "\(answer)")
        }
    }

    @Test func keysAndServicesHaveTheirStatuses() async throws {
        let bench = try await Bench()
        func status(_ query: String) async throws -> Int64? {
            try await bench.send(APIRequest(method: "GET", target: "/api/v3/entity/list?\(query)")).status
        }
        #expect(try await status("service_id=1") == 101)
        #expect(try await status("ak=&service_id=1") == 101)
        #expect(try await status("ak=wrong&service_id=1") == 200)
        #expect(try await status("ak=\(Bench.key)") == 2)
        #expect(try await status("ak=\(Bench.key)&service_id=x") == 2)
        #expect(try await status("ak=\(Bench.key)&service_id=2") == 4005)
        #expect(try await status("ak=\(Bench.key)&service_id=99999999999") == 4005)
        try await bench.store.addKey(
            AccessKey("new").hash, secret: nil, to: bench.service, replacing: true, at: Bench.now)
        #expect(try await status("ak=\(Bench.key)&service_id=1") == 201)
        #expect(try await status("ak=new&service_id=1") == 3003)
    }

    @Test func aServiceWithAnAppCodeWantsItWithEveryKey() async throws {
        let bench = try await Bench()
        func status(_ query: String = "") async throws -> Int64? { try await bench.get("entity/list", query).status }
        #expect(try await status() == 3003)
        #expect(try await status("mcode=anything") == 3003)
        try await bench.store.setAppCode("com.example;A1", of: bench.service)
        #expect(try await status() == 102)
        #expect(try await status("mcode=") == 102)
        #expect(try await status("mcode=com.example%3BA2") == 230)
        #expect(try await status("mcode=com.example%3BA1") == 3003)
        // An agent has shown the code at its login.
        let call = await bench.router.call(
            service: bench.service, entity: "van", path: "track/getlatestpoint", parameters: [:], policy: .entity)
        #expect(call.status == 3003)
        try await bench.store.setAppCode(nil, of: bench.service)
        #expect(try await status() == 3003)
    }

    /// Decision 25: a client without the key, or from a place where the key may not be used, gets no answer about the code; and the
    /// code comes before the signature.
    @Test func theAppCodeIsCheckedAfterTheKeyAndBeforeTheSignature() async throws {
        let bench = try await Bench(secret: "demo-sk")
        try await bench.store.setAppCode("com.example;A1", of: bench.service)
        func status(_ query: String, key: String = Bench.key) async throws -> Int64? {
            try await bench.send(
                APIRequest(method: "GET", target: "/api/v3/entity/list?ak=\(key)&service_id=1\(query)")
            )
            .status
        }
        for code in ["", "&mcode=wrong"] { #expect(try await status(code, key: "no-key") == 200) }
        #expect(try await status("") == 102)
        #expect(try await status("&mcode=wrong") == 230)
        #expect(try await status("&sn=wrong") == 102)
        #expect(try await status("&mcode=wrong&sn=wrong") == 230)
        #expect(try await status("&mcode=com.example%3BA1&sn=wrong") == 211)
        let refusals: [(key: String, rights: KeyRights, status: Int64)] = [
            ("ended", KeyRights(.read, end: Bench.now), 201),
            ("elsewhere", KeyRights(.read, addresses: [try #require(AddressRange("192.0.2.0/24"))]), 210),
            ("page", KeyRights(.read, referers: [try #require(RefererPattern("example.org"))]), 220),
        ]
        for (key, rights, expected) in refusals {
            try await bench.store.addKey(
                KeyGrant(AccessKey(key).hash, secret: nil, rights: rights), to: bench.service, replacing: false,
                at: Bench.now)
            for code in ["", "&mcode=wrong"] { #expect(try await status(code, key: key) == expected, "\(key)") }
        }
    }

    @Test func everyCallTakesGETAndPOSTUnlessTheOperatorWantsOnlyTheDocumentedOne() async throws {
        let bench = try await Bench()
        #expect(try await bench.get("entity/add", "entity_name=a").status == 0)
        #expect(try await bench.post("entity/list", "").status == 0)
        let strict = try await Bench(WebAPIOptions(strictMethods: true))
        #expect(try await strict.get("entity/add", "entity_name=a").status == 3)
        #expect(try await strict.post("entity/list", "").status == 3)
        #expect(try await strict.get("entity/list").status == 3003)
        #expect(try await bench.send(APIRequest(method: "DELETE", target: "/api/v3/entity/list")).status == 3)
    }

    @Test(arguments: [
        ("application/x-www-form-urlencoded", "entity_name=van_07&entity_desc=%E8%93%9D"),
        ("application/json;charset=utf-8", "entity_name=van_07&entity_desc=%E8%93%9D"),
        (nil, "entity_name=van_07&entity_desc=%E8%93%9D"), ("text/odd", "entity_name=van_07&entity_desc=%E8%93%9D"),
        ("application/json", " {\"entity_name\":\"van_07\",\"entity_desc\":\"蓝\",\"x\":null}"),
        (
            "multipart/form-data; boundary=b",
            "--b\r\nContent-Disposition: form-data; name=entity_name\r\n\r\nvan_07\r\n"
                + "--b\r\nContent-Disposition: form-data; name=\"entity_desc\"\r\n\r\n蓝\r\n--b--\r\n"
        ),
    ])
    func bodiesComeInEveryEncodingThatClientsUse(type: String?, body: String) async throws {
        let bench = try await Bench()
        // The query's entity_name loses against the body's.
        let target = "/api/v3/entity/add?ak=\(Bench.key)&service_id=1&entity_name=other"
        let request = APIRequest(method: "POST", target: target, contentType: type, body: Array(body.utf8))
        #expect(try await bench.send(request).status == 0)
        let record = try await bench.store.entity(named: "van_07", in: bench.service)
        #expect(record?.description == "蓝")
    }

    @Test func bodiesThatCannotBeReadHaveTheirStatuses() async throws {
        let bench = try await Bench()
        func status(_ type: String?, _ body: [UInt8]) async throws -> Int64? {
            let target = "/api/v3/entity/add?ak=\(Bench.key)&service_id=1"
            return try await bench.send(APIRequest(method: "POST", target: target, contentType: type, body: body))
                .status
        }
        #expect(try await status(nil, [0xFF]) == 3007)
        #expect(try await status("multipart/form-data", [0x2D]) == 2)
        #expect(try await status("multipart/form-data; boundary=b", Array("--b".utf8)) == 2)
        #expect(try await status("application/json", Array("{".utf8)) == 2)
        #expect(try await status(nil, [UInt8](repeating: 0x61, count: 8 << 20 | 1)) == 10)
    }

    @Test func aCallbackWrapsTheAnswerOfAGET() async throws {
        let bench = try await Bench()
        func answer(_ method: String, _ callback: String) async -> (type: String?, body: String) {
            let target = "/api/v3/entity/list?ak=\(Bench.key)&service_id=1&callback=\(callback)"
            let response = await bench.router.respond(to: APIRequest(method: method, target: target))
            let type = response.headers.first { $0.name == "Content-Type" }?.value
            return (type, String(decoding: response.body, as: UTF8.self))
        }
        let wrapped = await answer("GET", "jQuery.a_1%5B0%5D")
        #expect(wrapped.type == "application/javascript; charset=utf-8")
        #expect(wrapped.body.hasPrefix("/**/jQuery.a_1[0]({\"status\":3003,"))
        #expect(wrapped.body.hasSuffix("})"))
        #expect(await answer("POST", "x").body.hasPrefix("{\"status\":3003"))
        for bad in ["alert(1)", "a%20b", "%E6%88%90", String(repeating: "a", count: 65)] {
            let refused = await answer("GET", bad)
            #expect(refused.type == "application/json; charset=utf-8")
            #expect(refused.body.hasPrefix("{\"status\":2,"))
        }
    }

    /// A page whose script gets another type asks again without end.
    @Test(arguments: [
        ("/api/v2/track/gethistory?callback=f", 260), ("/api?callback=f", 260), ("/trace/v3/fence/no?callback=f", 260),
        ("/api/v3/track/gettrack?callback=f", 101), ("/api/v3/track/gettrack?ak=no&service_id=1&callback=f", 200),
    ])
    func aCallbackWrapsRefusalsToo(target: String, status: Int) async throws {
        let response = await (try Bench()).router.respond(to: APIRequest(method: "GET", target: target))
        #expect(response.httpStatus == 200)
        #expect(response.headers.contains { $0.value.hasPrefix("application/javascript") })
        #expect(String(decoding: response.body, as: UTF8.self).hasPrefix("/**/f({\"status\":\(status),"))
    }

    /// The query of such a request cannot be read as a whole, and its page must be told so all the same.
    @Test(arguments: [
        "?callback=f&entity_name=%C4%E3", "?entity_name=%C4%E3&callback=f", "?%C4%E3=1&callback=f",
        "?callback=%C4%E3&callback=&callback=f", "?&&x&callback&%63allback=f&callback=g",
        "?\(String(repeating: "a=1&", count: 5000))callback=f",
    ])
    func aCallbackIsFoundBesideWhatCannotBeRead(query: String) async throws {
        let bench = try await Bench()
        for path in ["/api/v3/track/gettrack", "/api/v2/track/gethistory", "/trace/v3/x", "/api/v3/track/%C4%E3"] {
            let response = await bench.router.respond(to: APIRequest(method: "GET", target: path + query))
            let body = String(decoding: response.body, as: UTF8.self)
            #expect(response.httpStatus == 200)
            #expect(response.headers.contains { $0.value.hasPrefix("application/javascript") }, "\(path): \(body)")
            #expect(body.hasPrefix("/**/f({\"status\":"))
        }
    }

    @Test func aQueryThatIsNotUTF8HasItsStatusInTheCallback() async throws {
        let target = "/api/v3/track/gettrack?ak=\(Bench.key)&service_id=1&callback=f&entity_name=%C4%E3"
        let response = await (try Bench()).router.respond(to: APIRequest(method: "GET", target: target))
        #expect(String(decoding: response.body, as: UTF8.self).hasPrefix("/**/f({\"status\":3007,"))
    }

    @Test func pagesOfOtherOriginsMayAsk() async throws {
        let bench = try await Bench()
        let preflight = await bench.router.respond(
            to: APIRequest(method: "OPTIONS", target: "/api/v3/track/addpoint", requestedHeaders: "X-A, Content-Type"))
        #expect(preflight.httpStatus == 204)
        let headers = Dictionary(uniqueKeysWithValues: preflight.headers.map { ($0.name, $0.value) })
        #expect(headers["Access-Control-Allow-Origin"] == "*")
        #expect(headers["Access-Control-Allow-Headers"] == "X-A, Content-Type")
        let answer = await bench.router.respond(to: APIRequest(method: "GET", target: "/api/v3/entity/list"))
        #expect(answer.headers.contains { $0.name == "Access-Control-Allow-Origin" && $0.value == "*" })
    }

    @Test func anAgentCallsThroughItsSessionWithoutAKey() async throws {
        let bench = try await Bench()
        try await bench.upload("van_07", [try point(1_772_677_800, 30.63, 103.99)])
        let answer = await bench.router.call(
            service: bench.service, entity: "van_07", path: "track/getlatestpoint",
            parameters: ["coord_type_output": "wgs84"], policy: .entity)
        #expect(answer.status == 0)
        #expect(answer.json.contains("\"longitude\":103.99,"))
        let full = await bench.router.call(
            service: bench.service, entity: "van_07", path: "/api/v3/track/getlatestpoint",
            parameters: ["entity_name": "nobody"], policy: .service)
        #expect(full.status == 3003)
        #expect(full.json == "{\"status\":3003,\"message\":\"指定entity不存在\"}")
        let unknown = await bench.router.call(
            service: bench.service, entity: "van_07", path: "../etc", parameters: [:], policy: .entity)
        #expect(unknown.status == 260)
    }

    @Test func theKeyNeverStandsInAnAnswer() async throws {
        let bench = try await Bench(secret: "demo-sk")
        for query in ["ak=\(Bench.key)&service_id=1", "ak=\(Bench.key)x", "ak=\(Bench.key)&service_id=1&sn=1"] {
            let response = await bench.router.respond(
                to: APIRequest(method: "GET", target: "/api/v3/entity/list?\(query)"))
            let text = String(decoding: response.body, as: UTF8.self)
            #expect(!text.contains(Bench.key))
            #expect(!text.contains("demo-sk"))
        }
    }
}
