import AgentControl
import FenceJSON
import Geodesy
import Geofencing
import JSON
import ProgramTestKit
import Testing
import Varlink

@testable import SakerCommand

// `saker fence edit`.
extension FenceCommandTests {
    @Test func anEditChangesWhatIsGiven() async throws {
        let agent = try await ScriptedServer.start(answers())
        func sent(_ arguments: String...) async throws -> JSONValue? {
            let result = try await SakerProgram.run(["fence", "edit", "depot"] + arguments + ["--socket", agent.path])
            #expect(result.status == 0 && result.output == "Changed fence 15, now revision 4.\n", "\(result.errors)")
            let asked = try await agent.asked.last
            #expect(asked?.method == "UpdateFence" && asked?.parameters["fence_id"] == 15)
            return asked?.parameters["fence"]
        }
        let renamed = try await sent("--name", "gate")
        #expect(
            renamed == [
                "name": "gate", "rule": ["enter", "exit", "stay"], "stay": ["after": 60, "every": 300],
                "watch": ["van_07"],
            ])
        let moved = try await sent("--at", "-54.8,-68.3", "--stay", "90", "--watch-all")
        #expect(
            moved?["shape"] == [
                "kind": "circle", "latitude": -54.8, "longitude": -68.3, "radius": 50.0, "coord_type": "bd09ll",
            ])
        let other = try await sent("--at", "-54.8,-68.3", "--datum", "wgs84")
        #expect(other?["shape"] == ["kind": "circle", "latitude": -54.8, "longitude": -68.3, "radius": 50.0])
        #expect(moved?["stay"] == ["after": 90, "every": 300] && moved?["watch"] == "#allentity")
        let larger = try await sent("--radius", "80")
        #expect(larger?["shape"]?["radius"] == 80.0 && larger?["shape"]?["coord_type"] == "bd09ll")
        let cellar = try await sent("--floor", "-1")
        #expect(cellar?["floor"] == "-1")
        let bare = try await sent("--clear", "stay", "--clear", "watch")
        #expect(bare == ["name": "depot"])
        for (arguments, reason) in [
            ([], "nothing is changed"), (["--offset", "5"], "the fence is no corridor"),
            (["--radius", "0"], "above 0"),
            (["--datum", "bd09"], "--datum is the datum of --at"), (["--name", "depot"], "nothing is changed"),
        ] {
            let result = try await SakerProgram.run(["fence", "edit", "15"] + arguments + ["--socket", agent.path])
            #expect(result.status == 2 && result.errors.contains(reason), "\(result.errors)")
        }
        try await agent.stop()
    }

    /// Others are told who are named, and at most a hundred.
    @Test(arguments: [["--watch-all"], [], (0...100).flatMap { ["--watch", "van_\($0)"] }])
    func othersWhoAreNotNamedHearNothing(_ watch: [String]) async throws {
        let agent = try await ScriptedServer.start(answers())
        let result = try await SakerProgram.run(
            ["fence", "add", "circle", "--at", "40,116", "--radius", "50", "--remote", "enter", "--report"] + watch
                + ["--socket", agent.path])
        #expect(
            result.status == 2 && result.errors.contains("--remote tells its enter to the entities that --watch names"))
        #expect(try await agent.asked.isEmpty)
        try await agent.stop()
    }

    /// The server tells others what a vehicle reports, and nobody else does.
    @Test func anEditCannotTakeTheReportFromWhatOthersShouldHear() async throws {
        var shown = Self.depot.objectValue ?? [:]
        var fence = shown["fence"]?.objectValue ?? [:]
        (fence["report"], fence["actions"]) = (true, [["on": "enter", "params": [:], "remote": true]])
        shown["fence"] = .object(fence)
        let agent = try await ScriptedServer.start(
            answers(["ListFences": .reply(["fences": [.object(shown)], "more": false])]))
        let result = try await agent.saker("fence", "edit", "15", "--no-report")
        #expect(result.status == 2 && result.errors.contains("fence 15 tells its enter to other vehicles"))
        #expect(result.errors.contains("--clear actions"))
        let cleared = try await agent.saker("fence", "edit", "15", "--no-report", "--clear", "actions")
        #expect(cleared.status == 0, "\(cleared.errors)")
        try await agent.stop()
        // A fence that is so already may be changed.
        fence["report"] = nil
        shown["fence"] = .object(fence)
        let other = try await ScriptedServer.start(
            answers(["ListFences": .reply(["fences": [.object(shown)], "more": false])]))
        let renamed = try await other.saker("fence", "edit", "15", "--name", "gate")
        #expect(renamed.status == 0, "\(renamed.errors)")
        try await other.stop()
    }
}
