import Geodesy
import Geofencing
import Ingest
import JSON
import Testing
import TrackModel
import TrackStore

@testable import WebAPI

@Suite("Fences")
struct FenceTests {
    static let circle = "fence_name=depot&latitude=40.05&longitude=116.31&radius=80"
    private static let square = "vertexes=40.0,116.0;40.0,116.01;40.01,116.01;40.01,116.0"

    /// A bench with the entities van and bus.
    func bench(_ options: WebAPIOptions = WebAPIOptions()) async throws -> Bench {
        let bench = try await Bench(options)
        for name in ["van", "bus"] { #expect(try await bench.post("entity/add", "entity_name=\(name)").status == 0) }
        return bench
    }

    /// Makes a fence and returns its number.
    func make(_ bench: Bench, _ kind: String, _ body: String) async throws -> Int64 {
        let answer = try await bench.post("fence/create\(kind)fence", body)
        #expect(answer.status == 0, "\(answer)")
        return try #require(answer["fence_id"]?.integerValue)
    }

    func list(_ bench: Bench, _ query: String) async throws -> [JSONValue] {
        let answer = try await bench.get("fence/list", query)
        #expect(answer.status == 0, "\(answer)")
        #expect(answer["size"]?.integerValue == Int64(answer["fences"]?.items.count ?? -1))
        return answer["fences"]?.items ?? []
    }

    @Test func aCircleComesBackAsItWasGiven() async throws {
        let bench = try await bench()
        let id = try await make(bench, "circle", Self.circle + "&monitored_person=van&denoise=50")
        #expect(id == 1)
        #expect(
            await bench.text("fence/list", "fence_ids=1")
                == #"{"status":0,"message":"成功","total":1,"size":1,"fences":[{"fence_id":1,"fence_name":"depot","#
                + #""monitored_person":"van","shape":"circle","longitude":116.31,"latitude":40.05,"radius":80,"#
                + #""denoise":50,"create_time":"2026-03-05 10:31:40","modify_time":"2026-03-05 10:31:40"}]}"#)
    }

    @Test func aShapeIsAnsweredInTheDatumThatWasAskedForAndOutsideChinaInOurs() async throws {
        let bench = try await bench()
        _ = try await make(bench, "circle", Self.circle)
        let shifted = try #require(try await list(bench, "fence_ids=1&coord_type_output=wgs84").first)
        #expect(abs((shifted["latitude"]?.doubleValue ?? 0) - 40.05) > 0.001)
        #expect(shifted["coord_type"] == nil)
        _ = try await make(bench, "circle", "latitude=48.8584&longitude=2.2945&radius=100")
        let paris = try #require(try await list(bench, "fence_ids=2").first)
        #expect(paris["latitude"]?.doubleValue == 48.8584)
        #expect(paris["coord_type"] == "wgs84")
    }

    @Test func polygonsAndLinesHaveVerticesAsObjectsOrAsText() async throws {
        for options in [WebAPIOptions(), WebAPIOptions(fenceVertices: .text)] {
            let bench = try await bench(options)
            _ = try await make(bench, "polygon", Self.square + "&coord_type=wgs84")
            _ = try await make(bench, "polyline", "vertexes=40,116; 40,116.02&offset=50&coord_type=wgs84")
            let fences = try await list(bench, "fence_ids=1,2&coord_type_output=wgs84")
            #expect(fences.map { $0["shape"]?.stringValue } == ["polygon", "polyline"])
            #expect(fences.last?["offset"]?.doubleValue == 50)
            if options.fenceVertices == .text {
                #expect(fences.last?["vertexes"] == "40,116;40,116.02")
            } else {
                #expect(
                    fences.last?["vertexes"] == [
                        ["longitude": 116, "latitude": 40], ["longitude": 116.02, "latitude": 40],
                    ])
                #expect(fences.first?["vertexes"]?.items.count == 4)
            }
        }
    }

