import Geofencing
import Ingest
import JSON
import Testing
import TrackModel
import TrackStore

@testable import WebAPI

@Suite struct CallPolicyTests {
    private func status(
        _ bench: Bench, _ path: String, _ parameters: [String: String], _ policy: DevicePolicy = .entity
    ) async -> (status: Int, json: String) {
        await bench.router.call(
            service: bench.service, entity: "van_07", path: path, parameters: parameters, policy: policy)
    }

    @Test func anEntityIsToldByItsBytes() {
        #expect(DevicePolicy.entity.problem(with: .entities(["van"]), by: "van") == nil)
        #expect(DevicePolicy.entity.problem(with: .entities([]), by: "van") == nil)
        #expect(DevicePolicy.entity.problem(with: .entities(["van", "bus"]), by: "van")?.contains("bus") == true)
        #expect(DevicePolicy.entity.problem(with: .entities(["e\u{301}"]), by: "\u{E9}") != nil)
        #expect(DevicePolicy.entity.problem(with: .wholeService, by: "van")?.contains("call_policy") == true)
        #expect(DevicePolicy.service.problem(with: .wholeService, by: "van") == nil)
        #expect(DevicePolicy.service.problem(with: .entities(["bus"]), by: "van") == nil)
    }

    @Test(arguments: [
        ("track/getlatestpoint", [:]), ("track/getlatestpoint", ["entity_name": "van_07"]),
        ("track/gettrack", ["start_time": "1", "end_time": "2"]),
        ("track/getdistance", ["start_time": "1", "end_time": "2"]),
        ("entity/list", ["filter": "entity_names:van_07"]),
        ("track/addpoint", ["latitude": "1", "longitude": "2", "loc_time": "1772677000"]),
        (
            "track/addpoints",
            ["point_list": #"[{"entity_name":"van_07","latitude":1,"longitude":2,"loc_time":1772677000}]"#]
        ),
    ])
    func itsOwnEntityIsADevicesToAskAbout(path: String, parameters: [String: String]) async throws {
        let bench = try await Bench()
        try await bench.upload("van_07", [try point(1_772_677_800, 30.63, 103.99)])
        #expect(await status(bench, path, parameters).status == 0)
    }

    @Test(arguments: [
        ("track/getlatestpoint", ["entity_name": "bus"]), ("track/gettrack", ["entity_name": "bus"]),
        ("track/getdistance", ["entity_name": "bus"]), ("entity/list", [:]),
        ("entity/list", ["filter": "active_time:1"]), ("entity/list", ["filter": "entity_names:van_07,bus"]),
        ("entity/list", ["filter": "entity_names:van_07|entity_names:bus"]), ("entity/add", ["entity_name": "bus"]),
        ("track/addpoint", ["entity_name": "bus", "latitude": "1", "longitude": "2", "loc_time": "1772677000"]),
        (
            "track/addpoints",
            [
                "point_list": #"[{"entity_name":"van_07","latitude":1,"longitude":2,"loc_time":1772677000},"#
                    + #"{"entity_name":"bus","latitude":1,"longitude":2,"loc_time":1772677000}]"#
            ]
        ),
    ])
    func anythingElseIsRefusedUnlessTheOperatorAllowsIt(path: String, parameters: [String: String]) async throws {
        let bench = try await Bench()
        try await bench.upload("van_07", [try point(1_772_677_800, 30.63, 103.99)])
        let refused = await status(bench, path, parameters)
        #expect(refused.status == 240)
        #expect(refused.json.contains("call_policy"))
        #expect(try await bench.store.entity(named: "bus", in: bench.service) == nil)
        #expect(await status(bench, path, parameters, .service).status != 240)
    }

    /// What is judged is what is answered: the service's columns belong to the filter in both.
    @Test func aSearchableColumnNamesOthersToo() async throws {
        let bench = try await Bench()
        try await bench.store.addColumn(
            ColumnRecord(key: "team", type: .string, description: "", isSearchable: true, created: Bench.now),
            of: .entity, in: bench.service)
        for name in ["van_07", "bus"] {
            try await bench.store.addEntity(
                NewEntity(name: name, values: ["team": "north"]), in: bench.service, at: Bench.now)
        }
        let refused = await status(bench, "entity/list", ["filter": "team:north"])
        #expect(refused.status == 240 && !refused.json.contains("bus"), "\(refused.json)")
        let own = await status(bench, "entity/list", ["filter": "team:north|entity_names:van_07"])
        #expect(own.status == 0 && !own.json.contains("bus"), "\(own.json)")
        // A list of no names is about nobody.
        #expect(await status(bench, "entity/list", ["filter": "team:north|entity_names:,"]).status == 3003)
        #expect(await status(bench, "entity/list", ["filter": "team:north"], .service).status == 0)
    }

    @Test func whatCannotBeReadFailsForThat() async throws {
        let bench = try await Bench()
        #expect(await status(bench, "track/addpoints", ["point_list": "["]).status == 2)
        #expect(await status(bench, "entity/list", ["filter": "colour:red"]).status == 2)
        #expect(await status(bench, "no/such", [:]).status == 260)
    }

    // MARK: Fences of others

    private static let circle = [
        "longitude": "4.3", "latitude": "52.1", "radius": "100", "coord_type": "wgs84",
        "monitored_person": "van_07",
    ]

    /// Fence 1 is the operator's, fence 2 the vehicle's; both watch the vehicle alone.
    private func fences() async throws -> Bench {
        let bench = try await Bench()
        for name in ["van_07", "bus"] {
            try await bench.store.addEntity(NewEntity(name: name), in: bench.service, at: Bench.now)
        }
        let text = Self.circle.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
        try #require(try await bench.post("fence/createcirclefence", text)["fence_id"]?.integerValue == 1)
        let made = await status(bench, "fence/createcirclefence", Self.circle)
        try #require(made.status == 0, "\(made.json)")
        return bench
    }

    private func numbers(_ bench: Bench) async throws -> [Int32] {
        try await bench.store.fences(
            in: bench.service, matching: FenceFilter(), page: Page(offset: 0, limit: 100)
        ).fences.map(\.fence.id)
    }

    @Test(arguments: [
        ("fence/delete", ["monitored_person": "van_07"]),
        ("fence/delete", ["monitored_person": "van_07", "fence_ids": "1"]),
        ("fence/delete", ["monitored_person": "van_07", "fence_ids": "1,2"]),
        ("fence/delete", ["fence_ids": "1"]),
        ("fence/updatecirclefence", ["fence_id": "1", "radius": "5"]),
        ("fence/updatecirclefence", ["fence_id": "1", "fence_name": "mine"]),
        ("fence/updatecirclefence", ["fence_id": "1", "monitored_person": "bus"]),
        ("fence/addmonitoredperson", ["fence_id": "1", "monitored_person": "bus"]),
        ("fence/deletemonitoredperson", ["fence_id": "1", "monitored_person": "van_07"]),
        ("fence/deletemonitoredperson", ["fence_id": "1", "monitored_person": "#clearentity"]),
        ("entity/delete", ["entity_name": "van_07"]), ("track/deletecolumn", ["column_key": "x"]),
        ("entity/addcolumn", ["column_key": "x"]), ("entity/update", ["entity_name": "bus", "entity_desc": "x"]),
        ("fence/cancelurl", [:]), ("export/deletejob", ["job_id": "1"]),
    ])
    func whatTheOperatorMadeAVehicleDoesNotChange(path: String, parameters: [String: String]) async throws {
        let bench = try await fences()
        let before = try await bench.store.fence(1, in: bench.service)
        let answer = await status(bench, path, parameters)
        #expect(answer.status == 240, "\(answer.json)")
        #expect(answer.json.contains("call_policy"), "\(answer.json)")
        #expect(try await numbers(bench) == [1, 2])
        #expect(try await bench.store.fence(1, in: bench.service) == before)
    }

    @Test func whatAVehicleMadeItChangesAndRemoves() async throws {
        let bench = try await fences()
        #expect(await status(bench, "fence/updatecirclefence", ["fence_id": "2", "radius": "7"]).status == 0)
        #expect(
            await status(bench, "fence/delete", ["fence_ids": "2", "monitored_person": "van_07"]).status == 0)
        #expect(try await numbers(bench) == [1])
        // A vehicle that may do all does it.
        #expect(await status(bench, "fence/delete", ["monitored_person": "van_07"], .service).status == 0)
        #expect(try await numbers(bench) == [])
    }

