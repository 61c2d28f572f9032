import Ingest
import JSON
import Testing
import TrackModel
import TrackStore

@testable import WebAPI

@Suite("Entities")
struct EntityTests {
    @Test func anEntityIsAddedOnce() async throws {
        let bench = try await Bench()
        let answer = try await bench.post("entity/add", "entity_name=van_07&entity_desc=%E8%93%9D%E8%89%B2")
        #expect(answer == ["status": 0, "message": "成功"])
        #expect(try await bench.post("entity/add", "entity_name=van_07").status == 3005)
    }

    @Test(arguments: [
        "", "entity_name=", "entity_name=%23all", "entity_name=a,b", "entity_name=a%0Ab", "entity_desc=x",
    ])
    func badNamesAreRefused(body: String) async throws {
        #expect(try await Bench().post("entity/add", body).status == 2)
    }

    @Test func tooLongTextsAreRefusedAndEscapedNamesTaken() async throws {
        let bench = try await Bench()
        let long = String(repeating: "a", count: 129)
        #expect(try await bench.post("entity/add", "entity_name=\(long)").status == 2)
        #expect(try await bench.post("entity/add", "entity_name=a&entity_desc=\(long)").status == 2)
        // A client that encodes twice.
        #expect(try await bench.post("entity/add", "entity_name=%25E4%25BA").status == 0)
        #expect(try await bench.store.entity(named: "%E4%BA", in: bench.service) != nil)
    }

    @Test func whoDeletesTwiceIsAnsweredAsTheOperatorWants() async throws {
        for usual in UnknownEntityStatus.allCases {
            let bench = try await Bench(WebAPIOptions(unknownEntity: usual))
            for own in [UnknownEntityStatus.notFound, .success, nil] {
                try await bench.store.setAnswers(AnswerForms(unknownEntity: own), of: bench.service)
                let answer = try await bench.post("entity/delete", "entity_name=nobody")
                #expect(answer.status.map { "\($0)" } == (own ?? usual).rawValue, "\(usual) \(String(describing: own))")
                #expect(try await bench.post("entity/delete", "").status == 2)
            }
        }
    }

    @Test func aDeletedEntityIsGoneWithItsTrackAndItsNameIsFree() async throws {
        let bench = try await Bench()
        try await bench.upload("van", [try point(1_772_670_000, 1, 1)])
        #expect(try await bench.post("entity/delete", "entity_name=van") == ["status": 0, "message": "成功"])
        #expect(try await bench.post("entity/delete", "entity_name=van").status == 3003)
        #expect(try await bench.post("entity/delete", "").status == 2)
        #expect(try await bench.get("track/getlatestpoint", "entity_name=van").status == 3003)
        #expect(try await bench.post("entity/add", "entity_name=van").status == 0)
        let range = "entity_name=van&start_time=1772670000&end_time=1772670001"
        #expect(try await bench.get("track/gettrack", range)["total"] == .integer(0))
    }

    @Test func aVehicleDeletesNothing() async throws {
        let bench = try await Bench()
        try await bench.upload("van", [try point(1_772_670_000, 1, 1)])
        func delete(_ policy: DevicePolicy) async -> Int {
            await bench.router.call(
                service: bench.service, entity: "van", path: "entity/delete", parameters: ["entity_name": "van"],
                policy: policy
            ).status
        }
        #expect(await delete(.entity) == 240)
        #expect(await delete(.service) == 0)
    }

