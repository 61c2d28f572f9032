import AgentControl
import FenceCommands
import JSON
import Testing

@testable import SakerCommand

@Suite(.timeLimit(.minutes(5))) struct AttributesCommandTests {
    private static let known = AttributesReply(
        attributes: [
            AttributeReport(key: "driver", value: "Li Wei", source: .set),
            AttributeReport(key: "fuel", value: 51, source: .set, ttl: 90),
            AttributeReport(key: "fuel", value: 51.25, source: .provided, age: 0.5),
        ],
        columns: [
            ColumnReport(key: "driver", type: "string"), ColumnReport(key: "fuel", type: "double"),
            ColumnReport(key: "plate", type: "string"),
        ], providers: [ProviderReport(process: 7, answered: 5, late: 1)])

    @Test func valuesAreReadAsTheirColumnsSay() async throws {
        let agent = try await ScriptedServer.start([
            "GetAttributes": .reply(try JSONValue(encoding: Self.known)),
            "SetAttributes": .reply(["taken": ["driver", "fuel", "plate"], "ignored": [], "judged": true]),
        ])
        let result = try await agent.saker(
            "attributes", "set", "fuel=51", "driver=Li Wei", "plate=007", "other=5", "--ttl", "60")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output == "Set: driver, fuel, plate\n")
        #expect(
            try await agent.asked.last
                == .init(
                    method: "SetAttributes",
                    parameters: [
                        "attributes": ["fuel": 51.0, "driver": "Li Wei", "plate": "007", "other": 5], "ttl": 60.0,
                    ]))
        try await agent.stop()
    }

    @Test func whatIsIgnoredIsAFailureThatNamesTheKeyAndTheReason() async throws {
        let ignored: JSONValue = ["key": "colour", "reason": "unknown_key", "detail": "the service has no such column"]
        let reply: JSONValue = ["taken": ["fuel"], "ignored": [ignored], "judged": false]
        let agent = try await ScriptedServer.start([
            "GetAttributes": .reply(["attributes": [], "providers": []]), "SetAttributes": .reply(reply),
        ])
        let result = try await agent.saker("attributes", "set", "fuel=51.5", "colour=red")
        #expect(result.status == 1)
        #expect(result.output.hasPrefix("Set: fuel\n"))
        #expect(result.output.contains("first login"))
        #expect(result.errors == "saker: colour is ignored: the service has no such column\n")
        #expect(try await agent.asked.last?.parameters == ["attributes": ["fuel": 51.5, "colour": "red"]])
        let json = try await agent.saker("attributes", "set", "a=1", "--json")
        #expect(json.status == 1)
        #expect(json.output == reply.description + "\n")
        try await agent.stop()
    }

    @Test func showTellsValuesColumnsAndProviders() async throws {
        let reply = try JSONValue(encoding: Self.known)
        let agent = try await ScriptedServer.start(["GetAttributes": .reply(reply)])
        let result = try await agent.saker("attributes", "show")
        #expect(
            result.lines == [
                "KEY     VALUE   SOURCE    AGE", "driver  Li Wei  set", "fuel    51      set       for 1 min 30 s",
                "fuel    51.25   provided  0.5 s ago", "", "Columns: driver (string), fuel (double), plate (string)",
                "Provider: process 7, 5 answers, 1 too late", "",
            ])
        #expect(try await agent.saker("attributes", "--json").output == reply.description + "\n")
        try await agent.stop()
        let new = AttributesReply(attributes: [], columns: nil, providers: [])
        #expect(AttributesView.lines(new) == ["No attributes.", "", "Columns: not known before the first login"])
    }

    @Test func clearForgetsTheKeysGivenOrAll() async throws {
        let agent = try await ScriptedServer.start(["ClearAttributes": .reply(["cleared": ["fuel"]])])
        #expect(try await agent.saker("attributes", "clear", "fuel", "x").output == "Forgot: fuel\n")
        _ = try await agent.saker("attributes", "clear")
        #expect(try await agent.asked.map(\.parameters) == [["keys": ["fuel", "x"]], [:]])
        try await agent.stop()
    }

    @Test(
        arguments: [
            ("51", nil, 51), ("-7", nil, -7), ("51.5", nil, 51.5), ("1e3", nil, 1000.0), ("Li", nil, "Li"),
            ("", nil, ""),
            ("nan", nil, "nan"), ("infinity", "double", "infinity"), ("51", "string", "51"), ("51", "double", 51.0),
            ("51.5", "int", "51.5"), ("99999999999999999999", "int", "99999999999999999999"), ("a=b", "string", "a=b"),
        ] as [(String, String?, JSONValue)])
    func aValueHasTheTypeOfItsColumnOrItsLook(text: String, type: String?, value: JSONValue) {
        #expect(AttributeText.value(text, type: type) == value)
    }

    @Test func aPairHasAKeyAndMayHaveAnEmptyValue() {
        #expect(AttributeText.pair("a=b=c")?.key == "a")
        #expect(AttributeText.pair("a=b=c")?.text == "b=c")
        #expect(AttributeText.pair("a=")?.text == "")
        #expect(AttributeText.pair("=b") == nil)
        #expect(AttributeText.pair("a") == nil)
    }

    @Test func aCommandThatEndsEndsTheProviderWithItsExitCode() async throws {
        let agent = try await ScriptedServer.start(["ProvideAttributes": .never])
        let ended = try await agent.provide(["--", "sh", "-c", "echo '{\"fuel\":1}'; exit 7"])
        #expect(ended.status == 7, "\(ended.errors)")
        let killed = try await agent.provide(["--", "sh", "-c", "kill -9 $$"])
        #expect(killed.status == 137)
        let done = try await agent.provide([], input: "{\"fuel\":1}\nno json\n")
        #expect(done.status == 0)
        #expect(done.errors.contains("not a JSON object"))
        let missing = try await agent.provide(["--", "/nonexistent/command"])
        #expect(missing.status == 1)
        #expect(missing.errors.contains("/nonexistent/command"))
        try await agent.stop()
    }

    @Test func anAgentThatRefusesEndsTheCommand() async throws {
        let agent = try await ScriptedServer.start([
            "ProvideAttributes": .error("io.saker.Agent.NotAuthorized", ["reason": "you may not"])
        ])
        let result = try await agent.provide(["--", "sleep", "600"])
        #expect(result.status == 1)
        #expect(result.errors == "saker: you may not\n")
        try await agent.stop()
        let gone = try await SakerProgram.run([
            "attributes", "provide", "--socket", "/nonexistent", "--", "sleep", "600",
        ])
        #expect(gone.status == 3)
    }

    @Test func theNewestLineIsGivenForEachPoint() async throws {
        // The answer to the first call asks for the values; the second carries them, and its answer ends the run.
        let agent = try await ScriptedServer.start([
            "ProvideAttributes": .turns([
                .reply(["request": 4, "time": 9, "late": false, "ignored": []]),
                .error("io.saker.Agent.InternalError", ["reason": "the agent stops"]),
            ])
        ])
        let result = try await agent.provide(["--", "sh", "-c", "echo '{\"fuel\":1}'; exec sleep 600"])
        #expect(result.status == 1)
        let asked = try await agent.asked
        #expect(asked.first?.parameters == [:])
        #expect(asked.count == 2)
        #expect(asked.last?.parameters["request"] == 4)
        // Whether the line had come by then is a race; an object it is.
        #expect([["fuel": 1], [:]].contains(asked.last?.parameters["attributes"]))
        try await agent.stop()
    }
}
