import Glibc
import JSON
import NIOCore
import Synchronization
import Testing
import TrackModel
import TrackTestKit
import Varlink

@testable import AgentControl

@Suite(.timeLimit(.minutes(5))) struct AgentControlServiceTests {
    @Test func theStatusArrivesAsItWas() async throws {
        let agent = try await AgentServer.start()
        #expect(try await agent.client.status() == SampleAgent.sampleStatus)
        #expect(try await agent.client.settings() == SampleAgent.sampleSettings)
        try await agent.stop()
    }

    @Test func everyCallReachesTheAgentWithItsParameters() async throws {
        let agent = try await AgentServer.start(policy: ControlPolicy(group: nil, user: getuid()))
        let client = agent.client
        #expect(
            try await client.startService(entity: "van 08")
                == StartServiceReply(.successButOffline, reason: "the server does not answer"))
        #expect(try await client.startService().code == 1)
        #expect(try await client.stopService(timeout: 2.5) == StopServiceReply(uploaded: 4, remaining: 2))
        #expect(try await client.stopService().code == 8)
        #expect(try await client.startGather() == StartGatherReply())
        #expect(try await client.startGather(keepTrying: true).reason == "no receiver yet")
        #expect(try await client.stopGather().code == 6)
        _ = try await client.call(.stopGather, parameters: ["by": "hook"])
        #expect(try await client.setIntervals(gather: 5, pack: 30) == SampleAgent.sampleSettings)
        _ = try await client.setCacheLimit(.bytes(1 << 20))
        _ = try await client.setCacheLimit(.unlimited)
        _ = try await client.setLocationOptions(LocationOptionsChange(["desired_accuracy": 20, "activity": "fitness"]))
        _ = try await client.resetSettings()
        #expect(try await client.cacheInfo().entities.count == 1)
        _ = try await client.cacheInfo(entities: ["a", "b"])
        #expect(try await client.clearCache(CacheSelection(entities: ["a"], from: 1, through: 2)).removed == 6)
        _ = try await client.clearCache(CacheSelection())
        #expect(try await client.attributes() == SampleAgent.sampleAttributes)
        let set = try await client.setAttributes(["fuel": 51, "driver": "Li Wei"], ttl: 60)
        #expect(set.taken == ["driver", "fuel"])
        #expect(set.ignored == [IgnoredValue(key: "x", reason: "unknown_key", detail: "d")])
        _ = try await client.setAttributes([:])
        #expect(try await client.clearAttributes(["fuel"]).cleared == ["fuel"])
        _ = try await client.clearAttributes()
        #expect(try await client.alarms() == SampleAgent.sampleAlarms)
        _ = try await client.alarms(AlarmSelection(after: 5, from: 1, through: 2, type: 65, limit: 1000))
        _ = try await client.reconnect()
        let place: JSONValue = [
            "time": 1_772_670_012_000, "latitude": 31.5, "longitude": -121, "speed": 12.34, "attributes": ["n": 1],
        ]
        #expect(try await client.addPoints([place, place], entity: "bus").refused.first?.index == 1)
        #expect(try await client.callWebAPI("a/b", ["x": "1"]) == WebAPIReply(status: 3003, response: ["status": 3003]))
        let coordinate = try #require(Coordinate(latitude: 31.5, longitude: -121))
        let point = TrackPoint(
            Fix(time: Timestamp(milliseconds: 1_772_670_012_000), coordinate: coordinate, speed: 1234),
            attributes: ["n": .integer(1)])
        #expect(
            try await agent.on { $0.agent.asked } == [
                .startService("van 08"), .startService(nil), .stopService(.milliseconds(2500), .person),
                .stopService(nil, .person), .startGather(keepTrying: false), .startGather(keepTrying: true),
                .stopGather(.person), .stopGather(.hook),
                .setIntervals(5, 30), .setCacheLimit(.bytes(1 << 20)),
                .setCacheLimit(.unlimited),
                .setLocationOptions(LocationOptionsChange(["desired_accuracy": 20, "activity": "fitness"])),
                .resetSettings,
                .cacheInfo(nil), .cacheInfo(["a", "b"]),
                .clearCache(CacheSelection(entities: ["a"], from: 1, through: 2)), .clearCache(CacheSelection()),
                .setAttributes(["fuel": 51, "driver": "Li Wei"], .seconds(60)), .setAttributes([:], nil),
                .clearAttributes(["fuel"]), .clearAttributes(nil),
                .alarms(AlarmSelection()),
                .alarms(AlarmSelection(after: 5, from: 1, through: 2, type: 65, limit: 1000)), .reconnect,
                .addPoints([point, point], "bus"),
                .call("a/b", ["x": "1"]),
            ])
        #expect(agent.allowed.calls.withLock { $0 }.count == 22)
        try await agent.stop()
    }

    @Test func everyCallAboutFencesReachesTheAgentWithItsParameters() async throws {
        let agent = try await AgentServer.start(policy: ControlPolicy(group: nil, user: getuid()))
        let client = agent.client
        let fence: JSONValue = ["shape": ["kind": "circle"]]
        let some = FenceSelection(fences: [15, 16], name: "n", group: "g", entity: "bus", file: "f", layer: "l")
        var page = some
        (page.after, page.limit) = (3, 1000)
        var asked = page
        asked.entity = nil
        #expect(try await client.createFence(fence) == FenceReply(fenceID: 15, revision: 1))
        #expect(try await client.updateFence(7, fence) == FenceReply(fenceID: 7, revision: 2))
        #expect(try await client.deleteFences(some).deleted == [15, 16])
        _ = try await client.deleteFences(FenceSelection())
        #expect(try await client.fences(page) == SampleAgent.sampleFences)
        #expect(try await client.exportFences(some, position: "1.2.3.4").text == "{}\n")
        let status = try await client.fenceStatus(of: "bus", at: ["latitude": 1, "longitude": 2], asked)
        #expect(status.statuses.first?.distance == -4.5 && status.entity == "bus")
        let part = FenceImportPart(file: "f", layer: "l", text: "{}", importID: "i", part: 3, isLast: false)
        #expect(try await client.importFences(part).done == false)
        let alarms = AlarmSelection(entity: "bus", fences: [15], actions: [.enter, .overspeed])
        _ = try await client.alarms(alarms)
        #expect(
            try await agent.on { $0.agent.asked } == [
                .createFence(fence), .updateFence(7, fence), .deleteFences(some), .deleteFences(FenceSelection()),
                .fences(page), .exportFences(some, "1.2.3.4"),
                .fenceStatus("bus", AssumedPlace(latitude: 1, longitude: 2), asked), .importFences(part),
                .alarms(alarms),
            ])
        #expect(
            agent.allowed.calls.withLock { $0 } == [
                .createFence, .updateFence, .deleteFences, .deleteFences, .importFences,
            ])
        try await agent.stop()
    }

    @Test(
        arguments: [
            (.updateFence, ["fence_id": 0, "fence": [:]], "fence_id", 2),
            (.updateFence, ["fence_id": 2_147_483_648, "fence": [:]], "fence_id", 2),
            (.deleteFences, [:], "all", 2), (.deleteFences, ["fences": [1], "all": true], "all", 2),
            (.deleteFences, ["fences": [-1]], "fences", 2), (.listFences, ["limit": 0], "limit", 2),
            (.listFences, ["limit": 1001], "limit", 2), (.listFences, ["after": -1], "after", 2),
            (.listFences, ["entity": "#x"], "entity", 2),
            (.getFenceStatus, ["place": ["latitude": 91, "longitude": 0]], "place.latitude", 2),
            (.getFenceStatus, ["place": ["latitude": 1]], "place.longitude", 2),
            (.getFenceStatus, ["place": ["lat": 1]], "place.lat", 2),
            (.getFenceStatus, ["place": ["latitude": 1, "longitude": 1, "coord_type": "x"]], "place.coord_type", 2),
            (.importFences, ["file": "", "text": ""], "file", 2),
            (.importFences, ["file": "f", "text": "", "part": 1], "import_id", 2),
            (.importFences, ["file": "f", "text": "", "last": false], "import_id", 2),
            (.importFences, ["file": "f", "text": "", "import_id": ""], "import_id", 2),
            (.importFences, ["file": "f", "text": "", "import_id": "i", "part": -1], "part", 2),
            (.listAlarms, ["actions": ["leave"]], "actions", nil), (.listAlarms, ["fences": [0]], "fences", nil),
            (.listAlarms, ["entity": ""], "entity", nil),
        ] as [(AgentMethod, [String: JSONValue], String, Int64?)])
    func aWrongValueOfACallAboutFencesIsNamed(
        method: AgentMethod, parameters: [String: JSONValue], wrong: String, code: Int64?
    ) async throws {
        let agent = try await AgentServer.start(policy: ControlPolicy(group: nil, user: getuid()))
        do {
            _ = try await agent.client.call(method, parameters: parameters)
            Issue.record("taken")
        } catch let error as AgentControlError {
            #expect(error.code == .parameterError && error.parameter == wrong && error.sdkCode == code, "\(error)")
        }
        #expect(try await agent.on { $0.agent.asked.isEmpty })
        try await agent.stop()
    }

    @Test(
        arguments: [
            (.createFence, [:], "fence"), (.createFence, ["fence": []], "fence"),
            (.importFences, ["file": "f"], "text"),
            (.deleteFences, ["fences": ["1"]], "fences"), (.listFences, ["position": "x"], "position"),
            (.listAlarms, ["actions": "enter"], "actions"),
            (.getStatus, ["x": 1], "x"), (.startService, ["entity": 5], "entity"),
            (.startService, ["Entity": "a"], "Entity"), (.setIntervals, ["gather": 5], "pack"),
            (.setIntervals, ["gather": 5.5, "pack": 30], "gather"),
            (.setIntervals, ["gather": "5", "pack": 30], "gather"),
            (.setCacheLimit, ["bytes": true], "bytes"), (.setCacheLimit, ["unlimited": 1], "unlimited"),
            (.setLocationOptions, ["activity": "flying"], "activity"), (.getCacheInfo, ["entities": "a"], "entities"),
            (.getCacheInfo, ["entities": ["a", 1]], "entities"), (.clearCache, ["from": "yesterday"], "from"),
            (.reconnect, ["now": true], "now"), (.addPoints, [:], "points"), (.addPoints, ["points": 5], "points"),
            (.addPoints, ["points": [], "time": 5], "time"), (.call, ["parameters": [:]], "path"),
            (.call, ["path": "a/b", "parameters": ["x": 1]], "parameters"),
            (.setAttributes, [:], "attributes"),
            (.setAttributes, ["attributes": 5], "attributes"),
            (.setAttributes, ["attributes": [:], "ttl": "1"], "ttl"),
            (.clearAttributes, ["keys": "fuel"], "keys"), (.provideAttributes, ["request": "1"], "request"),
            (.provideAttributes, ["request": 1, "attributes": [1]], "attributes"), (.getAttributes, ["x": 1], "x"),
            (.listAlarms, ["limit": "5"], "limit"), (.listAlarms, ["kind": 3], "kind"),
        ] as [(AgentMethod, [String: JSONValue], String)])
    func aMissingUnknownOrMistypedParameterIsNamed(
        method: AgentMethod, parameters: [String: JSONValue], wrong: String
    ) async throws {
        let agent = try await AgentServer.start(policy: ControlPolicy(group: nil, user: getuid()))
        await #expect(throws: VarlinkError.invalidParameter(wrong)) {
            try await agent.client.call(method, parameters: parameters)
        }
        #expect(try await agent.on { $0.agent.asked.isEmpty })
        try await agent.stop()
    }

    @Test func aProviderKeepsItsConnectionAndIsToldOfOnce() async throws {
        let agent = try await AgentServer.start(policy: ControlPolicy(group: nil, user: getuid()))
        let one = try await agent.client.provide()
        let other = try await agent.client.provide()
        #expect(try await one.next(nil).request == 1)
        let given = ProvidedAttributes(request: 1, attributes: ["fuel": 51.5])
        #expect(try await one.next(given) == ProvideAttributesReply(request: 2, time: 5, late: true, ignored: []))
        #expect(try await other.next(nil).request == 1)
        let asked = try await agent.on { $0.agent.asked }
        guard case .provideAttributes(nil, let first) = asked.first else {
            Issue.record("\(asked)")
            return
        }
        guard case .provideAttributes(given, connection: first) = asked.dropFirst().first else {
            Issue.record("\(asked)")
            return
        }
        guard case .provideAttributes(nil, let second) = asked.last else {
            Issue.record("\(asked)")
            return
        }
        #expect(first != second)
        #expect(agent.allowed.calls.withLock { $0 } == [.provideAttributes, .provideAttributes])
        one.close()
        other.close()
        try await agent.stop()
    }

    @Test func nullIsTheSameAsAbsent() async throws {
        let agent = try await AgentServer.start(policy: ControlPolicy(group: nil, user: getuid()))
        _ = try await agent.client.call(.startService, parameters: ["entity": JSONValue.null])
        #expect(try await agent.on { $0.agent.asked } == [.startService(nil)])
        try await agent.stop()
    }

    @Test(
        arguments: [
            (.startService, ["entity": ""], "entity"), (.startService, ["entity": "a,b"], "entity"),
            (.stopGather, ["by": "server"], "by"), (.stopService, ["by": "me"], "by"),
            (.stopService, ["timeout": -1], "timeout"), (.stopService, ["timeout": 1e300], "timeout"),
            (.setCacheLimit, [:], "bytes"), (.setCacheLimit, ["bytes": 1, "unlimited": true], "bytes"),
            (.clearCache, ["from": 2, "through": 1], "from"), (.call, ["path": ""], "path"),
            (.addPoints, ["points": []], "points"),
            (.addPoints, ["points": .array(Array(repeating: [:], count: 1001))], "points"),
            (.addPoints, ["points": [5]], "points[0]"),
            (
                .addPoints, ["points": [["time": 1_772_670_012_000, "latitude": 1, "longitude": 1, "colour": 1]]],
                "points[0].colour"
            ),
            (.addPoints, ["points": [["time": 0, "latitude": 1, "longitude": 1]]], "points[0].time"),
            (.addPoints, ["points": [["time": 1_772_670_012, "latitude": 1, "longitude": 1]]], "points[0].time"),
            (.addPoints, ["points": [["time": 315_532_799_999, "latitude": 1, "longitude": 1]]], "points[0].time"),
            (.clearCache, ["from": 1_772_670_012], "from"), (.clearCache, ["through": 1_772_670_012], "through"),
            (.listAlarms, ["from": 1_772_670_012], "from"),
            (.addPoints, ["points": [["time": 1.5, "latitude": 1, "longitude": 1]]], "points[0].time"),
            (
                .addPoints, ["points": [["time": 1_772_670_012_000, "latitude": 91, "longitude": 1]]],
                "points[0].latitude"
            ),
            (.addPoints, ["points": [["time": 1_772_670_012_000, "latitude": 1]]], "points[0].longitude"),
            (
                .addPoints, ["points": [["time": 1_772_670_012_000, "latitude": 1, "longitude": 1, "speed": -1]]],
                "points[0].speed"
            ),
            (
                .addPoints,
                ["points": [["time": 1_772_670_012_000, "latitude": 1, "longitude": 1, "coord_type": "mars"]]],
                "points[0].coord_type"
            ),
            (
                .addPoints,
                ["points": [["time": 1_772_670_012_000, "latitude": 1, "longitude": 1, "attributes": ["a": true]]]],
                "points[0].attributes"
            ),
            (
                .addPoints,
                [
                    "points": [
                        ["time": 1_772_670_012_000, "latitude": 1, "longitude": 1, "attributes": ["a\u{200B}": 1]]
                    ]
                ],
                "points[0].attributes"
            ),
            (
                .addPoints,
                ["points": [["time": 1_772_670_012_000, "latitude": 1, "longitude": 1, "object_name": "box "]]],
                "points[0].object_name"
            ),
            (
                .addPoints,
                ["points": [["time": 1_772_670_012_000, "latitude": 1, "longitude": 1, "object_name": "\u{FFFC}"]]],
                "points[0].object_name"
            ),
            (
                .addPoints, ["points": [["time": 1_772_670_012_000, "latitude": 1, "longitude": 1]], "entity": "a;b"],
                "entity"
            ),
            (.setAttributes, ["attributes": [:], "ttl": 0], "ttl"),
            (.setAttributes, ["attributes": [:], "ttl": 1e9], "ttl"), (.provideAttributes, ["request": 1], "request"),
            (.provideAttributes, ["attributes": [:]], "request"),
        ] as [(AgentMethod, [String: JSONValue], String)])
    func aValueThatBreaksARuleIsAParameterErrorWithASentence(
        method: AgentMethod, parameters: [String: JSONValue], wrong: String
    ) async throws {
        let agent = try await AgentServer.start(policy: ControlPolicy(group: nil, user: getuid()))
        let error = await #expect(throws: AgentControlError.self) {
            try await agent.client.call(method, parameters: parameters)
        }
        #expect(error?.code == .parameterError)
        #expect(error?.parameter == wrong)
        #expect((error?.reason.count ?? 0) > 20)
        try await agent.stop()
    }

    /// A time of 1979 in milliseconds is no time in seconds of the year 11968.
    @Test(
        arguments: [
            (1_795_792_883, "looks like seconds; milliseconds are wanted: 1795792883000"),
            (315_532_799, "lies before 1980"), (4_294_967_296, "lies before 1980"),
            (315_532_799_999, "lies before 1980"),
            (315_532_800_000, nil),
        ] as [(Int64, String?)])
    func timesBefore1980AreToldForWhatTheyAre(time: Int64, problem: String?) {
        #expect(TimeRule.problem(with: time)?.hasPrefix(problem ?? "-") ?? (problem == nil))
    }

    @Test func whatTheAgentRefusesArrivesUnderItsNameWithItsNumber() async throws {
        let agent = try await AgentServer.start(policy: ControlPolicy(group: nil, user: getuid()))
        try await agent.on {
            $0.agent.failure = AgentControlError(
                .serviceNotStarted, in: .startGather, reason: "start the service first")
        }
        let error = await #expect(throws: AgentControlError.self) { try await agent.client.startGather() }
        #expect(error?.code == .serviceNotStarted)
        #expect(error?.sdkCode == 2)
        #expect(error?.reason == "start the service first")
        try await agent.stop()
    }

    @Test func anyOtherErrorReachesTheClientWithoutItsText() async throws {
        struct Secretive: Error { let key = "ak-12345" }
        let agent = try await AgentServer.start(policy: ControlPolicy(group: nil, user: getuid()))
        try await agent.on { $0.agent.failure = Secretive() }
        let error = await #expect(throws: AgentControlError.self) { try await agent.client.startService() }
        #expect(error?.code == .internalError)
        #expect(error?.sdkCode == 3)
        #expect(error?.reason.contains("12345") == false)
        try await agent.stop()
    }
}