    @Test func theListHasWhatIsKnownAndNoMore() async throws {
        let bench = try await Bench()
        _ = try await bench.post("entity/add", "entity_name=van_07&entity_desc=d")
        _ = try await bench.post("entity/add", "entity_name=bus_01")
        for (key, type) in [("fuel", 1), ("load", 2), ("note", 3)] {
            #expect(try await bench.post("track/addcolumn", "column_key=\(key)&column_type=\(type)").status == 0)
        }
        var place = try point(1_772_677_800, 39.90234567, 116.40123456, type: .bd09ll, speed: 900, accuracy: 60)
        place.fix.course = 879
        place.fix.altitude = 445
        place.attributes = [
            "fuel": .integer(51), "speed": .string("shadow"), "load": .double(1.5), "note": .string("n"),
        ]
        try await bench.upload("van_07", [place])
        let response = await bench.router.respond(
            to: APIRequest(method: "GET", target: "/api/v3/entity/list?ak=\(Bench.key)&service_id=1"))
        #expect(
            String(decoding: response.body, as: UTF8.self)
                == "{\"status\":0,\"message\":\"成功\",\"total\":2,\"size\":2,\"entities\":["
                + "{\"entity_name\":\"bus_01\",\"create_time\":\"2026-03-05 10:31:40\",\"modify_time\":\"2026-03-05 10:31:40\","
                + "\"latest_location\":{\"longitude\":0,\"latitude\":0,\"loc_time\":0}},"
                + "{\"entity_name\":\"van_07\",\"entity_desc\":\"d\",\"create_time\":\"2026-03-05 10:31:40\","
                + "\"modify_time\":\"2026-03-05 10:31:40\",\"latest_location\":{\"loc_time\":1772677800,"
                + "\"longitude\":116.4012346,\"latitude\":39.9023457,\"direction\":87,\"height\":44.5,\"radius\":6,"
                + "\"speed\":32.4,\"fuel\":51,\"load\":1.5,\"note\":\"n\"}}]}")
    }

    @Test func filtersSelect() async throws {
        let bench = try await Bench()
        for (name, seconds) in [("a", 1000), ("b", 2000), ("c", 3000)] as [(String, Int64)] {
            try await bench.upload(name, [try point(seconds, 1, 1)])
        }
        _ = try await bench.post("entity/add", "entity_name=d")
        func names(_ filter: String) async throws -> [String] {
            try await bench.get("entity/list", "filter=\(filter)")["entities"]?.items.compactMap {
                $0["entity_name"]?.stringValue
            }
                ?? []
        }
        #expect(try await names("") == ["a", "b", "c", "d"])
        #expect(try await names("entity_names:c,%20a") == ["a", "c"])
        #expect(try await names("entity_names=b|active_time=1") == ["b"])
        #expect(try await names("|active_time:2000|") == ["b", "c"])
        #expect(try await names("inactive_time:2000") == ["a", "d"])
        // Unset times of a client that always sends both.
        #expect(try await names("active_time:-62135596800|inactive_time:-62135596800") == ["a", "b", "c", "d"])
        for bad in ["active_time:1|inactive_time:2", "active_time:x", "colour:red", "junk"] {
            #expect(try await bench.get("entity/list", "filter=\(bad)").status == 2)
        }
    }

    @Test func pagesEndWithoutAnError() async throws {
        let bench = try await Bench()
        for name in ["a", "b", "c"] { _ = try await bench.post("entity/add", "entity_name=\(name)") }
        let second = try await bench.get("entity/list", "page_index=2&page_size=2")
        #expect(second["total"] == .integer(3))
        #expect(second["size"] == .integer(1))
        let beyond = try await bench.get("entity/list", "page_index=2097151&page_size=1000")
        #expect(beyond.status == 0)
        #expect(beyond["entities"] == .array([]))
        #expect(beyond["total"] == .integer(3))
    }

    @Test func nothingMatchedIsANotFoundThatStillHoldsAnEmptyList() async throws {
        let expected = #""total":0,"size":0,"entities":[]}"#
        #expect(
            try await Bench().text("entity/list") == #"{"status":3003,"message":"指定entity不存在","# + expected)
        let lenient = try await Bench(WebAPIOptions(emptyListStatus: .success))
        #expect(await lenient.text("entity/list") == #"{"status":0,"message":"成功","# + expected)
    }

    @Test(arguments: [
        (0, 0, "1970-01-01 00:00:00"), (1_487_210_036, 480, "2017-02-16 09:53:56"),
        (951_782_400, 0, "2000-02-29 00:00:00"),
        (1_709_164_799, 0, "2024-02-28 23:59:59"), (-1, 0, "1969-12-31 23:59:59"),
        (4_107_542_399, 60, "2100-03-01 00:59:59"),
        (1_772_677_900, -210, "2026-03-04 23:01:40"),
    ])
    func timesAreWrittenInTheZoneOfTheOperator(seconds: Int64, zone: Int, expected: String) {
        #expect(WallClock(zoneMinutes: zone).text(Timestamp(seconds: seconds)) == expected)
    }

    @Test func timesThatNoClientCouldReadAreLeftOut() {
        #expect(WallClock(zoneMinutes: 0).text(Timestamp(milliseconds: .max)) == nil)
        #expect(WallClock(zoneMinutes: 0).text(Timestamp(milliseconds: .min + 1000)) == nil)
    }

    /// The parser finds too many names itself: it keeps no more of a long filter than the bound.
    @Test func aNameInAFilterCountsOnceInHoweverManyPairsItIs() throws {
        #expect(try EntityFilter(parsing: "entity_names:b,a, b|entity_names:a,c").names == ["b", "a", "c"])
        #expect(try EntityFilter(parsing: "entity_names:,").names == [])
        // Two names of one look: a composed and a decomposed letter.
        #expect(try EntityFilter(parsing: "entity_names:\u{e9},e\u{301}").names?.count == 2)
        let pairs = (0...100).map { "entity_names=e\($0)" }
        #expect(try EntityFilter(parsing: pairs.dropLast().joined(separator: "|")).names?.count == 100)
        let failure = #expect(throws: APIFailure.self) { try EntityFilter(parsing: pairs.joined(separator: "|")) }
        #expect(failure?.status == .parameter && failure?.detail.contains("100 pairs") == true)
        // A repeated name is refused too before anything is made of it.
        let repeated = "entity_names:" + String(repeating: "x,", count: EntityFilter.maximumNames + 1)
        #expect(throws: APIFailure.self) { try EntityFilter(parsing: repeated) }
    }

    @Test func aFilterWithTooManyNamesIsAParameterErrorThatNamesTheBound() async throws {
        let bench = try await Bench()
        _ = try await bench.post("entity/add", "entity_name=e7")
        func list(_ count: Int) async throws -> JSONValue {
            let names = (0..<count).map { "e\($0)" }.joined(separator: ",")
            return try await bench.post("entity/list", "filter=entity_names:\(names)")
        }
        #expect(try await list(30_000)["total"]?.integerValue == 1)
        let refused = try await list(30_001)
        #expect(refused.status == 2)
        #expect(refused["message"]?.stringValue?.contains("30000") == true)
    }
}

