import JSON
import Testing
import TrackModel
import TrackStore

@testable import WebAPI

@Suite("Columns")
struct ColumnTests {
    private func addPoints(_ bench: Bench, _ list: String) async throws -> JSONValue {
        try await bench.post(
            "track/addpoints", "point_list=" + String(decoding: FormEncoding.encoded(list.utf8, .php), as: UTF8.self))
    }

    @Test func trackColumnsAreAddedListedAndDeleted() async throws {
        let bench = try await Bench()
        #expect(try await bench.get("track/listcolumn")["columns"] == .array([]))
        let added = try await bench.post("track/addcolumn", "column_key=fuel&column_desc=litres&column_type=2")
        #expect(added == ["status": 0, "message": "成功"])
        #expect(try await bench.post("track/addcolumn", "column_key=door&column_type=1").status == 0)
        #expect(try await bench.post("track/addcolumn", "column_key=fuel&column_type=3").status == 2001)
        #expect(
            await bench.text("track/listcolumn") == #"{"status":0,"message":"成功","columns":["#
                + #"{"column_key":"door","column_desc":"","column_type":1,"create_time":"2026-03-05 10:31:40"},"#
                + #"{"column_key":"fuel","column_desc":"litres","column_type":2,"create_time":"2026-03-05 10:31:40"}]}"#
        )
        // One client sends an entity too.
        #expect(try await bench.post("track/deletecolumn", "column_key=fuel&entity_name=van").status == 0)
        #expect(try await bench.post("track/deletecolumn", "column_key=fuel").status == 2)
        #expect(try await bench.get("track/listcolumn")["columns"]?.items.count == 1)
    }

    @Test func entityColumnsAreAddedListedAndDeleted() async throws {
        let bench = try await Bench()
        #expect(try await bench.post("entity/addcolumn", "column_key=team&is_search=1").status == 0)
        #expect(try await bench.post("entity/addcolumn", "column_key=team").status == 7001)
        #expect(
            await bench.text("entity/listcolumn") == #"{"status":0,"message":"成功","columns":["#
                + #"{"column_key":"team","column_desc":"","is_search":1,"create_time":"2026-03-05 10:31:40","#
                + #""modify_time":"2026-03-05 10:31:40"}]}"#)
        // The two kinds do not know of each other.
        #expect(try await bench.get("track/listcolumn")["columns"] == .array([]))
        #expect(try await bench.post("entity/deletecolumn", "column_key=team").status == 0)
        #expect(try await bench.post("entity/deletecolumn", "column_key=team").status == 7002)
    }

    @Test(arguments: [
        ("track/addcolumn", "column_type=1", 2), ("track/addcolumn", "column_key=a&column_type=4", 2),
        ("track/addcolumn", "column_key=a", 2), ("track/addcolumn", "column_key=a%20b&column_type=1", 2),
        ("track/addcolumn", "column_key=%E6%B2%B9&column_type=1", 2),
        ("track/addcolumn", "column_key=speed&column_type=2", 2002),
        ("track/addcolumn", "column_key=_provider&column_type=3", 2002),
        ("track/addcolumn", "column_key=ak&column_type=3", 2002),
        ("entity/addcolumn", "column_key=entity_desc", 2002), ("entity/addcolumn", "column_key=service_id", 2002),
        ("entity/addcolumn", "column_key=a&is_search=x", 2), ("entity/addcolumn", "column_key=a&column_desc=%07", 2),
        ("entity/deletecolumn", "x=1", 2), ("track/deletecolumn", "column_key=none", 2),
    ])
    func eachRuleHasItsStatus(path: String, body: String, status: Int64) async throws {
        #expect(try await Bench().post(path, body).status == status)
    }

    @Test func thereAreNotMoreColumnsThanTheLimit() async throws {
        let bench = try await Bench()
        for number in 0..<ColumnRecord.maximumCount {
            #expect(try await bench.post("track/addcolumn", "column_key=c\(number)&column_type=1").status == 0)
            #expect(try await bench.post("entity/addcolumn", "column_key=c\(number)").status == 0)
        }
        #expect(try await bench.post("track/addcolumn", "column_key=more&column_type=1").status == 2003)
        #expect(try await bench.post("entity/addcolumn", "column_key=more").status == 2)
    }

    @Test func uploadedValuesComeBackTypedEverywhere() async throws {
        let bench = try await Bench()
        for (key, type) in [("door", 1), ("fuel", 2), ("driver", 3)] {
            _ = try await bench.post("track/addcolumn", "column_key=\(key)&column_type=\(type)")
        }
        let body = "entity_name=van&latitude=1&longitude=1&loc_time=1772677800&coord_type_input=wgs84"
        #expect(try await bench.post("track/addpoint", body + "&door=%201&fuel=51&driver=7&colour=red").status == 0)
        let list = """
            [{"entity_name":"van","latitude":1,"longitude":1,"loc_time":1772677810,"door":"2","fuel":51.5,"driver":"Li"},
             {"entity_name":"van","latitude":1,"longitude":1,"loc_time":1772677820,"door":null,"fuel":"","colour":{}}]
            """
        #expect(try await addPoints(bench, list)["success_num"] == .integer(2))
        let track =
            try await bench.get(
                "track/gettrack", "entity_name=van&start_time=1772677000&end_time=1772677900")["points"]?.items ?? []
        try #require(track.count == 3)
        #expect(track.map { $0["door"] } == [.integer(1), .integer(2), nil])
        #expect(track.map { $0["fuel"]?.doubleValue } == [51, 51.5, nil])
        #expect(track.map { $0["driver"] } == [.string("7"), .string("Li"), nil])
        #expect(track.allSatisfy { $0["colour"] == nil })
        // A column that is gone is shown no more, nor one whose type is another now.
        _ = try await bench.post("track/deletecolumn", "column_key=driver")
        _ = try await bench.post("track/deletecolumn", "column_key=door")
        _ = try await bench.post("track/addcolumn", "column_key=door&column_type=3")
        let point = try await bench.post("track/addpoint", body.replacing("7800", with: "7830") + "&fuel=3")
        #expect(point.status == 0)
        let latest = try await bench.get("track/getlatestpoint", "entity_name=van")["latest_point"]
        #expect(latest?["fuel"]?.doubleValue == 3)
        let listed = try await bench.get("entity/list")["entities"]?.items.first?["latest_location"]
        #expect(listed?["fuel"]?.doubleValue == 3)
        let again =
            try await bench.get(
                "track/gettrack", "entity_name=van&start_time=1772677000&end_time=1772677900")["points"]?.items ?? []
        #expect(again.first?["driver"] == nil)
        #expect(again.first?["door"] == nil)
        #expect(again.first?["fuel"]?.doubleValue == 51)
    }

    @Test(arguments: [
        "door=1.5", "door=open", "door=99999999999999999999", "fuel=full", "fuel=nan",
        "driver=" + String(repeating: "x", count: 1025),
    ])
    func aValueOfAnotherTypeIsAParameterError(value: String) async throws {
        let bench = try await Bench()
        for (key, type) in [("door", 1), ("fuel", 2), ("driver", 3)] {
            _ = try await bench.post("track/addcolumn", "column_key=\(key)&column_type=\(type)")
        }
        let body = "entity_name=van&latitude=1&longitude=1&loc_time=1772677800&"
        #expect(try await bench.post("track/addpoint", body + value).status == 2)
        let list = #"[{"entity_name":"a","latitude":1,"longitude":1,"loc_time":1,"door":true}]"#
        let answer = try await addPoints(bench, list)
        #expect(answer["fail_info"]?["param_error"]?.items.first?["error"] == .string("door must be a whole number"))
    }

    @Test func entitiesCarryTheirColumnsAndAreFoundByThem() async throws {
        let bench = try await Bench()
        _ = try await bench.post("entity/addcolumn", "column_key=team&is_search=1")
        _ = try await bench.post("entity/addcolumn", "column_key=plate")
        #expect(try await bench.post("entity/add", "entity_name=a&team=north&plate=1&colour=red").status == 0)
        #expect(try await bench.post("entity/add", "entity_name=b&team=south").status == 0)
        #expect(try await bench.post("entity/add", "entity_name=c&team=%07").status == 2)
        #expect(try await bench.post("entity/update", "entity_name=b&team=north&entity_desc=blue").status == 0)
        #expect(try await bench.post("entity/update", "entity_name=none&team=north").status == 3003)
        let list = try await bench.get("entity/list")["entities"]?.items ?? []
        #expect(list.map { $0["team"] } == [.string("north"), .string("north")])
        #expect(list.map { $0["plate"] } == [.string("1"), nil])
        #expect(list.map { $0["entity_desc"] } == [nil, .string("blue")])
        #expect(
            await bench.text("entity/list").contains(
                #"{"entity_name":"a","create_time":"2026-03-05 10:31:40","modify_time":"2026-03-05 10:31:40","#
                    + #""plate":"1","team":"north","latest_location":{"longitude":0,"#))
        let found = try await bench.get("entity/list", "filter=team:north|entity_names:b")
        #expect(found["entities"]?.items.map { $0["entity_name"] } == [.string("b")])
        #expect(try await bench.get("entity/list", "filter=team:west").status == 3003)
        // Only a searchable column.
        #expect(try await bench.get("entity/list", "filter=plate:1").status == 2)
    }
}
