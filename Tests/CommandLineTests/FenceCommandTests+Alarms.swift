import AgentControl
import FenceJSON
import Geodesy
import Geofencing
import JSON
import ProgramTestKit
import Testing
import Varlink

@testable import SakerCommand

// `saker alarms`, chosen by fence.
extension FenceCommandTests {
    @Test func alarmsAreChosenByFence() async throws {
        let body: JSONValue = [
            "action": "exit", "fence_id": 15, "fence_name": "depot", "inside": 60_000, "params": ["gate": 3],
        ]
        let agent = try await ScriptedServer.start([
            "ListAlarms": .reply([
                "more": false,
                "alarms": [
                    [
                        "number": 4, "id": 9, "type": 4, "entity": "van_07", "time": 1_772_670_000_000, "received": 1,
                        "body": body,
                    ]
                ],
            ])
        ])
        let result = try await agent.saker(
            "alarms", "--fence", "15", "--fence", "16", "--action", "exit", "--entity", "van_07")
        #expect(
            result.output.contains("local fence alarm  exit depot (fence 15), inside for 1 min {\"gate\":3}"),
            "\(result.output)")
        #expect(
            try await agent.asked.last?.parameters == [
                "fences": [15, 16], "actions": ["exit"], "entity": "van_07", "limit": 100,
            ])
        for (arguments, reason) in [
            (["--fence", "-1"], "--fence '-1' is no fence"), (["--action", "leave"], "'leave' is none"),
        ] {
            let wrong = try await SakerProgram.run(["alarms"] + arguments)
            #expect(wrong.status == 2 && wrong.errors.contains(reason), "\(wrong.errors)")
        }
        try await agent.stop()
    }

    /// Alarms of the server's fences and of fences that are gone are found by the name that they tell themselves.
    @Test func alarmsAreFoundByTheNameThatTheyTell() async throws {
        func alarm(_ number: Int64, _ type: Int64, _ fence: Int64, _ name: String, _ action: String) -> JSONValue {
            [
                "number": .integer(number), "id": 9, "type": .integer(type), "entity": "van_07", "received": 1,
                "time": 5,
                "body": ["action": .string(action), "fence_id": .integer(fence), "fence_name": .string(name)],
            ]
        }
        let agent = try await ScriptedServer.start([
            "ListAlarms": .turns([
                .reply([
                    "more": true,
                    "alarms": [
                        alarm(1, 3, 1, "depot", "enter"), alarm(2, 4, 1, "yard", "enter"),
                        alarm(3, 3, 1, "depot", "exit"),
                    ],
                ]),
                .reply(["more": false, "alarms": [alarm(4, 4, 2, "depot", "enter"), alarm(5, 65, 0, "", "")]]),
            ]),
            "ListFences": .reply(["fences": [], "more": false]),
        ])
        func numbers(_ arguments: String...) async throws -> [Int64?] {
            let result = try await SakerProgram.run(["alarms"] + arguments + ["--json", "--socket", agent.path])
            #expect(result.status == 0, "\(result.errors)")
            let reply = try JSONReader.value(of: Array(result.output.utf8))
            return reply["alarms"]?.arrayValue?.map { $0["number"]?.integerValue } ?? []
        }
        #expect(try await numbers("--fence", "depot", "--from", "2026-03-05") == [1, 3, 4])
        let asked = try await agent.asked
        #expect(asked.map(\.parameters["after"]) == [0, 3])
        #expect(asked.allSatisfy { $0.parameters["from"] != nil && $0.parameters["limit"] == 1000 })
        try await agent.stop()
        let page: JSONValue = [
            "more": false,
            "alarms": [
                alarm(1, 3, 1, "depot", "enter"), alarm(3, 3, 1, "depot", "exit"), alarm(4, 4, 2, "depot", "enter"),
            ],
        ]
        let other = try await ScriptedServer.start([
            "ListAlarms": .reply(page), "ListFences": .reply(["fences": [], "more": false]),
        ])
        for (arguments, expected) in [
            (["--fence", "depot", "--limit", "2"], [3, 4]),
            (["--fence", "depot", "--after", "0", "--limit", "1"], [1]),
            (["--fence", "depot", "--action", "exit"], [3]), (["--type", "3", "--fence", "1"], [1, 3]),
            (["--action", "enter"], [1, 4]),
        ] as [([String], [Int64])] {
            let result = try await SakerProgram.run(["alarms"] + arguments + ["--json", "--socket", other.path])
            let reply = try JSONReader.value(of: Array(result.output.utf8))
            #expect(reply["alarms"]?.arrayValue?.compactMap { $0["number"]?.integerValue } == expected, "\(arguments)")
            #expect((reply["more"]?.boolValue == true) == arguments.contains("--limit"), "\(arguments)")
        }
        let wrong = try await other.saker("alarms", "--fence", "depott")
        #expect(wrong.status == 1 && wrong.errors.contains("there is no fence 'depott', and no alarm of one"))
        try await other.stop()
    }
}