    @Test func theAnswerNamesTheFenceAndTheReason() async throws {
        let bench = try await fences()
        let answer = await status(bench, "fence/delete", ["monitored_person": "van_07"])
        #expect(answer.json.contains("fence 1") && answer.json.contains("operator"), "\(answer.json)")
    }

    // MARK: Names that look like another one

    private func call(_ bench: Bench, by entity: String, _ path: String, _ parameters: [String: String]) async -> Int {
        await bench.router.call(
            service: bench.service, entity: entity, path: path, parameters: parameters, policy: .entity
        ).status
    }

    /// The policy judges the names that the call uses.
    @Test(arguments: ["van_07 ", " van_07", "van_07\u{3000}", "van_07,", "van_07\u{200B}"])
    func aVehicleWithALikeNameActsForNobodyElse(_ name: String) async throws {
        let bench = try await fences()
        // Made before there was a rule.
        try await bench.store.addEntity(NewEntity(name: name), in: bench.service, at: Bench.now)
        var circle = Self.circle
        circle["monitored_person"] = name
        _ = await call(bench, by: name, "fence/createcirclefence", circle)
        _ = await call(bench, by: name, "fence/delete", ["monitored_person": name])
        let watching = try await bench.store.fences(
            in: bench.service, matching: FenceFilter(watch: .watching("van_07")), page: Page(offset: 0, limit: 10))
        #expect(watching.fences.map(\.fence.id) == [1, 2])
    }

