import Geodesy
import Ingest
import JSON
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import WebAPI

@Suite("Searches of entities")
struct SearchTests {
    /// Vans in Beijing and one in Delft, one that never reported, with a column of teams.
    private func fleet(_ options: WebAPIOptions = WebAPIOptions()) async throws -> Bench {
        let bench = try await Bench(options)
        _ = try await bench.post("entity/addcolumn", "column_key=team&is_search=1")
        _ = try await bench.post("entity/addcolumn", "column_key=depot")
        for (name, team) in [("van_01", "north"), ("van_02", "south"), ("bus_01", "north"), ("never", "south")] {
            _ = try await bench.post("entity/add", "entity_name=\(name)&team=\(team)&depot=d\(name.count)")
        }
        _ = try await bench.post("entity/update", "entity_name=bus_01&entity_desc=%E8%93%9D%E8%89%B2")
        try await bench.upload("van_01", [try point(1000, 39.90, 116.40, type: .bd09ll)])
        try await bench.upload("van_02", [try point(3000, 39.91, 116.41, type: .bd09ll)])
        try await bench.upload("bus_01", [try point(2000, 39.92, 116.42, type: .bd09ll)])
        try await bench.upload("delft", [try point(4000, 52, 4.3)])
        return bench
    }

    private func names(_ bench: Bench, _ call: String, _ query: String) async throws -> [String]? {
        let answer = try await bench.get("entity/\(call)", query)
        guard answer.status == 0 || answer.status == 3003 else { return nil }
        let names = answer["entities"]?.items.compactMap { $0["entity_name"]?.stringValue }
        #expect(answer["size"]?.integerValue == names.map { Int64($0.count) })
        return names
    }

