import AgentControl
import JSON
import ProgramTestKit
import Testing
import Varlink

@testable import SakerCommand

@Suite(.timeLimit(.minutes(5))) struct CallCommandTests {
    private static let latest: JSONValue = [
        "status": 0, "response": ["status": 0, "message": "成功", "latest_point": ["loc_time": 1_772_670_030]],
    ]

    @Test func aCallGoesThroughTheAgentWithoutAKey() async throws {
        let agent = try await ScriptedServer.start(["Call": .reply(Self.latest)])
        let result = try await agent.saker("call", "track/getlatestpoint", "coord_type_output=wgs84", "x=a=b")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output == (Self.latest["response"]?.description ?? "") + "\n")
        #expect(
            try await agent.asked == [
                .init(
                    method: "Call",
                    parameters: [
                        "path": "track/getlatestpoint", "parameters": ["coord_type_output": "wgs84", "x": "a=b"],
                    ])
            ])
        try await agent.stop()
    }

    @Test func aRefusalIsPrintedAndIsExitCode1() async throws {
        let refusal: JSONValue = ["status": 240, "message": "APP 服务被禁用: your own entity only"]
        let agent = try await ScriptedServer.start(["Call": .reply(["status": 240, "response": refusal])])
        let result = try await agent.saker("call", "/entity/list")
        #expect(result.status == 1)
        #expect(result.output == refusal.description + "\n")
        #expect(result.errors.contains("status 240") && result.errors.contains("your own entity only"))
        #expect(try await agent.asked.first?.parameters["path"] == "entity/list")
        try await agent.stop()
    }

    @Test func entityAndTrackGoTheSameWay() async throws {
        let agent = try await ScriptedServer.start(["Call": .reply(Self.latest)])
        let environment = ["SAKER_SOCKET": agent.path]
        let latest = try await SakerProgram.run(["track", "latest", "van"], environment: environment)
        #expect(latest.status == 0 && latest.output.contains("van"), "\(latest.errors)")
        let list = try await SakerProgram.run(["entity", "list", "van", "bus"], environment: environment)
        #expect(list.status == 0)
        #expect(
            try await agent.asked.map { $0.parameters["parameters"]?["filter"] } == [nil, "entity_names:van,bus"])
        // What says how the server is reached goes before the agent.
        let direct = try await SakerProgram.run(
            ["track", "latest", "van", "--server", "http://127.0.0.1:1", "--service-id", "1"],
            environment: environment.merging(["SAKER_AK": "k"]) { $1 })
        #expect(direct.status == 3)
        #expect(try await agent.asked.count == 2)
        try await agent.stop()
    }

    @Test func withoutANameAVehicleAsksAboutItself() async throws {
        let status = try JSONValue(encoding: ["status": SampleStatus.tracked])
        let agent = try await ScriptedServer.start(["Call": .reply(Self.latest), "GetStatus": .reply(status)])
        let latest = try await agent.saker("track", "latest")
        #expect(latest.status == 0 && latest.output.contains("货车 07"), "\(latest.errors)")
        let history = try await agent.saker("track", "history", "--from", "1h ago")
        #expect(history.status == 0, "\(history.errors)")
        let calls = try await agent.asked.filter { $0.method == "Call" }
        #expect(calls.count >= 2)
        #expect(calls.allSatisfy { $0.parameters["parameters"]?["entity_name"] == "货车 07" })
        try await agent.stop()
    }

    @Test func theListOfAVehicleThatMayAskAboutItselfAloneIsItself() async throws {
        let status = try JSONValue(encoding: ["status": SampleStatus.tracked])
        let refusal: JSONValue = ["status": 240, "response": ["status": 240, "message": "APP 服务被禁用: own only"]]
        let own: JSONValue = [
            "status": 0, "response": ["status": 0, "total": 1, "entities": [["entity_name": "货车 07"]]],
        ]
        let agent = try await ScriptedServer.start([
            "Call": .turns([.reply(refusal), .reply(own), .reply(refusal)]), "GetStatus": .reply(status),
        ])
        let list = try await agent.saker("entity", "list")
        #expect(list.status == 0 && list.lines.count > 1 && list.lines[1].hasPrefix("货车 07"), "\(list.errors)")
        let filters = try await agent.asked.filter { $0.method == "Call" }
            .map { $0.parameters["parameters"]?["filter"] }
        #expect(filters == [nil, "entity_names:货车 07"])
        // Another entity stays refused.
        let other = try await agent.saker("entity", "list", "bus")
        #expect(other.status == 1 && other.errors.contains("own only") && !other.errors.contains("禁用"))
        try await agent.stop()
    }

    @Test func offlineIsToldInTheAgentsWords() async throws {
        let error = AgentControlError(.networkError, in: .call, reason: "the server cannot be reached: no route")
        let agent = try await ScriptedServer.start([
            "Call": .error(error.varlinkError.name, error.varlinkError.parameters)
        ])
        let result = try await agent.saker("track", "latest", "van")
        #expect(result.errors == "saker: the server cannot be reached: no route\n")
        #expect(result.status == 3)
        try await agent.stop()
    }

    @Test(arguments: [
        ("entity/add", true), ("track/addpoints", true), ("fence/createcirclefence", true), ("entity/delete", true),
        ("entity/list", false), ("track/gettrack", false), ("analysis/staypoint", false),
    ])
    func whatChangesSomethingIsAPost(path: String, isPost: Bool) {
        #expect(CallCommand.isPost(path) == isPost)
    }
}