    @Test(arguments: ["bus_01 ", "bus\u{200B}", "e\u{301}"])
    func aNewEntityNeedsANameWithOneSpelling(_ name: String) async throws {
        let bench = try await Bench()
        let point = ["latitude": "1", "longitude": "2", "loc_time": "1772677000", "entity_name": name]
        func all() async -> [Int] {
            let list = #"[{"entity_name":"\#(name)","latitude":1,"longitude":2,"loc_time":1772677000}]"#
            return [
                await call(bench, by: name, "entity/add", ["entity_name": name]),
                await call(bench, by: name, "track/addpoint", point),
                await call(bench, by: name, "track/addpoints", ["point_list": list]),
            ]
        }
        #expect(await all() == [2, 2, 2])
        #expect(try await bench.store.entity(named: name, in: bench.service) == nil)
        // One that is there goes on.
        try await bench.store.addEntity(NewEntity(name: name), in: bench.service, at: Bench.now)
        #expect(await all() == [2, 0, 0])
    }

    // MARK: Texts that cost much

    /// The square of their lengths, when somebody compares them as characters: this test would take minutes.
    @Test(.timeLimit(.minutes(5))) func manyAccentsCostNoMoreThanOtherBytes() async throws {
        let bench = try await Bench()
        let marks = "a" + String(repeating: "\u{301}\u{327}", count: 60_000)
        #expect(await call(bench, by: "van_07", marks, [:]) == 260)
        #expect(await call(bench, by: "van_07", "entity/list", ["filter": "entity_names:\(marks)"]) == 240)
        #expect(await call(bench, by: "van_07", "entity/list", ["filter": marks]) == 2)
        #expect(await call(bench, by: "van_07", "entity/list", ["filter": "\(marks):1"]) == 2)
        #expect(await call(bench, by: "van_07", "fence/list", [marks + "[": "1"]) == 240)
        #expect(await call(bench, by: "van_07", "track/addpoints", ["point_list": "[{\"\(marks)\":1}]"]) == 2)
        #expect(
            await call(bench, by: "van_07", "track/addpoints", ["point_list": "[{\"entity_name\":\"\(marks)\"}]"]) == 2)
        let request = APIRequest(
            method: "POST", target: "/api/v3/entity/add", contentType: "application/json",
            body: Array("{\"\(marks)\":1}".utf8))
        #expect(try await bench.send(request).status == 2)
        let form = APIRequest(
            method: "POST", target: "/api/v3/entity/add", contentType: "application/x-www-form-urlencoded",
            body: Array("\(marks)=1&ak=\(Bench.key)&service_id=1&entity_name=\(marks)".utf8))
        #expect(try await bench.send(form).status == 2)
    }
}
