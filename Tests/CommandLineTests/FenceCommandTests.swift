import AgentControl
import FenceJSON
import Geodesy
import Geofencing
import JSON
import ProgramTestKit
import Terminal
import Testing
import Varlink

@testable import SakerCommand

/// The commands about the agent's fences, against an agent behind a real socket.
@Suite(.timeLimit(.minutes(5))) struct FenceCommandTests {
    static let made: ScriptedAgent.Answer = .reply(["fence_id": 15, "revision": 1, "code": 0])
    static let depot: JSONValue = [
        "id": 15, "revision": 3, "created": 1_772_670_000_000, "modified": 1_772_670_060_000, "vertices": 1,
        "fence": [
            "name": "depot", "rule": ["enter", "exit", "stay"], "stay": ["after": 60, "every": 300],
            "watch": ["van_07"],
            "shape": [
                "kind": "circle", "latitude": 40.0478, "longitude": 116.3134, "radius": 50, "coord_type": "bd09ll",
            ],
        ],
    ]
    private static let large: JSONValue = [
        "id": 16, "revision": 1, "created": 1_772_670_000_000, "modified": 1_772_670_000_000, "vertices": 5000,
        "trouble": "the time zone Mars/Olympus is not known here", "fence": ["watch": "#allentity", "group": "yard"],
    ]

    func answers(_ other: [String: ScriptedAgent.Answer] = [:]) -> [String: ScriptedAgent.Answer] {
        [
            "CreateFence": Self.made, "UpdateFence": .reply(["fence_id": 15, "revision": 4, "code": 0]),
            "ListFences": .reply(["fences": [Self.depot], "more": false]),
            "DeleteFences": .reply(["deleted": [15], "code": 0]),
        ].merging(other) { $1 }
    }

    // MARK: Making

    @Test func aCircleIsMadeAsItIsTyped() async throws {
        let agent = try await ScriptedServer.start(answers())
        let result = try await agent.saker(
            "fence", "add", "circle", "--at", "-54.8,-68.3", "--radius", "50.5", "--name", "Ushuaia", "--stay", "60",
            "--above", "-5", "--watch", "van_07", "--action", "enter={\"gate\":3}", "--remote", "enter", "--report",
            "--no-through", "--speed-limit", "36", "--window", "mon-fri 08:00-18:00", "--zone", "-03:00")
        #expect(result.status == 0 && result.output == "Made fence 15 'Ushuaia'.\n", "\(result.errors)")
        #expect(
            try await agent.asked == [
                .init(
                    method: "CreateFence",
                    parameters: [
                        "fence": [
                            "name": "Ushuaia", "rule": ["enter", "exit", "stay"], "stay": ["after": 60],
                            "altitude": ["lower": -5.0], "watch": ["van_07"], "report": true, "through": false,
                            "actions": [["on": "enter", "params": ["gate": 3], "remote": true]],
                            "speed_limit": ["speed": 10.0, "duration": 0],
                            "validity": [
                                "windows": [
                                    ["days": ["mon", "tue", "wed", "thu", "fri"], "from": 28_800, "to": 64_800]
                                ], "utc_offset": -10_800,
                            ],
                            "shape": ["kind": "circle", "latitude": -54.8, "longitude": -68.3, "radius": 50.5],
                        ]
                    ])
            ])
        try await agent.stop()
    }

    @Test func everyShapeIsMade() async throws {
        let agent = try await ScriptedServer.start(answers())
        let folder = try FenceFolder()
        let districts = try folder.file(
            "d.geojson",
            """
            {"type":"FeatureCollection","features":[{"type":"Feature","properties":{"n":"湖南省"},"geometry":{"type":"Polygon",
            "coordinates":[[[112,28],[113,28],[113,29],[112,28]]]}},{"type":"Feature","properties":{"n":"长沙市","p":"湖南省"},
            "geometry":{"type":"Polygon","coordinates":[[[112.1,28.1],[112.2,28.1],[112.2,28.2],[112.1,28.1]]]}}]}
            """)
        let runs: [([String], JSONValue)] = [
            (
                ["polygon", "--at", "-1,-2 -1,-1", "--at=0,-1", "--hole", "-0.8,-1.3; -0.8,-1.2; -0.7,-1.2"],
                [
                    "kind": "polygon",
                    "parts": [
                        [[[-1.0, -2.0], [-1.0, -1.0], [0.0, -1.0]], [[-0.8, -1.3], [-0.8, -1.2], [-0.7, -1.2]]]
                    ],
                ]
            ),
            (
                ["corridor", "--at", "40,116 40,116.02", "--offset", "50", "--datum", "gcj02", "--buffer", "5"],
                [
                    "kind": "corridor", "vertices": [[40.0, 116.0], [40.0, 116.02]], "offset": 50.0,
                    "coord_type": "gcj02",
                    "buffer": 5.0,
                ]
            ),
            (
                ["district", "湖南长沙", "--districts", districts, "--name-property", "n", "--parent-property", "p"],
                ["kind": "polygon", "parts": [[[[28.1, 112.1], [28.1, 112.2], [28.2, 112.2]]]]]
            ),
        ]
        for (arguments, shape) in runs {
            let result = try await SakerProgram.run(["fence", "add"] + arguments + ["--socket", agent.path])
            #expect(result.status == 0, "\(result.errors)")
            let fence = try await agent.asked.last?.parameters["fence"]
            #expect(fence?["shape"] == shape && fence?["watch"] == "#allentity", "\(String(describing: fence))")
        }
        #expect(try await agent.asked.last?.parameters["fence"]?["district"] == "湖南省长沙市")
        let unknown = try await agent.saker(
            "fence", "add", "district", "Atlantis", "--districts", districts, "--name-property", "n")
        #expect(
            unknown.status == 1 && unknown.errors.contains("none of its 2 districts is 'Atlantis'"), "\(unknown.errors)"
        )
        try await agent.stop()
    }

    @Test(
        arguments: [
            (
                ["circle", "--at", "40,116", "--radius", "0"],
                "a circle's radius is above 0 and at most 1,000,000 metres, not 0.0"
            ),
            (["circle", "--at", "40,116", "--radius", "-5"], "not -5.0"),
            (["circle", "--at", "40,116", "--radius", "nan"], "radius"),
            (["circle", "--at", "116,40", "--radius", "5"], "a latitude is -90 to 90 and comes first"),
            (["circle", "--at", "40 116", "--radius", "5"], "a comma is needed"),
            (["circle", "--at", "40,116 41,116", "--radius", "5"], "has 2 places: give one"),
            (["circle", "--at", "40,116"], "--radius"),
            (
                ["polygon", "--at", "40,116 40.01,116.01 40.01,116 40,116.01"],
                "at 40.005, 116.005: no two edges of a shape may cross"
            ),
            (["polygon", "--at", "40,116 40,117"], "vertices"),
            (["polygon", "--at", "-80,0 -80,90 -80,180 -80,-90"], "pole"),
            (
                ["polygon", "--at", "40,116 40,116.02 40.02,116.02 40.02,116", "--hole", "41,116 41,117 42,117"],
                "hole 1"
            ),
            (["corridor", "--at", "40,116", "--offset", "5"], "2 to 10,000 vertices"),
            (["corridor", "--at", "40,116 40,117", "--offset", "20000"], "at most 10,000 metres"),
            (
                ["circle", "--at", "40,116", "--radius", "5", "--name", String(repeating: "x", count: 129)],
                "the name has 129 bytes"
            ),
            (["circle", "--at", "40,116", "--radius", "5", "--action", "stay={}"], "no stay"),
            (["circle", "--at", "40,116", "--radius", "5", "--from", "soon"], "'soon' is not a time"),
            (
                ["circle", "--at", "40,116", "--radius", "5", "--from", "now", "--until", "yesterday"],
                "the end lies before"
            ),
        ] as [([String], String)])
    func aFenceThatBreaksARuleIsRefusedBeforeAnybodyIsAsked(arguments: [String], reason: String) async throws {
        let result = try await SakerProgram.run(["fence", "add"] + arguments)
        #expect(result.status == 2 && result.errors.contains(reason), "\(result.status) \(result.errors)")
    }

    // MARK: Showing

    @Test func listAndShowTellWhatThereIs() async throws {
        let agent = try await ScriptedServer.start(
            answers([
                "ListFences": .turns([
                    .reply(["fences": [Self.depot], "more": true]), .reply(["fences": [Self.large], "more": false]),
                ])
            ]))
        let list = try await agent.saker("fence", "list", "--group", "g")
        #expect(
            list.output == """
                NUMBER  NAME   SHAPE                      TELLS                         WATCHES   GROUP
                    15  depot  circle of 50 m             enter, exit, stay 60 s/300 s  van_07
                    16         polygon of 5,000 vertices  enter, exit                   everyone  yard

                Fence 16 is not judged: the time zone Mars/Olympus is not known here

                """, "\(list.output)")
        #expect(
            try await agent.asked.map(\.parameters) == [
                ["group": "g", "after": 0, "limit": 1000], ["group": "g", "after": 15, "limit": 1000],
            ])
        try await agent.stop()
        let other = try await ScriptedServer.start(answers())
        let show = try await other.saker("fence", "show", "depot")
        #expect(
            show.output == """
                Fence 15 'depot', revision 3
                  shape    circle of 50 m
                  place    40.047800, 116.313400 (BD-09)
                  tells    enter, exit, stay after 60 s and every 300 s
                  watches  van_07
                  made     2026-03-05 00:20:00+00:00
                  changed  2026-03-05 00:21:00+00:00

                """, "\(show.output)")
        #expect(try await other.asked.last?.parameters["name"] == "depot")
        let json = try await other.saker("fence", "show", "15", "--json")
        #expect(try JSONReader.value(of: Array(json.output.utf8)) == Self.depot)
        #expect(try await other.asked.last?.parameters["fences"] == [15])
        try await other.stop()
    }

    @Test func aNameOfSeveralFencesNeedsANumber() async throws {
        let agent = try await ScriptedServer.start(
            answers(["ListFences": .reply(["fences": [Self.depot, Self.large], "more": false])]))
        let show = try await agent.saker("fence", "show", "depot")
        #expect(
            show.status == 1 && show.errors.contains("2 fences have the name 'depot': give a number, one of 15, 16"))
        try await agent.stop()
        let none = try await ScriptedServer.start(answers(["ListFences": .reply(["fences": [], "more": false])]))
        for command in [
            ["show", "x"], ["edit", "x", "--radius", "5"], ["delete", "x"], ["status", "x"], ["export", "x"],
        ] {
            let result = try await SakerProgram.run(["fence"] + command + ["--socket", none.path])
            #expect(
                result.status == 1 && result.errors.contains("there is no fence 'x'"), "\(command) \(result.errors)")
        }
        try await none.stop()
    }

    @Test func theServersFencesAreShownOnRequest() async throws {
        let agent = try await ScriptedServer.start(
            answers([
                "GetFenceStatus": .reply([
                    "entity": "van_07", "more": false,
                    "statuses": [["fence_id": 15, "name": "depot", "status": "unknown"]],
                ])
            ]))
        let status = try await agent.saker("fence", "status", "--server", "--at", "-54.8,-68.3", "depot")
        #expect(status.output.contains("   15  depot  unknown"), "\(status.errors)")
        // The name is looked up among the server's fences.
        #expect(
            try await agent.asked == [
                .init(
                    method: "ListFences",
                    parameters: ["source": "server", "name": "depot", "after": 0, "limit": 1000]),
                .init(
                    method: "GetFenceStatus",
                    parameters: [
                        "source": "server", "fences": [15], "after": 0, "limit": 1000,
                        "place": ["latitude": -54.8, "longitude": -68.3],
                    ]),
            ])
        for command in [["list", "--server"], ["show", "15", "--server"]] {
            let result = try await SakerProgram.run(["fence"] + command + ["--socket", agent.path])
            #expect(result.status == 0 && result.output.contains("depot"), "\(result.errors)")
            #expect(try await agent.asked.last?.parameters["source"] == "server")
        }
        try await agent.stop()
        let empty = try await ScriptedServer.start([
            "ListFences": .reply(["fences": [], "more": false]),
            "GetFenceStatus": .reply(["entity": "van_07", "more": false, "statuses": []]),
        ])
        let nothing = try await empty.saker("fence", "status", "--server")
        #expect(nothing.output == "The vehicle has no fence of the server that watches van_07.\n")
        let unknown = try await empty.saker("fence", "status", "--server", "yard")
        #expect(unknown.status == 1 && unknown.errors.contains("saker fence list --server shows all"))
        try await empty.stop()
    }

    @Test func statusAsksAboutTheVehicleOrAPlace() async throws {
        let now = LocalTime.now
        let agent = try await ScriptedServer.start(
            answers([
                "GetFenceStatus": .reply([
                    "entity": "van_07", "more": false,
                    "statuses": [
                        [
                            "fence_id": 15, "name": "depot", "status": "in", "since": .integer(now - 3_600_500),
                            "distance": -12.34, "time": .integer(now - 5_500),
                        ],
                        ["fence_id": 16, "name": "", "status": "out", "distance": 15_200.5],
                        ["fence_id": 17, "name": "new", "status": "unknown"],
                    ],
                ])
            ]))
        let status = try await agent.saker("fence", "status")
        #expect(status.output.contains("   15  depot  in          -12 m  "), "\(status.output)")
        #expect(status.output.contains(/\(1 h ago\)  \d+ s ago\n/) && status.output.contains("out       15.2 km\n"))
        #expect(status.output.hasSuffix("van_07 is inside 1 of 3 fences.\n"))
        let place = try await agent.saker("fence", "status", "--at", "-54.8,-68.3", "--datum", "bd09", "16")
        #expect(place.output.hasSuffix("The place is inside 1 of 3 fences.\n"), "\(place.errors)")
        #expect(
            try await agent.asked.last?.parameters == [
                "fences": [16], "after": 0, "limit": 1000,
                "place": ["latitude": -54.8, "longitude": -68.3, "coord_type": "bd09ll"],
            ])
        try await agent.stop()
    }

    // MARK: Changing

    @Test func whatIsDeletedIsNamedOrAskedFor() async throws {
        let agent = try await ScriptedServer.start(answers())
        let one = try await agent.saker("fence", "delete", "15")
        #expect(one.status == 0 && one.output == "Deleted fence 15.\n", "\(one.errors)")
        #expect(try await agent.asked.last == .init(method: "DeleteFences", parameters: ["fences": [15]]))
        let asked = try await agent.saker("fence", "delete", "--all")
        #expect(asked.status == 2 && asked.errors.contains("deleting 1 fence cannot be undone: give --yes"))
        let all = try await agent.saker("fence", "delete", "--all", "--yes")
        #expect(all.status == 0)
        #expect(try await agent.asked.last?.parameters == ["all": true])
        // The depot watches van_07 alone.
        _ = try await agent.saker("fence", "delete", "--entity", "van_07", "--yes")
        #expect(try await agent.asked.last == .init(method: "DeleteFences", parameters: ["fences": [15]]))
        let other = try await agent.saker("fence", "delete", "--entity", "van_08", "--yes")
        #expect(other.status == 1 && other.errors.contains("there is no such fence"))
        for arguments in [[], ["--all", "15"]] {
            let result = try await SakerProgram.run(["fence", "delete"] + arguments)
            #expect(result.status == 2, "\(result.errors)")
        }
        try await agent.stop()
    }

    @Test func refusalsOfTheAgentAreShown() async throws {
        let error = AgentControlError(
            .parameterError, in: .createFence, reason: "10,001 fences: delete some", parameter: "fence")
        let agent = try await ScriptedServer.start([
            "CreateFence": .error(error.varlinkError.name, error.varlinkError.parameters)
        ])
        let result = try await agent.saker("fence", "add", "circle", "--at", "40,116", "--radius", "5")
        #expect(result.status == 1 && result.errors == "saker: 10,001 fences: delete some\n", "\(result.errors)")
        try await agent.stop()
        let old = try await ScriptedServer.start([:])
        let unknown = try await old.saker("fence", "list")
        #expect(unknown.status == 1 && unknown.errors.contains("older than this program"))
        try await old.stop()
    }
}
