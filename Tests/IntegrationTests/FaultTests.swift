import Foundation
import ProgramTestKit
import Testing

/// What goes wrong on a vehicle, done to the real programs.
@Suite(.serialized, .timeLimit(.minutes(60))) struct FaultTests {
    private let start = 1_780_000_020

    @Test func aWrongKeyIsSaidAtOnceAndNotHammered() throws {
        let fleet = try Fleet()
        try "0000000000000000".write(toFile: fleet.agent + "/credentials/ak", atomically: true, encoding: .utf8)
        let server = try fleet.startServer()
        let agent = try fleet.startAgent()
        try waitUntil("the login is refused", within: 300) { try fleet.linkState() == "refused" }
        let link = try #require(try fleet.status()["link"] as? [String: Any])
        let next = try #require(link["next_try_time"] as? Int)
        let since = try #require(link["since"] as? Int)
        #expect(next - since >= 299_000)
        // A person asking again is heard at once, and does not change a refused key.
        try fleet.saker(["reconnect"])
        try waitUntil("the login is refused again", within: 300) { try fleet.linkState() == "refused" }
        #expect(!agent.printed.contains("0000000000000000"))
        agent.end(SIGTERM)
        server.end(SIGTERM)
    }

    @Test func aSecondAgentOnTheSameCacheIsTurnedAway() throws {
        let fleet = try Fleet()
        let first = try fleet.startAgent()
        let second = try Program(Built.path("sakerd"), ["--config", fleet.agent + "/agent.toml"])
        #expect(second.end() == 1)
        #expect(second.printed.contains("in use by process \(first.identifier)"), "\(second.printed)")
        #expect(try fleet.linkState() != "")
        first.end(SIGTERM)
    }

    @Test func theCheckSaysWhatTheProgramsWillDo() throws {
        let fleet = try Fleet()
        func agent() throws -> (status: Int32, all: String) {
            let run = try Program.run(Built.path("sakerd"), ["--config", fleet.agent + "/agent.toml", "--check"])
            return (run.status, run.all)
        }
        #expect(try agent().status == 0)
        let authority = fleet.agent + "/ca.pem"
        let sound = try String(contentsOfFile: authority, encoding: .utf8)
        for broken in ["", "-----BEGIN CERTIFICATE-----\nno\n", String(sound.prefix(200))] {
            try broken.write(toFile: authority, atomically: true, encoding: .utf8)
            let found = try agent()
            #expect(found.status == 1 && found.all.contains("ca.pem"), "\(found.all)")
        }
        try sound.write(toFile: authority, atomically: true, encoding: .utf8)
        try fleet.edit(fleet.agent + "/agent.toml", "host = \"127.0.0.1\"", to: "host = \"https://127.0.0.1\"")
        let named = try agent()
        #expect(named.status == 1 && named.all.contains("agent.toml:3") && named.all.contains("URL"), "\(named.all)")

        let server = ["serve", "--config", fleet.server + "/server.toml", "--check"]
        #expect(try Program.run(Built.path("saker-server"), server).status == 0)
        try fleet.edit(fleet.server + "/server.toml", "[device]\n", to: "[device]\nhost = \"a b\"\n")
        let run = try Program.run(Built.path("saker-server"), server)
        #expect(run.status != 0 && run.all.contains("host = \"a b\""), "\(run.all)")
    }

    @Test(.needs(.gpsd)) func filesInItsWayDoNotKeepTheAgentFromTracking() throws {
        let pages = try TemporaryDirectory()
        let page = pages.file("saker.prom")
        let fleet = try Fleet(agentTables: "[metrics]\ntextfile = \"\(page)\"\ninterval = 1\n")
        for path in [fleet.socket, fleet.cache] { try "mine".write(toFile: path, atomically: true, encoding: .utf8) }
        let source = try ReceiverSource(epochs: ReceiverSource.drive(seconds: 3600, from: start), pause: 0.02)
        source.resume()
        let gpsd = try fleet.startGPSD(source: source.address)
        let agent = try Program(Built.path("sakerd"), ["--config", fleet.agent + "/agent.toml"])
        func metric(_ name: String) -> Double? {
            let lines = (try? String(contentsOfFile: page, encoding: .utf8))?.split(separator: "\n") ?? []
            return lines.first { $0.hasPrefix(name + " ") }.flatMap { Double($0.dropFirst(name.count + 1)) }
        }
        try waitUntil("points in memory", within: 300) {
            try require(agent.isRunning, "\(agent.printed)")
            return metric("saker_agent_points_gathered_total") ?? 0 > 3
        }
        #expect(metric("saker_agent_cache_in_memory") == 1)
        #expect(metric("saker_agent_control_socket") == 0)
        for text in ["The control socket cannot be opened", fleet.socket, "The disk ring is in memory", "ENOTDIR"] {
            #expect(agent.printed.contains(text), "\(agent.printed)")
        }
        let doctor = try fleet.saker(["doctor", "--config", fleet.agent + "/agent.toml", "--socket", fleet.socket])
        for path in [fleet.socket, fleet.cache] { #expect(doctor.all.contains("sudo mv \(path) "), "\(doctor.all)") }
        for path in [fleet.socket, fleet.cache] {
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
            try FileManager.default.removeItem(atPath: path)
        }
        try waitUntil("the control socket and the disk", within: 300) { (try? fleet.cacheState()) == "disk" }
        try waitUntil("points on disk", within: 300) {
            ((try fleet.status()["cache"] as? [String: Any])?["points"] as? Int ?? 0) > 3
        }
        gpsd.end(SIGKILL)
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        source.end()
    }

    @Test(.needs(.gpsd)) func gpsdThatGoesAndComesBackIsUsedAgain() throws {
        let fleet = try Fleet()
        let source = try ReceiverSource(epochs: ReceiverSource.drive(seconds: 3600, from: start), pause: 0.02)
        source.resume()
        let agent = try fleet.startAgent()
        let first = try fleet.startGPSD(source: source.address)
        try waitUntil("points", within: 300) { try fleet.counter("gathered") > 3 }
        first.end(SIGKILL)
        try waitUntil("the loss is noticed", within: 300) {
            ((try fleet.status()["feed"] as? [String: Any])?["state"] as? String) == "unreachable"
        }
        let before = try fleet.counter("gathered")
        let second = try fleet.startGPSD(source: source.address)
        try waitUntil("points again", within: 300) { try fleet.counter("gathered") > before + 3 }
        second.end(SIGKILL)
        agent.end(SIGTERM)
        source.end()
    }

    @Test(.needs(.gpsd, .python, .smallDisks))
    func aFullDiskIsSaidAndLeftAgain() throws {
        let fleet = try Fleet(agentTables: "")
        let cache = fleet.cache
        try FileManager.default.createDirectory(atPath: cache, withIntermediateDirectories: true)
        let mounted = try Program.run("/usr/bin/env", ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", cache])
        try #require(mounted.status == 0, "a small file system cannot be mounted here: \(mounted.all)")
        defer { _ = try? Program.run("/usr/bin/env", ["umount", "-l", cache]) }
        let filler = cache + "/filler"
        #expect(FileManager.default.createFile(atPath: filler, contents: Data(count: 4_190_000)))
        let source = try ReceiverSource(epochs: ReceiverSource.drive(seconds: 3600, from: start), pause: 0.02)
        source.resume()
        let gpsd = try fleet.startGPSD(source: source.address)
        let agent = try fleet.startAgent()
        try waitUntil("points in memory", within: 300) {
            try fleet.counter("gathered") > 5 && (try fleet.cacheState()) == "memory"
        }
        #expect(agent.printed.contains("in memory"), "\(agent.printed)")
        try FileManager.default.removeItem(atPath: filler)
        try waitUntil("back on disk", within: 300) { try fleet.cacheState() == "disk" }
        let server = try fleet.startServer()
        try fleet.saker(["reconnect"])
        do {
            try waitUntil("online", within: 300) { try fleet.linkState() == "online" }
        } catch {
            Issue.record("\(error)\n\(agent.printed)\n\(server.printed)\n\(try fleet.status())")
        }
        source.pause()
        #expect(try fleet.saker(["service", "stop"]).status == 0)
        let gathered = try fleet.counter("gathered")
        #expect(try fleet.track(around: start).count == gathered)
        #expect(try fleet.rows() == gathered)
        agent.end(SIGTERM)
        server.end(SIGTERM)
        gpsd.end(SIGKILL)
        source.end()
    }

    @Test func garbageOnTheControlSocketHarmsNobody() throws {
        let fleet = try Fleet()
        let agent = try fleet.startAgent()
        let garbage: [Data] = [
            Data("not json\0".utf8), Data([0]), Data("{\"method\":5}\0".utf8),
            Data("{\"method\":\"io.saker.Agent.Nothing\"}\0".utf8),
            Data("{\"method\":\"io.saker.Agent.SetIntervals\",\"parameters\":{\"gather\":\"x\"}}\0".utf8),
            Data(repeating: 0x5B, count: 2_000_000) + [0],
        ]
        for bytes in garbage { _ = try? UnixSocket.exchange(fleet.socket, bytes, until: 0) }
        let wrong = try fleet.varlink("io.saker.Agent.SetIntervals", ["gather": 7, "pack": 30])
        #expect(wrong["error"] as? String == "io.saker.Agent.ParameterError")
        #expect(try fleet.counter("gathered") == 0)
        #expect(agent.isRunning)
        agent.end(SIGTERM)
    }

    @Test func damagedAndForeignFilesInTheCacheDirectoryDoNotStopTheAgent() throws {
        let fleet = try Fleet()
        let first = try fleet.startAgent()
        first.end(SIGKILL)
        let cache = fleet.cache
        let files = try FileManager.default.contentsOfDirectory(atPath: cache)
        let segment = try #require(files.first { $0.hasSuffix(".segment") })
        var bytes = try Data(contentsOf: URL(fileURLWithPath: "\(cache)/\(segment)"))
        for index in stride(from: 0, to: 4096, by: 7) { bytes[index] ^= 0x5A }
        try bytes.write(to: URL(fileURLWithPath: "\(cache)/\(segment)"))
        try Data("hello".utf8).write(to: URL(fileURLWithPath: cache + "/README"))
        try Data().write(to: URL(fileURLWithPath: cache + "/00000000000000ff.segment"))
        try Data(repeating: 9, count: 100).write(to: URL(fileURLWithPath: cache + "/acknowledged"))
        let second = try fleet.startAgent()
        #expect(second.isRunning)
        #expect(second.end(SIGTERM) == 0)
        #expect(FileManager.default.fileExists(atPath: cache + "/README"))
    }
}
