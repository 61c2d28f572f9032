import Ingest
import JSON
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import WebAPI

@Suite("Uploads")
struct UploadTests {
    private let place = "latitude=39.9&longitude=116.4&loc_time=1772677800"

    @Test func aPointMakesItsEntityAndComesBackAsItWasSent() async throws {
        let bench = try await Bench()
        let body = "entity_name=van_07&\(place)&coord_type_input=WGS84&speed=22.4&direction=359.9&height=44.5&radius=6"
        #expect(try await bench.post("track/addpoint", body + "&object_name=o&unknown=1").status == 0)
        #expect(
            await bench.text("track/getlatestpoint", "entity_name=van_07&coord_type_output=wgs84")
                == #"{"status":0,"message":"成功","latest_point":{"loc_time":1772677800,"longitude":116.4,"#
                + #""latitude":39.9,"direction":359,"height":44.5,"radius":6,"speed":22.4,"object_name":"o","#
                + #""locate_mode":"GPS/北斗定位","transport_mode":"驾车"}}"#)
    }

    @Test func whileTheClockIsWrongNoPointIsJudgedAndNoneIsTaken() async throws {
        let bench = try await Bench(clock: ClockRule(made: Bench.now.adding(milliseconds: 1)))
        let item = #"{"entity_name":"a","latitude":1,"longitude":1,"loc_time":1772677800,"coord_type_input":"wgs84"}"#
        let answers = [
            try await bench.post("track/addpoint", "entity_name=a&\(place)"),
            try await bench.post("track/addpoints", "point_list=[\(item)]"),
        ]
        for answer in answers {
            #expect(answer.status == 1)
            #expect(answer["message"]?.stringValue?.contains("clock is wrong") == true)
        }
        #expect(try await bench.store.counts().points == 0)
    }

    @Test(arguments: [
        ("entity_name=a&latitude=91&longitude=0&loc_time=1", 2), ("entity_name=a&latitude=x&longitude=0&loc_time=1", 2),
        ("entity_name=a&latitude=nan&longitude=0&loc_time=1", 2),
        ("entity_name=a&latitude=1%00junk&longitude=0&loc_time=1", 2),
        ("entity_name=a&latitude=0x1p3&longitude=0&loc_time=1", 2),
        ("entity_name=a&latitude=1&longitude=0&loc_time=1%00", 2),
        ("entity_name=a&latitude=1772677800&longitude=1&loc_time=1", 2),
        ("entity_name=a&longitude=0&loc_time=1", 2), ("latitude=1&longitude=1&loc_time=1", 2),
        ("entity_name=a&latitude=1&longitude=1", 2), ("entity_name=a&latitude=1&longitude=1&loc_time=0", 2),
        ("entity_name=a&latitude=1&longitude=1&loc_time=1e300", 2),
        ("entity_name=a&latitude=1&longitude=1&loc_time=1772678501", 3100),
        ("entity_name=a&latitude=1&longitude=1&loc_time=1772678500", 0),
        ("entity_name=a&latitude=1&longitude=1&loc_time=1772677800000", 3100),
        ("entity_name=a&latitude=90&longitude=-180&loc_time=1", 0),
        ("entity_name=a&latitude=1&longitude=1&loc_time=1&coord_type_input=bd09mc", 2),
        ("entity_name=a&latitude=1&longitude=1&loc_time=1&speed=-2", 2),
        ("entity_name=a&latitude=1&longitude=1&loc_time=1&speed=1e30", 2),
        ("entity_name=a&latitude=1&longitude=1&loc_time=1&direction=361", 2),
        ("entity_name=a&latitude=1&longitude=1&loc_time=1&direction=360", 0),
        ("entity_name=a&latitude=1&longitude=1&loc_time=1&radius=-2", 2),
        ("entity_name=a&latitude=1&longitude=1&loc_time=1&height=1e9", 2),
        ("entity_name=a&latitude=1&longitude=1&loc_time=1&speed=&height=&radius=", 0),
    ])
    func eachRuleOfAPointHasItsStatus(body: String, status: Int64) async throws {
        #expect(try await Bench().post("track/addpoint", body).status == status)
    }