    @Test func aServiceMayHaveItsVerticesInAnotherFormThanTheServer() async throws {
        for usual in VertexForm.allCases {
            let bench = try await bench(WebAPIOptions(fenceVertices: usual))
            _ = try await make(bench, "polygon", Self.square + "&coord_type=wgs84")
            for form in [VertexForm.text, .objects, nil] {
                try await bench.store.setAnswers(AnswerForms(vertices: form), of: bench.service)
                let vertices = try await list(bench, "fence_ids=1").first?["vertexes"]
                #expect(
                    (vertices?.stringValue != nil) == (form ?? usual == .text), "\(usual), \(String(describing: form))")
            }
        }
    }

    @Test func aPolygonOfOnePlaceIsAcceptedAndComesBack() async throws {
        let bench = try await bench()
        _ = try await make(bench, "polygon", "vertexes=40,116;40,116;40,116&coord_type=wgs84")
        let fence = try #require(try await list(bench, "fence_ids=1&coord_type_output=wgs84").first)
        #expect(fence["shape"] == "polygon")
        #expect(fence["vertexes"]?.items.count == 3)
    }

    @Test func aLongLineIsThinned() async throws {
        let bench = try await bench()
        let straight = (0..<500).map { "40,\(116 + Double($0) / 1000)" }.joined(separator: ";")
        _ = try await make(bench, "polyline", "vertexes=\(straight)&offset=50&coord_type=wgs84")
        #expect(try await list(bench, "fence_ids=1").first?["vertexes"]?.items.count == 2)
        let longest = (0..<2001).map { "40,\(100 + Double($0) / 1000)" }.joined(separator: ";")
        #expect(try await bench.post("fence/createpolylinefence", "vertexes=\(longest)&offset=50").status == 2)
        let zigzag = (0..<500).map { "\($0 % 2 == 0 ? 40 : 40.1),\(116 + Double($0) / 1000)" }.joined(separator: ";")
        let refused = try await bench.post("fence/createpolylinefence", "vertexes=\(zigzag)&offset=50")
        #expect(refused.status == 2)
        #expect(refused["message"]?.stringValue?.contains("500") == true)
    }

    @Test(arguments: [
        ("circle", "latitude=40&longitude=116", 2), ("circle", "latitude=40&longitude=116&radius=0", 2),
        ("circle", "latitude=40&longitude=116&radius=5000.1", 2), ("circle", "latitude=40&radius=1", 2),
        ("circle", "latitude=91&longitude=116&radius=1", 2), ("circle", "latitude=nan&longitude=116&radius=1", 2),
        ("circle", "latitude=40&longitude=1e308&radius=1", 2), ("circle", "latitude=90&longitude=32&radius=1", 0),
        ("circle", Self.circle + "&coord_type=bd09mc", 2), ("circle", Self.circle + "&coord_type=1", 0),
        ("circle", Self.circle + "&denoise=-1", 2), ("circle", Self.circle + "&denoise=", 0),
        ("circle", Self.circle + "&monitored_person=ghost", 5102), ("circle", Self.circle + "&monitored_person=,", 2),
        ("circle", Self.circle + "&monitored_person=%23allentity", 0),
        ("circle", Self.circle + "&fence_name=%07", 2),
        ("polygon", "vertexes=40,116;40,117", 2), ("polygon", "vertexes=40,116;40;41,117", 2),
        ("polygon", "vertexes=0,0;1,1;0,1;1,0&coord_type=wgs84", 2), ("polygon", "", 2),
        ("polygon", Self.square, 0), ("polyline", "vertexes=40,116;41,117", 2),
        ("polyline", "vertexes=40,116&offset=5", 2), ("polyline", "vertexes=40,116;41,117&offset=0", 2),
        ("polyline", "vertexes=40,116;41,117&offset=300", 0),
        ("district", "", 2), ("district", "keyword=Nowhere", 2),
    ])
    func eachRuleOfANewFenceHasItsStatus(kind: String, body: String, status: Int64) async throws {
        let answer = try await bench().post("fence/create\(kind)fence", body)
        #expect(answer.status == status, "\(answer)")
        #expect((answer["fence_id"] == nil) == (status != 0))
    }

    @Test func onlyWhatIsGivenChanges() async throws {
        let bench = try await bench()
        let id = try await make(bench, "circle", Self.circle + "&monitored_person=van")
        // A client that changes the name alone sends zeros.
        let renamed = try await bench.post(
            "fence/updatecirclefence", "fence_id=\(id)&fence_name=gate&longitude=0&latitude=0&radius=1.1")
        #expect(renamed["fence_id"]?.integerValue == id)
        var fence = try #require(try await list(bench, "fence_ids=\(id)").first)
        #expect(fence["fence_name"] == "gate")
        #expect(fence["latitude"]?.doubleValue == 40.05)
        #expect(fence["radius"]?.doubleValue == 1.1)
        _ = try await bench.post("fence/updatecirclefence", "fence_id=\(id)&monitored_person=bus&denoise=5")
        fence = try #require(try await list(bench, "fence_ids=\(id)").first)
        #expect(fence["monitored_person"] == "bus")
        #expect(fence["denoise"]?.integerValue == 5)
        #expect(fence["radius"]?.doubleValue == 1.1)
        #expect(try await bench.post("fence/updatepolygonfence", "fence_id=\(id)&" + Self.square).status == 2)
        #expect(try await bench.post("fence/updatecirclefence", "fence_id=77&radius=5").status == 5104)
        #expect(try await bench.post("fence/updatecirclefence", "fence_id=\(id)&radius=9000").status == 2)
        #expect(try await bench.post("fence/updatecirclefence", "radius=5").status == 2)
        let line = try await make(bench, "polyline", "vertexes=40,116;40,116.02&offset=50&coord_type=wgs84")
        #expect(try await bench.post("fence/updatepolylinefence", "fence_id=\(line)&offset=70&vertexes=").status == 0)
        let wider = try #require(try await list(bench, "fence_ids=\(line)&coord_type_output=wgs84").first)
        #expect(wider["offset"]?.doubleValue == 70)
        #expect(wider["vertexes"]?.items.count == 2)
    }

    @Test func fencesAreDeletedByNumberByPersonAndByBoth() async throws {
        let bench = try await bench()
        for person in ["van", "van", "van,bus", "%23allentity", "bus"] {
            _ = try await make(bench, "circle", Self.circle + "&monitored_person=\(person)")
        }
        #expect(try await bench.post("fence/delete", "").status == 2)
        // Forms write lists so. They must not be passed over: without numbers all fences of the person are meant.
        for list in ["fence_ids[0]=1", "fence_ids%5B%5D=1&fence_ids%5B%5D=2"] {
            #expect(try await bench.post("fence/delete", "monitored_person=van&\(list)").status == 2)
        }
        #expect(try await bench.post("fence/delete", "monitored_person=van&fence_ids=1,5").status == 5103)
        // No fence can have such a number, and so none was asked for that the vehicle has.
        #expect(try await bench.post("fence/delete", "monitored_person=van&fence_ids=1,99999999999").status == 5103)
        #expect(try await bench.post("fence/delete", "monitored_person=van&fence_ids=1")["fence_ids"] == [1])
        #expect(try await bench.post("fence/delete", "fence_ids= 4, 99")["fence_ids"] == [4])
        #expect(try await bench.post("fence/delete", "fence_ids=98,99")["fence_ids"] == [])
        // The public one that watches van too stays.
        #expect(try await bench.post("fence/delete", "monitored_person=van")["fence_ids"] == [2])
        #expect(try await list(bench, "fence_ids=1,2,3,4,5").map { $0["fence_id"]?.integerValue } == [3, 5])
        #expect(try await bench.post("fence/delete", "fence_ids=x").status == 2)
    }

    @Test func aListIsChosenByWatcherAndPaged() async throws {
        let bench = try await bench()
        for person in ["van", "van,bus", "%23allentity", "bus", ""] {
            _ = try await make(bench, "circle", Self.circle + (person.isEmpty ? "" : "&monitored_person=\(person)"))
        }
        func numbers(_ query: String) async throws -> [Int64?] {
            try await list(bench, query).map { $0["fence_id"]?.integerValue }
        }
        #expect(try await numbers("monitored_person=van") == [1, 2, 3])
        #expect(try await numbers("monitored_person=%23allentity") == [3])
        #expect(try await numbers("monitored_person=%23partofentity") == [2])
        #expect(try await numbers("monitored_person=van&fence_ids=2,4") == [2])
        #expect(try await numbers("monitored_person=van&page_size=2&page_index=2") == [3])
        #expect(try await numbers("fence_ids=1,5,9&page_size=1") == [1, 5])
        #expect(try await numbers("monitored_person=ghost") == [3])
        #expect(try await bench.get("fence/list").status == 2)
        let texts = try await list(bench, "fence_ids=1,2,3,5").map { $0["monitored_person"]?.stringValue }
        #expect(texts == ["van", "#partofentity", "#allentity", ""])
        let posted = try await bench.post("fence/list", "fence_ids=1")
        #expect(posted.status == 0)
    }

    @Test func watchedEntitiesAreAddedRemovedAndListed() async throws {
        let bench = try await bench()
        let id = try await make(bench, "circle", Self.circle + "&monitored_person=van")
        func names(_ query: String = "") async throws -> [String?] {
            try await bench.get("fence/listmonitoredperson", "fence_id=\(id)\(query)")["monitored_person"]?.items
                .map(\.stringValue) ?? []
        }
        #expect(try await bench.post("fence/addmonitoredperson", "fence_id=\(id)&monitored_person=van,bus").status == 0)
        #expect(try await names() == ["bus", "van"])
        #expect(try await names("&page_size=1&page_index=2") == ["van"])
        #expect(
            try await bench.post("fence/addmonitoredperson", "fence_id=\(id)&monitored_person=ghost").status == 5102)
        #expect(try await bench.post("fence/addmonitoredperson", "fence_id=9&monitored_person=van").status == 5104)
        #expect(try await bench.post("fence/deletemonitoredperson", "fence_id=\(id)&monitored_person=van").status == 0)
        #expect(try await names() == ["bus"])
        #expect(
            try await bench.post("fence/deletemonitoredperson", "fence_id=\(id)&monitored_person=%23clearentity").status
                == 0)
        #expect(try await names() == [])
        #expect(
            try await bench.post("fence/addmonitoredperson", "fence_id=\(id)&monitored_person=%23allentity").status == 0
        )
        #expect(try await names() == ["#allentity"])
        #expect(try await bench.post("fence/deletemonitoredperson", "fence_id=\(id)&monitored_person=van").status == 2)
        #expect(try await bench.post("fence/addmonitoredperson", "$fence_id=\(id)&monitored_person=van").status == 2)
    }

    @Test func anEntityHasAtMostAHundredFencesOfItsOwn() async throws {
        let bench = try await bench()
        for _ in 0..<100 { _ = try await make(bench, "circle", Self.circle + "&monitored_person=van") }
        #expect(try await bench.post("fence/createcirclefence", Self.circle + "&monitored_person=van").status == 5101)
        #expect(try await bench.post("fence/createcirclefence", Self.circle + "&monitored_person=van,bus").status == 0)
    }

    @Test func districtsAreFoundByNameAndSeveralAreNamed() async throws {
        let bench = try await bench()
        func square(_ east: Double) -> ShapeDraft {
            ShapeDraft(
                .polygon([
                    [
                        [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 0.0)].map {
                            Degrees(latitude: 30 + $0.0, longitude: east + $0.1)
                        }
                    ]
                ]))
        }
        try await bench.store.replaceDistricts(
            of: "test",
            with: [
                NewDistrict(name: "湖南省", parent: nil, shape: square(110)),
                NewDistrict(name: "长沙市", parent: 0, shape: square(111)),
                NewDistrict(name: "辽宁省", parent: nil, shape: square(120)),
                NewDistrict(name: "长沙市", parent: 2, shape: square(121)),
            ])
        let several = try await bench.post("fence/createdistrictfence", "keyword=长沙")
        #expect(several.status == 5108)
        #expect(several["district_list"] == ["湖南省长沙市", "辽宁省长沙市"])
        let made = try await bench.post("fence/createdistrictfence", "keyword=湖南省长沙市&monitored_person=van")
        #expect(made["district"] == "湖南省长沙市")
        let fence = try #require(try await list(bench, "fence_ids=1").first)
        #expect(fence["shape"] == "district")
        #expect(fence["district"] == "湖南省长沙市")
        let moved = try await bench.post("fence/updatedistrictfence", "fence_id=1&keyword=辽宁省长沙市")
        #expect(moved["district"] == "辽宁省长沙市", "\(moved)")
        #expect(try await bench.post("fence/updatedistrictfence", "fence_id=1&keyword=长沙").status == 5108)
        #expect(try await bench.post("fence/updatedistrictfence", "fence_id=1&fence_name=x").status == 0)
    }

    // MARK: What points bring about

    private func drive(_ bench: Bench, _ steps: [(second: Int64, latitude: Double)]) async throws {
        for step in steps {
            let body =
                "entity_name=van&latitude=\(step.latitude)&longitude=116&coord_type_input=wgs84&radius=5"
                + "&loc_time=\(Bench.now.seconds + step.second)"
            #expect(try await bench.post("track/addpoint", body).status == 0)
        }
    }

    @Test func aVisitIsInTheHistoryWithTheStatusOnTheWay() async throws {
        let bench = try await bench()
        let body = "latitude=40&longitude=116&radius=100&coord_type=wgs84&fence_name=depot"
        let own = try await make(bench, "circle", body + "&monitored_person=van")
        let other = try await make(bench, "circle", body + "&monitored_person=bus")
        func status() async throws -> String? {
            try await bench.get("fence/querystatus", "monitored_person=van&fence_ids=\(own)")["monitored_statuses"]?
                .items
                .first?["monitored_status"]?.stringValue
        }
        #expect(try await status() == "unknown")
        try await drive(bench, [(0, 40.01), (30, 40.005)])
        #expect(try await status() == "out")
        try await drive(bench, [(60, 40.0), (90, 40.0001)])
        #expect(try await status() == "in")
        try await drive(bench, [(120, 40.005), (150, 40.01)])
        #expect(try await status() == "out")
        let history = try await bench.get("fence/historyalarm", "monitored_person=van&coord_type_output=wgs84")
        let alarms = history["alarms"]?.items ?? []
        #expect(history["size"]?.integerValue == 2)
        #expect(alarms.map { $0["action"]?.stringValue } == ["enter", "exit"], "\(history)")
        let first = try #require(alarms.first)
        #expect(first["fence_id"]?.integerValue == own && first["fence_name"] == "depot")
        #expect(first["monitored_person"] == "van")
        #expect(first["alarm_point"]?["loc_time"]?.integerValue == Bench.now.seconds + 60)
        #expect(first["alarm_point"]?["radius"] == 5)
        #expect(first["alarm_point"]?["create_time"]?.integerValue == Bench.now.seconds)
        #expect(first["pre_point"]?["loc_time"]?.integerValue == Bench.now.seconds + 30)
        let times = "start_time=\(Bench.now.seconds - 60)&end_time=\(Bench.now.seconds)"
        let batch = try await bench.get("fence/batchhistoryalarm", times + "&page_size=1&page_index=2")
        #expect(batch["total"]?.integerValue == 2 && batch["alarms"]?.items.count == 1)
        #expect(try await bench.get("fence/historyalarm", "monitored_person=bus")["alarms"] == [])
        #expect(try await bench.get("fence/historyalarm", "monitored_person=van&fence_ids=\(other)")["alarms"] == [])
        // Alarms outlive the fence and the entity.
        _ = try await bench.post("fence/delete", "fence_ids=\(own)")
        _ = try await bench.post("entity/delete", "entity_name=van")
        #expect(try await bench.get("fence/historyalarm", "monitored_person=van")["size"]?.integerValue == 2)
    }

    /// A vehicle found them with a revision that the operator had replaced before.
    @Test func staleAlarmsAreToldOnRequest() async throws {
        let bench = try await bench()
        let place = try #require(Coordinate(latitude: 40, longitude: 116))
        func alarm(_ mark: UInt8, isStale: Bool) throws -> CausedAlarm {
            let key = try #require(AlarmKey(bytes: [UInt8](repeating: mark, count: 16)))
            let crossing = Crossing(
                time: Bench.now, place: place, isEstimated: true, earliest: Bench.now, latest: Bench.now)
            return CausedAlarm(
                Alarm(
                    key: key, source: .server, fence: 1, revision: 1, name: "depot", action: .enter,
                    point: AlarmPoint(time: Bench.now, place: place, received: Bench.now), crossing: crossing,
                    isStale: isStale))
        }
        let batch = IngestBatch(
            service: bench.service, entity: "van", position: nil,
            points: [TrackPoint(Fix(time: Bench.now, coordinate: place))], sequences: [], payload: nil,
            received: Bench.now, alarms: [try alarm(1, isStale: false), try alarm(2, isStale: true)])
        guard case .stored? = await bench.store.ingest([batch]).first else {
            Issue.record("the alarms are not stored")
            return
        }
        let times = "start_time=\(Bench.now.seconds - 60)&end_time=\(Bench.now.seconds)"
        for (path, query) in [("historyalarm", "monitored_person=van"), ("batchhistoryalarm", times)] {
            for (value, stale) in [("", [nil]), ("&include_stale=0", [nil]), ("&include_stale=1", [nil, true])]
                as [(String, [JSONValue?])]
            {
                let answer = try await bench.get("fence/\(path)", query + value)
                #expect(answer["alarms"]?.items.map { $0["stale"] } == stale, "\(path) \(value): \(answer)")
            }
            #expect(try await bench.get("fence/\(path)", query + "&include_stale=2").status == 2)
        }
    }

    @Test func aPlaceIsAskedWithoutBeingRemembered() async throws {
        let bench = try await bench()
        _ = try await make(bench, "circle", Self.circle + "&monitored_person=van")
        _ = try await make(bench, "polygon", "vertexes=40,116;40,116;40,116&monitored_person=van")
        func places(_ query: String) async throws -> [String?] {
            try await bench.get("fence/querystatusbylocation", "monitored_person=van&" + query)["monitored_statuses"]?
                .items.map { $0["monitored_status"]?.stringValue } ?? []
        }
        #expect(try await places("latitude=40.05&longitude=116.31") == ["in", "out"])
        #expect(try await places("latitude=40.05&longitude=116.31&coord_type=wgs84") == ["out", "out"])
        #expect(try await places("latitude=40&longitude=116") == ["out", "out"])
        #expect(
            await bench.text("fence/querystatus", "monitored_person=van&fence_ids=1")
                == #"{"status":0,"message":"成功","total":1,"size":1,"monitored_statuses":[{"fence_id":1,"#
                + #""monitored_status":"unknown"}]}"#)
        #expect(try await bench.get("fence/querystatusbylocation", "monitored_person=van").status == 2)
    }

    @Test(arguments: [
        ("fence/querystatus", "", 2), ("fence/querystatus", "monitored_person=ghost", 5102),
        ("fence/querystatus", "monitored_person=van&fence_ids=9", 5103),
        ("fence/querystatus", "monitored_person=van", 0), ("fence/historyalarm", "", 2),
        ("fence/historyalarm", "monitored_person=ghost", 0),
        ("fence/historyalarm", "monitored_person=van&start_time=&end_time=", 0),
        ("fence/historyalarm", "monitored_person=van&start_time=9&end_time=8", 3201),
        ("fence/historyalarm", "monitored_person=van&start_time=-1", 2),
        ("fence/historyalarm", "monitored_person=van&end_time=99999999999999999", 2),
        ("fence/batchhistoryalarm", "start_time=5", 2), ("fence/batchhistoryalarm", "start_time=0&end_time=3601", 2),
        ("fence/batchhistoryalarm", "start_time=0&end_time=3600", 0),
        ("fence/batchhistoryalarm", "start_time=7&end_time=7", 0),
    ])
    func eachRuleOfAQuestionHasItsStatus(path: String, query: String, status: Int64) async throws {
        let answer = try await bench().get(path, query)
        #expect(answer.status == status, "\(answer)")
    }
}
