import AgentControl
import JSON
import ProgramTestKit
import Testing
import Varlink

@testable import saker

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
