import Geodesy
import Geofencing
import JSON
import Testing
import TrackModel
import TrackStore

@testable import WebAPI

/// The floor of a point, which needs no column: uploaded, judged, answered, exported.
@Suite struct FloorTests {
    private static let second: Int64 = 1_772_677_000
    private static let place = "latitude=40&longitude=116&coord_type_input=wgs84"

    private func add(_ bench: Bench, _ seconds: Int64, _ floor: String) async throws -> JSONValue {
        try await bench.post(
            "track/addpoint", "entity_name=van&\(Self.place)&loc_time=\(Self.second + seconds)\(floor)")
    }

    private func addPoints(_ bench: Bench, _ list: String) async throws -> JSONValue {
        try await bench.post(
            "track/addpoints", "point_list=" + String(decoding: FormEncoding.encoded(list.utf8, .php), as: UTF8.self))
    }

    private func track(_ bench: Bench) async throws -> [JSONValue?] {
        try await bench.get(
            "track/gettrack", "entity_name=van&start_time=\(Self.second)&end_time=\(Self.second + 900)"
        )["points"]?.items.map { $0["floor"] } ?? []
    }

    @Test func itIsATextInEachAnswer() async throws {
        let bench = try await Bench()
        #expect(try await add(bench, 0, "&floor=3").status == 0)
        #expect(try await add(bench, 10, "&floor=").status == 0)
        #expect(try await add(bench, 20, "").status == 0)
        #expect(try await add(bench, 30, "&floor=B1").status == 0)
        #expect(try await track(bench) == ["3", nil, nil, "B1"])
        #expect(try await bench.get("track/getlatestpoint", "entity_name=van")["latest_point"]?["floor"] == "B1")
        let listed = try await bench.get("entity/list")["entities"]?.items.first
        #expect(listed?["latest_location"]?["floor"] == "B1")
    }

    /// Clients have it as a text, as a number, or as null.
    @Test func aListTakesTextsAndNumbers() async throws {
        let bench = try await Bench()
        func point(_ seconds: Int64, _ floor: String) -> String {
            """
            {"entity_name":"van","latitude":40,"longitude":116,"coord_type_input":"wgs84","loc_time":\(Self.second + seconds),\
            "floor":\(floor)}
            """
        }
        let floors = ["\"3\"", "3", "3.0", "-1", "1.5", "null", "\"\"", "\"02\""]
        let list = floors.enumerated().map { point(Int64($0.offset), $0.element) }.joined(separator: ",")
        #expect(try await addPoints(bench, "[\(list)]")["success_num"] == 8)
        #expect(try await track(bench) == ["3", "3", "3", "-1", "1.5", nil, nil, "02"])
        for (floor, reason) in [
            ("true", "floor must be a text"), ("[3]", "floor must be a text"),
            ("\"\(String(repeating: "x", count: 129))\"", "floor has 129 bytes, and 128 are the most"),
        ] {
            let refused = try await addPoints(bench, "[\(point(20, floor))]")
            #expect(refused.status == 2)
            let error = refused["fail_info"]?["param_error"]?.items.first?["error"]?.stringValue
            #expect(error?.contains(reason) == true, "\(floor): \(String(describing: error))")
        }
        let echo = try await addPoints(bench, "[\(point(2_000, "3"))]")["fail_info"]?["param_error"]?.items.first
        #expect(echo?["floor"] == "3", "a refused point is echoed with its floor")
    }

    @Test func noColumnCanBeCalledSo() async throws {
        let bench = try await Bench()
        let answer = try await bench.post("track/addcolumn", "column_key=floor&column_type=3")
        #expect(answer.status == 2002)
        #expect(answer["message"]?.stringValue?.contains("needs no column") == true)
        #expect(try await bench.post("entity/addcolumn", "column_key=floor").status == 2002)
    }

    /// At the place of a fence of floor 3, on floors 2, 3, unknown, 2.
    @Test func theServerJudgesByIt() async throws {
        let bench = try await Bench()
        var fence = FenceDefinition(
            ShapeDraft(.circle(centre: Degrees(latitude: 40, longitude: 116), radius: 100)))
        (fence.floor, fence.watch) = ("3", .everyone)
        _ = try await bench.store.createFence(fence, in: bench.service, at: Timestamp(seconds: Self.second - 100))
        for (seconds, floor) in [(0, "&floor=2"), (60, "&floor=3"), (120, ""), (180, "&floor=2")] as [(Int64, String)] {
            #expect(try await add(bench, seconds, floor).status == 0)
        }
        let alarms = try await bench.get("fence/historyalarm", "monitored_person=van")["alarms"]?.items ?? []
        #expect(alarms.map { $0["action"] } == ["enter", "exit"])
        #expect(
            alarms.map { $0["alarm_point"]?["loc_time"] } == [.integer(Self.second + 60), .integer(Self.second + 180)])
    }

    @Test func anExportHasItAndAnImportReadsIt() throws {
        let point = TrackPoint(
            Fix(
                time: Timestamp(seconds: Self.second),
                coordinate: try #require(Coordinate(latitude: 40, longitude: 116))),
            attributes: ["floor": .string("02")])
        let order = ExportOrder(
            from: Timestamp(seconds: 0), through: Timestamp(seconds: Self.second), coordinateType: .wgs84)
        let text = ExportLines(order, columns: []).text(
            ExportedEntity(number: 1, name: "van"), [StoredPoint(point, received: Bench.now)])
        #expect(String(decoding: text, as: UTF8.self).contains(#""custom_data":{"floor":"02"}"#))
        let line = try ExportedLine(Array(text.dropLast()), columns: [], now: Bench.now)
        #expect(line.unknown == [])
        #expect(line.point.attributes == ["floor": .string("02")])
    }
}
