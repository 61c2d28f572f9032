import AgentControl
import JSON
import Testing

@testable import SakerCommand

/// The built program against an agent behind a real socket.
@Suite(.timeLimit(.minutes(5))) struct AgentCommandTests {
    private static func settingsReply() throws -> JSONValue {
        ["settings": try JSONValue(encoding: SampleStatus.settings)]
    }

    @Test func statusShowsAndJSONGivesWhatTheSocketGave() async throws {
        let _ = LocalZone.isUTC
        let reply: JSONValue = ["status": try JSONValue(encoding: SampleStatus.tracked)]
        let agent = try await ScriptedServer.start(["GetStatus": .reply(reply)])
        let shown = try await agent.saker("status")
        #expect(shown.status == 0)
        #expect(shown.output == StatusView(SampleStatus.tracked).lines.map { $0 + "\n" }.joined())
        #expect(shown.errors.isEmpty)
        let json = try await agent.saker("status", "--json")
        #expect(json.output == reply.description + "\n")
        try await agent.stop()
    }

    @Test func theSocketMayComeFromTheEnvironment() async throws {
        let agent = try await ScriptedServer.start(["Reconnect": .reply([:])])
        let result = try await SakerProgram.run(["reconnect"], environment: ["SAKER_SOCKET": agent.path])
        #expect(result.status == 0)
        #expect(try await agent.asked.map(\.method) == ["Reconnect"])
        try await agent.stop()
    }

    @Test func everyCommandAsksWhatItSays() async throws {
        let settings = ScriptedAgent.Answer.reply(try Self.settingsReply())
        let cache: JSONValue = [
            "cache": try JSONValue(encoding: SampleStatus.tracked.cache),
            "entities": [
                ["entity": "货车 07", "points": 6, "first_time": 1_772_670_000_000, "last_time": 1_772_670_029_000]
            ],
        ]
        let agent = try await ScriptedServer.start([
            "StartService": .reply(["outcome": "success_but_offline", "code": 1, "reason": "no route"]),
            "StopService": .reply(["code": 8, "uploaded": 1, "remaining": 0]), "StartGather": .reply(["code": 0]),
            "StopGather": .reply(["code": 6]), "GetSettings": settings, "SetIntervals": settings,
            "SetCacheLimit": settings, "SetLocationOptions": settings, "ResetSettings": settings,
            "GetCacheInfo": .reply(cache), "ClearCache": .reply(["removed": 6]),
        ])
        let runs: [([String], String)] = [
            (["service", "start", "--entity", "货车 07"], "The service runs and is offline: no route\n"),
            (["service", "stop", "--timeout", "2.5"], "The service is stopped: 1 point uploaded"),
            (["gather", "start"], "Gathering."), (["gather", "stop"], "Gathering is stopped."),
            (["settings", "show"], "Gather interval   5 s"),
            (["settings", "intervals", "5", "30"], "Pack interval     30 s"),
            (["settings", "cache-limit", "256MiB"], "Cache limit       256 MiB"),
            (["settings", "cache-limit", "unlimited"], "Cache limit"),
            (
                ["settings", "location", "--distance-filter", "2.5", "--activity", "automotive"],
                "Distance filter   2.5 m"
            ),
            (["settings", "reset"], "Activity          automotive"),
            (["cache", "info"], "货车 07       6  2026-03-05 00:20:00+00:00  2026-03-05 00:20:29+00:00"),
            (
                ["cache", "clear", "--yes", "--entity", "a", "--from", "0", "--through", "2026-03-05T00:00Z"],
                "Forgot 6 points."
            ),
        ]
        for (arguments, text) in runs {
            let result = try await SakerProgram.run(arguments + ["--socket", agent.path])
            #expect(result.status == 0, "\(arguments): \(result.errors)")
            #expect(result.output.contains(text), "\(arguments): \(result.output)")
        }
        #expect(
            try await agent.asked == [
                .init(method: "StartService", parameters: ["entity": "货车 07"]),
                .init(method: "StopService", parameters: ["timeout": 2.5]),
                .init(method: "StartGather", parameters: [:]),
                .init(method: "StopGather", parameters: [:]), .init(method: "GetSettings", parameters: [:]),
                .init(method: "SetIntervals", parameters: ["gather": 5, "pack": 30]),
                .init(method: "SetCacheLimit", parameters: ["bytes": 268_435_456]),
                .init(method: "SetCacheLimit", parameters: ["unlimited": true]),
                .init(method: "SetLocationOptions", parameters: ["distance_filter": 2.5, "activity": "automotive"]),
                .init(method: "ResetSettings", parameters: [:]), .init(method: "GetCacheInfo", parameters: [:]),
                .init(
                    method: "ClearCache", parameters: ["entities": ["a"], "from": 0, "through": 1_772_668_800_000]),
            ])
        try await agent.stop()
    }

    /// A service that runs makes no points by itself.
    @Test func aStartedServiceSaysWhetherAnythingIsGathered() async throws {
        for (gathering, isTold) in [(false, true), (true, false), (nil, false)] as [(Bool?, Bool)] {
            var reply: [String: JSONValue] = ["outcome": "success", "code": 0]
            if let gathering { reply["gathering"] = .bool(gathering) }
            let agent = try await ScriptedServer.start(["StartService": .reply(.object(reply))])
            let output = try await agent.saker("service", "start").output
            #expect(output.contains("Gathering is off: saker gather start\n") == isTold, "\(output)")
            try await agent.stop()
        }
    }

    @Test func gatheringCanKeepTrying() async throws {
        let agent = try await ScriptedServer.start([
            "StartGather": .reply(["code": 0, "reason": "gpsd does not answer"])
        ])
        let output = try await agent.saker("gather", "start", "--keep-trying").output
        #expect(
            output == "Gathering, and no point is made yet: gpsd does not answer\nIt keeps trying. See: saker status\n")
        #expect(try await agent.asked.map(\.parameters) == [["keep_trying": true]])
        try await agent.stop()
    }

    @Test func watchPrintsEachEventAndTheReasonOfItsEnd() async throws {
        let gather: JSONValue = [
            "event": ["time": 1_772_670_030_000, "kind": "gather", "fields": ["state": "waiting"]]
        ]
        let newer: JSONValue = ["event": ["time": 1_772_670_031_000, "kind": "weather", "fields": ["wind": 3]]]
        let alarm: JSONValue = [
            "event": [
                "time": 1_772_670_030_500, "kind": "alarm",
                "fields": [
                    "number": 4, "id": 9, "type": 65, "entity": "van", "received": 1_772_670_030_000,
                    "body": ["text": "Call the\noffice"],
                ],
            ]
        ]
        let end = AgentControlError(.tooSlow, in: .monitor, reason: "events came faster than they were read")
        let agent = try await ScriptedServer.start(["Monitor": .events([gather, alarm, newer], end.varlinkError)])
        let result = try await agent.saker("watch")
        #expect(
            result.lines == [
                "00:20:30  gather      waiting for a fix", "00:20:30  alarm       message 4: Call the?office",
                #"00:20:31  weather     {"wind":3}"#, "",
            ])
        #expect(result.errors == "saker: events came faster than they were read\n")
        #expect(result.status == 1)
        let json = try await agent.saker("watch", "--json")
        #expect(json.lines == [gather.description, alarm.description, newer.description, ""])
        try await agent.stop()
    }

    @Test func alarmsAreListedAsAsked() async throws {
        let _ = LocalZone.isUTC
        let reply: JSONValue = [
            "alarms": [
                [
                    "number": 7, "id": 12, "type": 3, "entity": "van 07", "time": 1_772_670_000_000, "received": 1,
                    "body": ["action": "enter", "fence": "depot"],
                ],
                [
                    "number": 8, "type": 70, "entity": "van 07", "received": 1_772_670_029_000,
                    "body": ["text": "hello"],
                ],
            ], "more": true,
        ]
        let agent = try await ScriptedServer.start([
            "ListAlarms": .turns([.reply(reply), .reply(reply), .reply(["alarms": [], "more": false])])
        ])
        let shown = try await agent.saker(
            "alarms", "--from", "0", "--through", "2026-03-05T00:00Z", "--type", "3", "--after", "6", "--limit", "2")
        #expect(
            shown.lines == [
                "NUMBER  TIME                       ENTITY  KIND         CONTENT",
                #"     7  2026-03-05 00:20:00+00:00  van 07  fence alarm  {"action":"enter","fence":"depot"}"#,
                "     8  2026-03-05 00:20:29+00:00  van 07  message 70   hello",
                "There are more: give --limit, --from, --through or --after.", "",
            ])
        #expect(try await agent.saker("alarms", "--json").output == reply.description + "\n")
        #expect(try await agent.saker("alarms").output == "No alarms.\n")
        #expect(
            try await agent.asked.map(\.parameters) == [
                ["from": 0, "through": 1_772_668_800_000, "type": 3, "after": 6, "limit": 2], ["limit": 100],
                ["limit": 100],
            ])
        #expect(try await agent.saker("alarms", "--from", "soon").status == 2)
        try await agent.stop()
    }

    @Test func aRefusalIsToldOnStandardErrorWithExitCode1() async throws {
        let agent = try await ScriptedServer.start([
            "StartGather": .error(
                "io.saker.Agent.ServiceNotStarted", ["reason": "start the service first\u{1B}[2J", "code": 2]),
            "StopGather": .error("org.varlink.service.InvalidParameter", ["parameter": "x"]),
        ])
        let refused = try await agent.saker("gather", "start")
        #expect(refused.status == 1)
        #expect(refused.output.isEmpty)
        #expect(refused.errors == "saker: start the service first?[2J\n")
        let json = try await agent.saker("gather", "start", "--json")
        #expect(json.status == 1)
        #expect(try await agent.saker("gather", "stop").errors.contains("'x'"))
        let unknown = try await agent.saker("reconnect")
        #expect(unknown.status == 1)
        #expect(unknown.errors.contains("older than this program"))
        try await agent.stop()
    }

    @Test func clearingAsksUnlessToldNotTo() async throws {
        let agent = try await ScriptedServer.start(["ClearCache": .reply(["removed": 6])])
        let result = try await agent.saker("cache", "clear", input: "y\n")
        #expect(result.status == 2)
        #expect(result.errors.contains("--yes"))
        #expect(try await agent.asked.isEmpty)
        try await agent.stop()
    }

    @Test func anAgentThatCannotBeReachedIsExitCode3WithAdvice() async throws {
        let result = try await SakerProgram.run(["status", "--socket", "/nonexistent/agent"])
        #expect(result.status == 3)
        #expect(result.errors.contains("systemctl status sakerd"))
        let watch = try await SakerProgram.run(["status", "--watch", "--socket", "/nonexistent/agent"])
        #expect(watch.status == 3)
        let events = try await SakerProgram.run(["watch", "--socket", "/nonexistent/agent"])
        #expect(events.status == 3)
    }

    @Test(arguments: [
        ["statuss"], ["status", "--nope"], ["settings", "intervals", "5"], ["settings", "intervals", "five", "30"],
        ["settings", "cache-limit", "much"], ["settings", "location"],
        ["settings", "location", "--activity", "flying"],
        ["service", "stop", "--timeout", "-1"], ["status", "--interval", "0"],
        ["cache", "clear", "--yes", "--from", "soon"],
        ["attributes", "set"], ["attributes", "set", "fuel"], ["attributes", "set", "=5"],
        ["attributes", "set", "a=1", "--ttl", "soon"], ["attributes", "provide", "command"],
        ["track", "latest"], ["track", "history", "van"], ["entity", "add", "a;b"],
        ["track", "latest", "van", "--server", "http://fleet.example"],
        ["track", "latest", "van", "--server", "https://fleet.example", "--socket", "/tmp/agent"],
        ["call"], ["call", "track"], ["call", "track/gettrack?x=1"], ["call", "track/gettrack", "x"],
        ["call", "track/gettrack", "=x"], ["call", "track/gettrack", "ak=secret"],
    ])
    func wrongUsageIsExitCode2(arguments: [String]) async throws {
        let result = try await SakerProgram.run(arguments)
        #expect(result.status == 2, "\(result.errors)")
        #expect(result.output.isEmpty)
        #expect(!result.errors.isEmpty)
    }

    @Test(arguments: [
        ["--help"], ["help", "track"], ["status", "--help"], ["service", "--help"], ["gather", "--help"],
        ["settings", "--help"], ["attributes", "--help"], ["attributes", "provide", "--help"], ["cache", "--help"],
        ["watch", "--help"], ["track", "--help"], ["entity", "--help"], ["call", "--help"], ["point", "--help"],
        ["point", "import", "--help"],
        ["enroll", "--help"], ["--version"],
    ])
    func helpIsExitCode0AndTeachesByExample(arguments: [String]) async throws {
        let result = try await SakerProgram.run(arguments)
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
        #expect(arguments == ["--version"] || result.output.contains("saker "))
    }
}
