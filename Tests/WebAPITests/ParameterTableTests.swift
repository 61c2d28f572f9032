import Foundation
import Geodesy
import Ingest
import JSON
import Testing
import TrackModel
import TrackStore

@testable import WebAPI

/// docs/web-api-parameters.md beside what the router does.
@Suite(.timeLimit(.minutes(20))) struct ParameterTableTests {
    /// What every call takes before it is a call.
    private static let common: Set = ["ak", "service_id", "sn", "mcode", "callback"]

    private static func table() throws -> ParameterTable {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try ParameterTable(
            String(contentsOf: root.appending(path: "docs/web-api-parameters.md"), encoding: .utf8))
    }

    @Test func everyParameterOfEveryCallHasOneRow() throws {
        let rows = try Self.table().rows
        for row in rows {
            for call in row.calls {
                let single = ParameterTable.Row(calls: [call], parameter: "", bytes: nil, verdict: .ours, cases: [])
                #expect(Endpoint.all.contains { single.concerns($0.path) }, "no call is named \(call)")
            }
        }
        for endpoint in Endpoint.all {
            let told = rows.filter { $0.concerns(endpoint.path) }
            let names = told.map(\.parameter)
            #expect(Set(names).count == names.count, "\(endpoint.path): a parameter has two rows: \(names)")
            let taken = Set(endpoint.parameters + (endpoint.columns.map { ["*\($0.rawValue) columns*"] } ?? []))
            let obeyed = Set(told.filter { $0.verdict != .ignored }.map(\.parameter)).subtracting(Self.common)
            #expect(obeyed == taken, "\(endpoint.path)")
            let ignored = told.filter { $0.verdict == .ignored }.map(\.parameter)
            #expect(taken.isDisjoint(with: ignored), "\(endpoint.path) takes what the page calls ignored: \(ignored)")
        }
    }

    /// Also what would be right but for its length: nothing has read the value.
    @Test(arguments: Endpoint.all.map(\.path))
    func aValueThatIsTooLongIsRefusedWithItsLengthAndTheBound(_ path: String) async throws {
        let endpoint = try #require(Endpoint.named[path])
        let bench = try await Self.bench()
        for row in try Self.table().rows where row.concerns(path) && row.verdict != .ignored {
            let bytes = try #require(row.bytes, "\(path) \(row.parameter) has no bound")
            let name =
                endpoint.columns.map { row.parameter == "*\($0.rawValue) columns*" } == true
                ? (endpoint.columns == .track ? "note" : "team") : row.parameter
            // The body of a request is no longer than this, and it is a device's call that can be.
            for kind in ["x", " ", "1", "e\u{301}\u{327}", ",", ";", ":", "[", "\"", "%41"] where name != "callback" {
                let value = String(repeating: kind, count: bytes / kind.utf8.count + 1)
                var form = Self.request(of: path)
                form["ak"] = Bench.key
                form["service_id"] = "\(bench.service.rawValue)"
                form[name] = (form[name] ?? "") + value
                let length = try #require(form[name]).utf8.count
                // Who the caller is needs no parameter there.
                let isOfHTTP = Self.common.contains(name)
                if !isOfHTTP, length > 1 << 20, kind != "x" { continue }
                let answer =
                    isOfHTTP
                    ? try await Self.send(bench, endpoint, form)
                    : try await Self.call(bench, path, form)
                #expect(answer.status == 2, "\(path) \(name): \(answer)")
                let message = answer["message"]?.stringValue ?? ""
                #expect(
                    message.contains(" \(length) bytes") && message.contains(" \(bytes) are the most"),
                    "\(path) \(name): \(message)")
            }
        }
    }

    /// Through a device's session that may ask about everyone.
    private static func call(_ bench: Bench, _ path: String, _ form: [String: String]) async throws -> JSONValue {
        let answer = await bench.router.call(
            service: bench.service, entity: "van", path: path, parameters: form, policy: .service)
        return try JSONReader.value(of: Array(answer.json.utf8), .requests)
    }

    @Test func thePageTellsTheBoundOfEachParameter() throws {
        for row in try Self.table().rows where row.verdict != .ignored {
            let isColumn = row.parameter.hasPrefix("*")
            let most = isColumn ? ParameterLengths.column : ParameterLengths.most(of: row.parameter)
            #expect(row.bytes == most, "\(row.calls) \(row.parameter)")
        }
    }

    @Test(arguments: Endpoint.all.map(\.path))
    func everyValueOfThePageHasItsStatus(_ path: String) async throws {
        let endpoint = try #require(Endpoint.named[path])
        let right = Self.request(of: path)
        let usual = UnofferedEndpoints.all.contains { $0.path == path } ? 240 : Int64(0)
        for row in try Self.table().rows where row.concerns(path) {
            for wanted in row.cases {
                let bench = try await Self.bench()
                var form = right
                form["ak"] = Bench.key
                form["service_id"] = "\(bench.service.rawValue)"
                let name =
                    endpoint.columns.map { row.parameter == "*\($0.rawValue) columns*" } == true
                    ? (endpoint.columns == .track ? "fuel" : "team") : row.parameter
                form[name] = wanted.value
                let answer = try await Self.send(bench, endpoint, form)
                #expect(
                    answer.status == (wanted.status == 0 ? usual : wanted.status),
                    "\(path) \(name)=\(wanted.value.map { String($0.prefix(60)) } ?? "none"): \(answer)")
            }
        }
    }

    private static func send(
        _ bench: Bench, _ endpoint: Endpoint, _ form: [String: String]
    ) async throws -> JSONValue {
        let text = form.sorted { $0.key < $1.key }.map { name, value in
            "\(name)=" + String(decoding: FormEncoding.encoded(value.utf8, .rfc3986), as: UTF8.self)
        }.joined(separator: "&")
        switch endpoint.method {
        case .get:
            return try await bench.send(APIRequest(method: "GET", target: "/api/v3/\(endpoint.path)?\(text)"))
        case .post:
            return try await bench.send(
                APIRequest(
                    method: "POST", target: "/api/v3/\(endpoint.path)",
                    contentType: "application/x-www-form-urlencoded", body: Array(text.utf8)))
        }
    }

    /// What the head of the page says of the service.
    private static func bench() async throws -> Bench {
        let bench = try await Bench()
        let now = Bench.now.seconds
        func done(_ path: String, _ body: String) async throws {
            let answer = try await bench.post(path, body)
            try #require(answer.status == 0, "\(path): \(answer)")
        }
        try await done("entity/addcolumn", "column_key=team&is_search=1")
        try await done("track/addcolumn", "column_key=fuel&column_type=2")
        try await done("track/addcolumn", "column_key=note&column_type=3")
        try await done("entity/add", "entity_name=van&entity_desc=blue&team=north")
        try await done("entity/add", "entity_name=empty")
        try await bench.upload(
            "van",
            try (0..<20).map { try point(now - 1200 + Int64($0) * 60, 52.1 + Double($0) * 1e-4, 4.3, speed: 1000) })
        try await bench.store.replaceDistricts(of: "test", with: districts)
        for (kind, shape) in shapes.sorted(by: { $0.value.number < $1.value.number }) {
            let answer = try await bench.post("fence/create\(kind)fence", "monitored_person=van&\(shape.text)")
            try #require(answer["fence_id"]?.integerValue == shape.number, "\(answer)")
        }
        try await done("export/createjob", "start_time=\(now - 90_000)&end_time=\(now - 86_000)")
        try await done(
            "frequentroute/createjob", "entity_name=van&start_time=\(now - 3600)&end_time=\(now)&time_range=60")
        return bench
    }

    private static let shapes: [String: (number: Int64, text: String)] = [
        "circle": (1, "longitude=4.3&latitude=52.1&radius=100&coord_type=wgs84"),
        "polygon": (2, "vertexes=52,4;52,5;53,5&coord_type=wgs84"),
        "polyline": (3, "vertexes=52,4;52,5&offset=50&coord_type=wgs84"), "district": (4, "keyword=Delft"),
    ]

    private static var districts: [NewDistrict] {
        func square(_ south: Double, _ west: Double) -> ShapeDraft {
            let corners = [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 0.0)]
            return ShapeDraft(
                .polygon([[corners.map { Degrees(latitude: south + $0.0, longitude: west + $0.1) }]]))
        }
        return [
            NewDistrict(name: "湖南省", parent: nil, shape: square(30, 110)),
            NewDistrict(name: "长沙市", parent: 0, shape: square(30, 111)),
            NewDistrict(name: "辽宁省", parent: nil, shape: square(30, 120)),
            NewDistrict(name: "长沙市", parent: 2, shape: square(30, 121)),
            NewDistrict(name: "Delft", parent: nil, shape: square(51.5, 3.8)),
        ]
    }

    /// A right request of a call, without `ak` and `service_id`.
    private static func request(of path: String) -> [String: String] {
        let now = Bench.now.seconds
        let range = ["entity_name": "van", "start_time": "\(now - 3600)", "end_time": "\(now)"]
        switch path {
        case "entity/add": return ["entity_name": "new"]
        case "entity/update", "entity/delete", "track/getlatestpoint": return ["entity_name": "van"]
        case "entity/boundsearch": return ["bounds": "52,4;53,5", "coord_type_input": "wgs84"]
        case "entity/aroundsearch": return ["center": "52.1019,4.3", "radius": "1000"]
        case "entity/polygonsearch": return ["vertexes": "52,4.2;52,4.4;52.2,4.3"]
        case "entity/districtsearch": return ["keyword": "Delft"]
        case "entity/addcolumn": return ["column_key": "new"]
        case "entity/deletecolumn": return ["column_key": "team"]
        case "track/addcolumn": return ["column_key": "new", "column_type": "1"]
        case "track/deletecolumn": return ["column_key": "fuel"]
        case "track/addpoint":
            return ["entity_name": "van", "loc_time": "\(now)", "latitude": "52.1", "longitude": "4.3"]
        case "track/addpoints":
            return ["point_list": #"[{"entity_name":"van","latitude":1,"longitude":1,"loc_time":1}]"#]
        case "track/getdistance", "track/gettrack", "analysis/staypoint", "analysis/drivingbehavior", "analysis/trips":
            return range
        case "frequentroute/createjob", "frequentroute/getjob": return range.merging(["time_range": "60"]) { $1 }
        case "fence/delete", "fence/list": return ["fence_ids": "1"]
        case "fence/addmonitoredperson", "fence/deletemonitoredperson":
            return ["fence_id": "1", "monitored_person": "van"]
        case "fence/listmonitoredperson": return ["fence_id": "1"]
        case "fence/querystatus": return ["monitored_person": "van"]
        case "fence/querystatusbylocation":
            return ["monitored_person": "van", "latitude": "52.1", "longitude": "4.3", "coord_type": "wgs84"]
        case "fence/historyalarm", "fence/batchhistoryalarm":
            return ["monitored_person": "van", "start_time": "\(now - 3600)", "end_time": "\(now)"]
        case "fence/seturl": return ["url": "https://example.com/alarms"]
        case "export/createjob", "historysearch/createjob":
            return ["start_time": "\(now - 90_000)", "end_time": "\(now - 86_000)"]
        case "export/deletejob", "historysearch/deletejob": return ["job_id": "1"]
        case _ where path.hasPrefix("fence/create") || path.hasPrefix("fence/update"):
            return fenceRequest(path)
        default: return [:]
        }
    }

    private static func fenceRequest(_ path: String) -> [String: String] {
        let kind = path.dropFirst("fence/create".count).dropLast("fence".count)
        guard let shape = shapes[String(kind)] else { return [:] }
        let pairs = shape.text.split(separator: "&").map { $0.split(separator: "=").map(String.init) }
        var request = Dictionary(uniqueKeysWithValues: pairs.map { ($0[0], $0[1]) })
        if path.hasPrefix("fence/update") { request["fence_id"] = "\(shape.number)" }
        return request
    }
}