    @Test func theAnswerIsThatOfTheList() async throws {
        let bench = try await fleet()
        let list = await bench.text("entity/list")
        #expect(await bench.text("entity/search") == list)
        #expect(await bench.text("entity/search", "query=") == list)
        #expect(
            await bench.text("entity/aroundsearch", "center=39.9,116.4&radius=10")
                == "{\"status\":0,\"message\":\"成功\",\"total\":1,\"size\":1,\"entities\":["
                + "{\"entity_name\":\"van_01\",\"create_time\":\"2026-03-05 10:31:40\","
                + "\"modify_time\":\"2026-03-05 10:31:40\",\"depot\":\"d6\",\"team\":\"north\",\"latest_location\":{"
                + "\"loc_time\":1000,\"longitude\":116.4,\"latitude\":39.9,\"distance\":0}}]}")
    }

    @Test(arguments: [
        ("search", "query=VAN", ["van_01", "van_02"]), ("search", "query=%E8%89%B2", ["bus_01"]),
        ("search", "query=_0&sortby=loc_time:desc", ["van_02", "bus_01", "van_01"]),
        ("search", "sortby=loc_time", ["van_01", "bus_01", "van_02", "delft", "never"]),
        ("search", "sortby=entity_name:DESC", ["van_02", "van_01", "never", "delft", "bus_01"]),
        ("search", "sortby=entity_desc:desc&query=01", ["bus_01", "van_01"]),
        ("search", "sortby=entity_desc", ["bus_01", "delft", "never", "van_01", "van_02"]),
        ("search", "sortby=entity_desc:desc", ["bus_01", "delft", "never", "van_01", "van_02"]),
        ("boundsearch", "bounds=-90,-180;90,180&sortby=entity_desc", ["bus_01", "delft", "van_01", "van_02"]),
        ("search", "sortby=team%3Ddesc", ["never", "van_02", "bus_01", "van_01", "delft"]),
        ("search", "sortby=depot", ["never", "bus_01", "van_01", "van_02", "delft"]),
        ("search", "query=van&filter=team:north", ["van_01"]),
        ("search", "query=van&filter=active_time:2000", ["van_02"]),
        ("search", "filter=inactive_time:2000", ["never", "van_01"]),
        ("search", "query=nothing", []),
        ("boundsearch", "bounds=39.90,116.40;39.91,116.41", ["van_01", "van_02"]),
        ("boundsearch", "bounds=39.91,116.41;39.90,116.40", ["van_01", "van_02"]),
        ("boundsearch", "bounds=39.90,116.41;39.91,116.40", ["van_01", "van_02"]),
        ("boundsearch", "bounds=39.9,116.4;39.9,116.4;", ["van_01"]),
        ("boundsearch", "bounds=-90,-180;90,180&sortby=entity_name:desc", ["van_02", "van_01", "delft", "bus_01"]),
        ("boundsearch", "bounds=52,4.3;52,4.3", ["delft"]),
        ("boundsearch", "bounds=52,4.3;52,4.3&coord_type_input=wgs84", ["delft"]),
        ("boundsearch", "bounds=39.9,116.4;39.9,116.4&coord_type_input=wgs84", []),
        ("boundsearch", "bounds=-90,-180;90,180&filter=team:south", ["van_02"]),
        ("aroundsearch", "center=39.9,116.4&radius=5000&sortby=distance:desc", ["bus_01", "van_02", "van_01"]),
        ("aroundsearch", "center=%2039.9%20,%20116.4%20;&radius=%201500%20&filter=", ["van_01", "van_02"]),
        ("polygonsearch", "vertexes=39.89,116.39;39.89,116.415;39.915,116.415;39.915,116.39", ["van_01", "van_02"]),
        (
            "polygonsearch", "vertexes=39.89,116.39;39.915,116.39;39.915,116.415;39.89,116.415;39.89,116.39",
            ["van_01", "van_02"]
        ),
        ("polygonsearch", "vertexes=39.9,116.4;39.9,116.4;39.9,116.4", []),
    ])
    func itFinds(call: String, query: String, wanted: [String]) async throws {
        #expect(try await names(try await fleet(), call, query) == wanted)
    }

    @Test func pagesAreCutFromTheOrder() async throws {
        let bench = try await fleet()
        let second = try await bench.get("entity/search", "page_index=2&page_size=2&sortby=loc_time:desc")
        #expect(second["total"] == .integer(5))
        #expect(second["entities"]?.items.compactMap { $0["entity_name"]?.stringValue } == ["bus_01", "van_01"])
        let beyond = try await bench.get("entity/boundsearch", "bounds=-90,-180;90,180&page_index=2097152&page_size=9")
        #expect(beyond.status == 0)
        #expect(beyond["entities"] == .array([]))
        #expect(beyond["total"] == .integer(4))
        // What the published API does with pages that are none.
        #expect(try await names(bench, "search", "page_index=0&page_size=-3&query=van") == ["van_01", "van_02"])
        #expect(try await names(bench, "search", "page_index=x&page_size=1e308&query=van") == ["van_01", "van_02"])
    }

    @Test func nothingFoundIsWhatTheOperatorChose() async throws {
        let expected = #""total":0,"size":0,"entities":[]}"#
        let empty = "bounds=1,1;2,2"
        #expect(
            await (try fleet()).text("entity/boundsearch", empty)
                == #"{"status":3003,"message":"指定entity不存在","# + expected)
        let lenient = try await fleet(WebAPIOptions(emptyListStatus: .success))
        #expect(await lenient.text("entity/boundsearch", empty) == #"{"status":0,"message":"成功","# + expected)
    }

    @Test(arguments: [
        ("search", "query=\(String(repeating: "x", count: 129))", "query"), ("search", "query=a%0Ab", "query"),
        ("search", "sortby=colour", "sortby"), ("search", "sortby=loc_time:up", "sortby"),
        ("search", "sortby=distance", "sortby"), ("search", "sortby=:asc", "sortby"),
        ("search", "sortby=loc_time:asc:desc", "sortby"), ("search", "filter=depot:d6", "filter"),
        ("search", "filter=active_time:1|inactive_time:2", "filter"),
        ("search", "coord_type_output=bd09mc", "coord_type_output"),
        ("boundsearch", "", "bounds"), ("boundsearch", "bounds=", "bounds"), ("boundsearch", "bounds=;", "bounds"),
        ("boundsearch", "bounds=1,1", "bounds"), ("boundsearch", "bounds=1,1;2,2;3,3", "bounds"),
        ("boundsearch", "bounds=1,1;2", "bounds"), ("boundsearch", "bounds=1,1;2,2,2", "bounds"),
        ("boundsearch", "bounds=nan,1;2,2", "bounds"), ("boundsearch", "bounds=1,1;inf,2", "bounds"),
        ("boundsearch", "bounds=1e308,1;2,2", "bounds"), ("boundsearch", "bounds=1,-1e308;2,2", "bounds"),
        ("boundsearch", "bounds=91,1;2,2", "bounds"), ("boundsearch", "bounds=1,181;2,2", "bounds"),
        ("boundsearch", "bounds=1,1;2,2&coord_type_input=bd09mc", "coord_type_input"),
        ("boundsearch", "bounds=\(String(repeating: "1,1;", count: 10_000))", "bounds"),
        ("aroundsearch", "radius=5", "center"), ("aroundsearch", "center=1,1;2,2&radius=5", "center"),
        ("aroundsearch", "center=1&radius=5", "center"), ("aroundsearch", "center=1,1", "radius"),
        ("aroundsearch", "center=1,1&radius=", "radius"), ("aroundsearch", "center=1,1&radius=0", "radius"),
        ("aroundsearch", "center=1,1&radius=0.9", "radius"), ("aroundsearch", "center=1,1&radius=5001", "radius"),
        ("aroundsearch", "center=1,1&radius=-5", "radius"), ("aroundsearch", "center=1,1&radius=nan", "radius"),
        ("aroundsearch", "center=1,1&radius=1e308", "radius"), ("aroundsearch", "center=1,1&radius=far", "radius"),
        ("aroundsearch", "center=nan,nan&radius=5", "center"),
        ("polygonsearch", "", "vertexes"), ("polygonsearch", "vertexes=1,1", "vertexes"),
        ("polygonsearch", "vertexes=1,1;2,2", "vertexes"), ("polygonsearch", "vertexes=1,1;1,2;2,2,2", "vertexes"),
        ("polygonsearch", "vertexes=1,1;1,2;nan,2", "vertexes"),
        ("polygonsearch", "vertexes=1,1;1,1e308;2,2", "vertexes"),
        ("polygonsearch", "vertexes=1,1;1.01,1.01;1,1.01;1.01,1", "vertexes"),
        ("polygonsearch", "vertexes=1,1;1.01,1.01;1.02,1.02", "vertexes"),
        ("polygonsearch", "vertexes=0,0;0,1;1,1", "3000"), ("polygonsearch", "vertexes=0,0;0,179;1,179", "vertexes"),
        ("polygonsearch", "vertexes=\(String(repeating: "1,1;1,1.01;1.01,1.01;", count: 3334))", "vertexes"),
        ("districtsearch", "", "keyword"), ("districtsearch", "keyword=nowhere", "keyword"),
        ("districtsearch", "keyword=\(String(repeating: "x", count: 100_000))", "keyword"),
        ("districtsearch", "keyword=x&return_type=some", "return_type"),
    ])
    func aBadParameterIsNamed(call: String, query: String, name: String) async throws {
        let answer = try await Bench().get("entity/\(call)", query)
        #expect(answer.status == 2, "\(query.prefix(80))")
        #expect(answer["entities"] == nil)
        #expect(answer["message"]?.stringValue?.contains(name) == true, "\(answer)")
    }

    @Test func aFilterWithTooManyNamesIsAParameterError() async throws {
        let bench = try await fleet()
        func ask(_ count: Int) async throws -> JSONValue {
            let names = (0..<count).map { "van_\($0)" }.joined(separator: ",")
            return try await bench.post(
                "entity/boundsearch", "bounds=-90,-180;90,180&filter=entity_names:van_01,\(names)")
        }
        #expect(try await ask(29_999)["total"]?.integerValue == 1)
        let refused = try await ask(30_001)
        #expect(refused.status == 2)
        #expect(refused["message"]?.stringValue?.contains("30000") == true)
    }

    @Test func aPolygonMayLieAcrossTheAntimeridian() async throws {
        let bench = try await Bench()
        try await bench.upload("east", [try point(1, 0.1, 179.99)])
        try await bench.upload("west", [try point(1, 0.1, -179.99)])
        let across = "vertexes=0,179.9;0.2,179.9;0.2,-179.9;0,-179.9&coord_type_input=wgs84"
        #expect(try await names(bench, "polygonsearch", across) == ["east", "west"])
        #expect(try await names(bench, "boundsearch", "bounds=0,179.9;1,-179.9") == ["east", "west"])
        #expect(try await names(bench, "aroundsearch", "center=0.1,180&radius=5000") == ["east", "west"])
    }

    @Test func placesAreShownInTheDatumThatTheClientWants() async throws {
        let bench = try await fleet()
        let query = "bounds=39.9,116.4;39.9,116.4&coord_type_output=wgs84"
        let location = try await bench.get("entity/boundsearch", query)["entities"]?.items.first?["latest_location"]
        let shown = try #require(location?["latitude"]?.doubleValue)
        #expect(abs(shown - 39.8926) < 0.001)
        // The same place again, in the datum of the answer.
        let longitude = try #require(location?["longitude"]?.doubleValue)
        let around = "center=\(shown),\(longitude)&radius=1&coord_type_input=wgs84"
        #expect(try await names(bench, "aroundsearch", around) == ["van_01"])
    }

    @Test func aDistrictIsFoundByItsName() async throws {
        let bench = try await fleet()
        func square(_ south: Double, _ west: Double) -> ShapeDraft {
            ShapeDraft(
                .polygon([
                    [
                        [(0, 0), (0, 1), (1, 1), (1, 0)].map {
                            Degrees(latitude: south + 0.1 * Double($0.0), longitude: west + 0.1 * Double($0.1))
                        }
                    ]
                ]))
        }
        try await bench.store.replaceDistricts(
            of: "test",
            with: [
                NewDistrict(name: "北京市", parent: nil, shape: square(39.85, 116.35)),
                NewDistrict(name: "Delft", parent: nil, shape: square(51.95, 4.25)),
                NewDistrict(name: "东", parent: 0, shape: square(39.85, 116.35)),
                NewDistrict(name: "东", parent: 1, shape: square(51.95, 4.25)),
                NewDistrict(name: "empty", parent: nil, shape: square(0, 0)),
            ])
        #expect(
            try await names(bench, "districtsearch", "keyword=%E5%8C%97%E4%BA%AC") == ["bus_01", "van_01", "van_02"])
        #expect(try await names(bench, "districtsearch", "keyword=delft&return_type=entity") == ["delft"])
        #expect(
            await bench.text("entity/districtsearch", "keyword=%E5%8C%97%E4%BA%AC&return_type=simple&page_size=1")
                == #"{"status":0,"message":"成功","total":3,"size":0,"entities":[]}"#)
        let ambiguous = try await bench.get("entity/districtsearch", "keyword=%E4%B8%9C")
        #expect(ambiguous.status == 5108)
        #expect(ambiguous["district_list"]?.items.count == 2)
        #expect(try await bench.get("entity/districtsearch", "keyword=empty").status == 3003)
    }

    /// As of a list: a vehicle may look for itself, and for nobody else.
    @Test func aVehicleSearchesByNameOrWithTheServicesPolicy() async throws {
        let bench = try await fleet()
        func ask(_ policy: DevicePolicy, _ path: String, _ parameters: [String: String]) async -> Int {
            await bench.router.call(
                service: bench.service, entity: "van_01", path: path, parameters: parameters, policy: policy
            ).status
        }
        for (path, parameters) in [
            ("entity/search", ["query": "van"]), ("entity/boundsearch", ["bounds": "-90,-180;90,180"]),
            ("entity/aroundsearch", ["center": "39.9,116.4", "radius": "100"]),
            ("entity/polygonsearch", ["vertexes": "39.89,116.39;39.89,116.41;39.91,116.41"]),
        ] {
            #expect(await ask(.entity, path, parameters) == 240, "\(path)")
            #expect(await ask(.service, path, parameters) == 0, "\(path)")
            let own = parameters.merging(["filter": "entity_names:van_01"]) { $1 }
            #expect(await ask(.entity, path, own) == 0, "\(path)")
            let other = parameters.merging(["filter": "entity_names:van_01,bus_01"]) { $1 }
            #expect(await ask(.entity, path, other) == 240, "\(path)")
        }
        #expect(await ask(.entity, "entity/districtsearch", ["keyword": "x"]) == 240)
    }
}