/// Names have no characters that nobody sees; descriptions may.
@Suite("Names")
struct NameTests {
    /// As a URL writes it.
    static let refused = [
        "yard%E2%80%8B", "ya%C2%ADrd", "%F0%9F%85%BF%EF%B8%8F", "yard%20", "%C2%A0yard", "yard%E3%80%80",
        "ya%EF%BF%BErd", "ya%EF%B7%90rd",
        "yard%EF%BF%BC", "yard%F0%9D%85%99", "yard%E2%80%8D", "yard%F3%A0%84%80", "ya%E1%85%9Frd",
    ]

    @Test(arguments: refused) func aNewFenceHasAVisibleName(name: String) async throws {
        let bench = try await Bench()
        let place = "latitude=40.05&longitude=116.31&radius=80"
        let answer = try await bench.post("fence/createcirclefence", "\(place)&fence_name=\(name)")
        #expect(answer.status == 2, "\(answer)")
        #expect(try await bench.post("fence/createcirclefence", "\(place)&fence_name=the%20yard").status == 0)
        let renamed = try await bench.post("fence/updatecirclefence", "fence_id=1&fence_name=\(name)")
        #expect(renamed.status == 2, "\(renamed)")
        #expect(renamed["message"]?.stringValue?.contains("fence_name") == true, "\(renamed)")
    }

    @Test(arguments: refused) func anObjectHasAVisibleName(name: String) async throws {
        let point = "latitude=39.9&longitude=116.4&loc_time=1772677800"
        let bench = try await Bench()
        let answer = try await bench.post("track/addpoint", "entity_name=van&\(point)&object_name=\(name)")
        #expect(answer.status == 2, "\(answer)")
        #expect(answer["message"]?.stringValue?.contains("object_name") == true, "\(answer)")
        #expect(try await bench.post("track/addpoint", "entity_name=van&\(point)&object_name=a%20box").status == 0)
    }

    /// Emoji and some scripts need joiners and variants.
    @Test(arguments: [
        ("%F0%9F%85%BF%EF%B8%8F%20blue%20", 0), ("%F0%9F%91%A9%E2%80%8D%F0%9F%94%A7", 0), ("a%E2%80%8Bb", 0),
        ("a%C2%ADb", 0),
        ("a%0Ab", 2), ("a%1Bb", 2), ("a%C2%9Bb", 2), ("a%E2%80%AEb", 2), ("a%E2%80%A8b", 2),
    ])
    func aDescriptionHoldsAnythingButControls(text: String, status: Int64) async throws {
        let bench = try await Bench()
        #expect(try await bench.post("entity/add", "entity_name=van&entity_desc=\(text)").status == status)
        _ = try await bench.post("entity/add", "entity_name=bus")
        #expect(try await bench.post("entity/update", "entity_name=bus&entity_desc=\(text)").status == status)
    }
}
