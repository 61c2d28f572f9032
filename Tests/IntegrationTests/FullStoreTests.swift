import Foundation
import ProgramTestKit
import Testing

/// The disk under the server's store is full, with the real programs and a real file system.
@Suite(.serialized, .timeLimit(.minutes(60))) struct FullStoreTests {
    @Test(.needs(.gpsd, .smallDisks)) func devicesAreHeldOffNothingIsLostAndTheServerGoesOnByItself() throws {
        let fleet = try Fleet(gather: 1, pack: 2)
        let folder = fleet.directory.file("small")
        let disk = try SmallDisk(over: folder, megabytes: 64)
        try FileManager.default.copyItem(atPath: fleet.database, toPath: folder + "/tracks.sqlite")
        try fleet.edit(
            fleet.server + "/server.toml", "[store]", to: "[store]\npath = \"\(folder)/tracks.sqlite\"")
        let start = Int(Date().timeIntervalSince1970) - 9000
        let source = try ReceiverSource(epochs: ReceiverSource.drive(seconds: 9000, from: start), pause: 0.05)
        let server = try fleet.startServer()
        let gpsd = try fleet.startGPSD(source: source.address)
        let agent = try fleet.startAgent()
        try waitUntil("online", within: 300) { try fleet.linkState() == "online" }
        source.resume()
        try waitUntil("points", within: 300) { try fleet.counter("acknowledged") > 50 }

        try disk.fill()
        try waitUntil("the vehicle is held off", within: 300) {
            try (fleet.link()["last_error"] as? String)?.contains("disk") == true
        }
        let reason = try require(try fleet.link()["last_error"] as? String, "no reason")
        #expect(
            reason.contains(
                "the server's disk is full: make room on the server (saker-server doctor says where)"), "\(reason)")
        // The clients of the Web API read on.
        let held = try fleet.counter("acknowledged")
        #expect(try fleet.track(around: start).count >= min(held, 5000))
        let listed = try fleet.web("entity/list", [:])
        #expect(listed["status"] as? Int == 0, "\(listed)")
        let doctor = try Program.run(
            Built.path("saker-server"), ["doctor", "--config", fleet.server + "/server.toml"])
        #expect(
            doctor.status == 1
                && doctor.all.contains(/FAILED +disk .*small: a file cannot be written and synchronised: No space left/),
            "\(doctor.all)")
        #expect(server.isRunning, "\(server.printed)")
        try waitUntil("points wait on the vehicle", within: 300) {
            try fleet.counter("gathered") > fleet.counter("acknowledged") + 20
        }

        disk.empty()
        source.pause()
        let gathered = try fleet.counter("gathered")
        try waitUntil("everything is acknowledged", within: 600) { try fleet.counter("acknowledged") >= gathered }
        #expect(try fleet.saker(["service", "stop"]).status == 0)
        let acknowledged = try fleet.counter("acknowledged")
        #expect(try fleet.track(around: start).count == acknowledged)
        let counters = try require(try fleet.status()["counters"] as? [String: Any], "no counters")
        #expect((counters["lost"] as? [String: Int])?.isEmpty ?? true, "\(counters)")
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
        gpsd.end(SIGKILL)
        source.end()
    }
}