    @Test func minusOneIsWhatPhonesDoNotKnow() async throws {
        let bench = try await Bench()
        let body = "entity_name=a&latitude=1&longitude=1&loc_time=1&speed=-1&direction=-1&height=-1.0&radius=-1"
        #expect(try await bench.post("track/addpoint", body).status == 0)
        let latest = try await bench.get("track/getlatestpoint", "entity_name=a")["latest_point"]
        #expect(
            Set((latest?.objectValue ?? [:]).keys) == [
                "longitude", "latitude", "loc_time", "coord_type", "locate_mode", "transport_mode",
            ])
    }

    @Test(arguments: [("1", CoordinateType.wgs84), ("2", .gcj02), ("3", .bd09ll)])
    func datumsHaveNumbersToo(number: String, type: CoordinateType) async throws {
        let bench = try await Bench()
        let place = "latitude=31.2281234&longitude=121.4771234&loc_time=1"
        #expect(try await bench.post("track/addpoint", "entity_name=a&\(place)&coord_type_input=\(number)").status == 0)
        for name in [number, type.rawValue] {
            let latest = try await bench.get("track/getlatestpoint", "entity_name=a&coord_type_output=\(name)")
            #expect(latest["latest_point"]?["latitude"] == .double(31.2281234))
        }
    }

    @Test func theAgeOfAnUploadMayBeLimited() async throws {
        let bench = try await Bench(WebAPIOptions(maximumAge: 100))
        #expect(try await bench.post("track/addpoint", "entity_name=a&\(place)").status == 0)
        #expect(
            try await bench.post("track/addpoint", "entity_name=a&latitude=1&longitude=1&loc_time=1772677799").status
                == 2)
    }

    private func body(_ list: String) -> String {
        "point_list=" + String(decoding: FormEncoding.encoded(list.utf8, .php), as: UTF8.self)
    }

    private func addPoints(_ bench: Bench, _ list: String) async throws -> JSONValue {
        try await bench.post("track/addpoints", body(list))
    }

    @Test func manyPointsOfManyEntitiesAreStoredAndRefusedOnesAreEchoed() async throws {
        let bench = try await Bench()
        let list = """
            [{"entity_name":"a","latitude":"33.41","longitude":116.4,"loc_time":"1772677800","coord_type_input":"wgs84","speed":null,"floor":"3"},
             {"entity_name":"b","latitude":33,"longitude":116,"loc_time":1772677800,"coord_type_input":"wgs84","speed":0,"direction":0,"height":0,"radius":0},
             {"entity_name":"a","latitude":33.5,"longitude":116.4,"loc_time":1772677810,"coord_type_input":"wgs84"},
             {"entity_name":"a","latitude":39.9,"longitude":116.4,"loc_time":1999999999,"coord_type_input":"GCJ02","direction":87.9},
             {"entity_name":17,"latitude":"north","longitude":116.4,"loc_time":1,"coord_type_input":"mars"},
             "junk"]
            """
        #expect(
            await bench.text("track/addpoints", body(list))
                == #"{"status":0,"message":"成功","success_num":3,"fail_info":{"param_error":["#
                + #"{"entity_name":"a","loc_time":1999999999,"latitude":39.9,"longitude":116.4,"direction":87,"#
                + #""coord_type_input":"gcj02","error":"loc_time is in the future"},"#
                + #"{"entity_name":"17","loc_time":1,"longitude":116.4,"error":"latitude must be a number"},"#
                + #"{"error":"not an object"}],"internal_error":[]}}"#)
        let zeros = try await bench.get("track/getlatestpoint", "entity_name=b&coord_type_output=wgs84")["latest_point"]
        #expect(zeros?["speed"] == .integer(0))
        #expect(zeros?["height"] == .integer(0))
    }

    @Test func wholeListsAreRefusedForWhatTheyAre() async throws {
        let bench = try await Bench()
        let one = "{\"entity_name\":\"a\",\"latitude\":1,\"longitude\":1,\"loc_time\":1,\"coord_type_input\":\"wgs84\"}"
        func list(_ count: Int) -> String { "[" + [String](repeating: one, count: count).joined(separator: ",") + "]" }
        #expect(try await addPoints(bench, list(101)).status == 3101)
        #expect(try await bench.store.entity(named: "a", in: bench.service) == nil)
        #expect(try await addPoints(bench, list(100)).status == 0)
        for bad in ["", "[", "{}", "[]", "null"] { #expect(try await addPoints(bench, bad).status == 2) }
        let none = try await addPoints(bench, "[{}]")
        #expect(none.status == 2)
        #expect(none["success_num"] == .integer(0))
        #expect(none["fail_info"]?["param_error"]?.items.count == 1)
    }

    @Test func spellingsThatLookAlikeAreNoTwoEntities() async throws {
        let bench = try await Bench()
        let list = """
            [{"entity_name":"\\u00e9","latitude":1,"longitude":1,"loc_time":1},
             {"entity_name":"e\\u0301","latitude":1,"longitude":1,"loc_time":1}]
            """
        #expect(try await addPoints(bench, list)["success_num"] == .integer(1))
        #expect(try await bench.get("entity/list")["total"] == .integer(1))
    }

    private func written(_ speed: Int32) -> String {
        var writer = JSONWriter()
        Speed.write(centimetresPerSecond: speed, to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func everyTenthOfASpeedComesBack() {
        for tenths in 0...3000 {
            let stored = Speed.centimetresPerSecond(Double(tenths) / 10)
            let expected = tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
            #expect(stored.map(written) == expected)
        }
    }

    @Test func everyStoredSpeedIsToldApart() {
        for speed in Int32(0)...10_000 {
            #expect(Double(written(speed)).flatMap(Speed.centimetresPerSecond) == speed)
        }
    }

    @Test func aStoreThatTakesNothingIsAClearFailure() async throws {
        let gate = GateStore(
            TestStore(), isOpen: true,
            failures: [TrackStoreError(.failed, "broken"), TrackStoreError(.full, "no space")])
        var limits = IngestLimits()
        limits.retries = []
        let bench = try await Bench(store: gate, limits: limits)
        let point = "entity_name=van&latitude=1&longitude=1&loc_time=\(Bench.now.seconds)"
        #expect(try await bench.post("track/addpoint", point).status == 1)
        let answer = try await bench.post("track/addpoint", point)
        #expect(answer.status == 1)
        #expect(answer["message"]?.stringValue?.contains("try again") == true)
        #expect(try await bench.post("track/addpoint", point).status == 0)
    }
}
