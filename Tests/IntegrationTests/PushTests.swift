import Foundation
import ProgramTestKit
import Testing

/// Messages from an administrator to the vehicle and its hooks, through the real programs.
@Suite(.serialized, .timeLimit(.minutes(60))) struct PushTests {
    /// A fleet whose agent runs one hook, which writes what it is told into a file.
    private struct Yard {
        let fleet: Fleet
        let hooks: TemporaryDirectory

        init(link: (any VehicleLink)? = nil) throws {
            hooks = try TemporaryDirectory()
            let directory = hooks.file("hooks.d")
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
            let script = "#!/bin/sh\ncat >> '\(hooks.file("told"))'\n"
            #expect(
                FileManager.default.createFile(
                    atPath: directory + "/note", contents: Data(script.utf8), attributes: [.posixPermissions: 0o755]))
            fleet = try Fleet(agentTables: "[hooks]\ndirectory = \"\(directory)\"\n", link: link)
        }

        /// What the hook was told, line by line: the text of each message.
        func told() throws -> [String] {
            let text = (try? String(contentsOfFile: hooks.file("told"), encoding: .utf8)) ?? ""
            return try text.split(separator: "\n").map { line in
                let event = try require(
                    try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
                #expect(event["kind"] as? String == "alarm")
                return try Self.text(try require(event["fields"] as? [String: Any], "\(line)"))
            }
        }

        static func text(_ alarm: [String: Any]) throws -> String {
            try require((alarm["body"] as? [String: Any])?["text"] as? String, "\(alarm)")
        }

        /// The texts in the agent's journal.
        func alarms() throws -> [String] {
            let reply = try fleet.varlink("io.saker.Agent.ListAlarms", ["limit": 1000])
            let parameters = try require(reply["parameters"] as? [String: Any], "\(reply)")
            return try require(parameters["alarms"] as? [[String: Any]], "\(reply)").map(Self.text)
        }

        func administer(_ arguments: String...) throws -> String {
            let result = try Program.run(
                Built.path("saker-server"), ["push"] + arguments + ["--config", fleet.server + "/server.toml"])
            try require(result.status == 0, "\(arguments): \(result.all)")
            return result.output
        }

        func send(_ text: String) throws {
            _ = try administer("send", "1", "--entity", fleet.entity, "--text", text)
        }

        /// States in the order of sending.
        func states() throws -> [String] {
            try administer("list", "1", "--json", "--limit", "1000").split(separator: "\n").reversed().map { line in
                let push = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                return try require(push?["state"] as? String, "\(line)")
            }
        }

        func untilOnline() throws {
            try waitUntil("the agent is online", within: 300) {
                try fleet.saker(["reconnect"])
                return try fleet.linkState() == "online"
            }
        }
    }

    @Test func aMessageWaitsForTheVehicleAndReachesItsHooks() throws {
        let yard = try Yard()
        var server = try yard.fleet.startServer()
        var agent = try yard.fleet.startAgent()
        try yard.untilOnline()
        // Connected: it comes by itself.
        try yard.send("one")
        try waitUntil("it is told", within: 300) { try yard.told() == ["one"] }
        #expect(try yard.alarms() == ["one"])
        let listed = try yard.fleet.saker(["alarms"])
        #expect(listed.output.contains("message") && listed.output.contains("one"), "\(listed.all)")
        // Away, and the server restarted meanwhile.
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        try yard.send("two")
        server.end(SIGKILL)
        server = try yard.fleet.startServer()
        #expect(try yard.states().last == "waiting")
        agent = try yard.fleet.startAgent()
        try yard.untilOnline()
        try waitUntil("it is delivered", within: 300) { try yard.states() == ["delivered", "delivered"] }
        try waitUntil("it is told", within: 300) { try yard.told() == ["one", "two"] }
        #expect(try yard.alarms() == ["one", "two"])
        // A restart of everything tells nothing again.
        agent.end(SIGKILL)
        server.end(SIGTERM)
        server = try yard.fleet.startServer()
        agent = try yard.fleet.startAgent()
        try yard.untilOnline()
        try yard.send("three")
        try waitUntil("it is told", within: 300) { try yard.told() == ["one", "two", "three"] }
        let refused = try Program.run(
            Built.path("saker-server"),
            ["push", "send", "1", "--entity", "ghost", "{}", "--config", yard.fleet.server + "/server.toml"])
        #expect(refused.status == 1 && refused.all.contains("'ghost'"), "\(refused.all)")
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
    }

    @Test func killsAnywhereLeaveEachMessageOnceInTheJournal() throws {
        let yard = try Yard()
        var server = try yard.fleet.startServer()
        var agent = try yard.fleet.startAgent()
        try yard.untilOnline()
        let seed = UInt64.random(in: 0 ... .max)
        var dice = Dice(seed: seed)
        var sent: [String] = []
        for number in 1...12 {
            sent.append("m\(number)")
            try yard.send("m\(number)")
            pause(milliseconds: Int.random(in: 0...1500, using: &dice))
            if number % 3 == 0 {
                server.end(SIGKILL)
                server = try yard.fleet.startServer()
            } else {
                agent.end(SIGKILL)
                agent = try yard.fleet.startAgent()
            }
        }
        try yard.untilOnline()
        try waitUntil("all are delivered", within: 300) { try yard.states().allSatisfy { $0 == "delivered" } }
        #expect(try yard.alarms() == sent, "seed \(seed)")
        try waitUntil("all are told", within: 300) { Set(try yard.told()) == Set(sent) }
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        server.end(SIGTERM)
    }

    /// The first hook writes down that it has begun and then takes its time; the agent dies meanwhile.
    @Test func hooksThatDidNotEndRunAgain() throws {
        let yard = try Yard()
        let begun = yard.hooks.file("begun")
        let slow = yard.hooks.file("hooks.d") + "/10-slow"
        let script = "#!/bin/sh\necho x >> '\(begun)'\n[ $(wc -l < '\(begun)') -gt 1 ] || exec sleep 60\n"
        #expect(
            FileManager.default.createFile(
                atPath: slow, contents: Data(script.utf8), attributes: [.posixPermissions: 0o755]))
        let server = try yard.fleet.startServer()
        var agent = try yard.fleet.startAgent()
        try yard.untilOnline()
        try yard.send("important")
        try waitUntil("the hook runs", within: 300) { FileManager.default.fileExists(atPath: begun) }
        try waitUntil("it is delivered", within: 300) { try yard.states() == ["delivered"] }
        agent.end(SIGKILL)
        agent = try yard.fleet.startAgent()
        try waitUntil("the hooks have ended", within: 300) {
            let hooks = try yard.fleet.status()["hooks"] as? [String: Any]
            return hooks?["started"] as? Int == 2 && hooks?["waiting"] as? Int == 0
        }
        #expect(try String(contentsOfFile: begun, encoding: .utf8) == "x\nx\n")
        #expect(try Set(yard.told()) == ["important"])
        #expect(try yard.alarms() == ["important"])
        // Now they have ended: a third start runs nothing.
        agent.end(SIGKILL)
        agent = try yard.fleet.startAgent()
        try yard.untilOnline()
        #expect((try yard.fleet.status()["hooks"] as? [String: Any])?["started"] as? Int == 0)
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        server.end(SIGTERM)
    }

    @Test func aLostAcknowledgementDoublesNothing() throws {
        let link = try CuttingProxy(seed: 3)
        let yard = try Yard(link: link)
        let server = try yard.fleet.startServer()
        let agent = try yard.fleet.startAgent()
        try yard.untilOnline()
        link.set(.deafServer)
        try yard.send("unheard")
        try waitUntil("it is in the journal", within: 300) { try yard.alarms() == ["unheard"] }
        #expect(try yard.states() == ["waiting"])
        link.set(.reset)
        try link.heal()
        try yard.untilOnline()
        try waitUntil("it is delivered", within: 300) { try yard.states() == ["delivered"] }
        #expect(try yard.alarms() == ["unheard"])
        #expect(try yard.told() == ["unheard"])
        agent.end(SIGTERM)
        server.end(SIGTERM)
    }

    @Test(.needs(.smallDisks))
    func aFullDiskIsSaidAndTheMessageComesAgain() throws {
        let yard = try Yard()
        let disk = try SmallDisk(over: yard.fleet.directory.file("state"), megabytes: 1)
        let server = try yard.fleet.startServer()
        let agent = try yard.fleet.startAgent()
        try yard.untilOnline()
        try disk.fill()
        try yard.send(String(repeating: "long ", count: 1500))
        try waitUntil("the agent says so", within: 300) { agent.printed.contains("Alarms cannot be kept") }
        let status = try #require(try yard.fleet.status()["alarms"] as? [String: Any])
        #expect((status["last_error"] as? String)?.contains("ENOSPC") == true, "\(status)")
        #expect(try yard.states() == ["waiting"])
        #expect(try yard.alarms() == [])
        #expect(try yard.fleet.linkState() == "online")
        disk.empty()
        try waitUntil("it is delivered", within: 300) { try yard.states() == ["delivered"] }
        #expect(try yard.alarms().count == 1)
        #expect(agent.printed.contains("Alarms are kept on the disk again"))
        agent.end(SIGTERM)
        server.end(SIGTERM)
    }
}
