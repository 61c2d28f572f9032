import Ingest
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
}
