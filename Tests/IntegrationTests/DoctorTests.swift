import Foundation
import ProgramTestKit
import Testing

/// `saker doctor` on a real installation in which one thing after the other is broken.
@Suite(.serialized, .timeLimit(.minutes(60)), .needs(.gpsd)) struct DoctorTests {
    /// The agent with this line of its configuration changed, once its link has come to this state.
    private func restart(_ agent: inout Program, _ fleet: Fleet, until state: String) throws {
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        agent = try fleet.startAgent()
        try waitUntil("the link is \(state)", within: 300) { try fleet.linkState() == state }
    }

    @Test func eachBrokenThingIsFoundWithItsRemedy() throws {
        let fleet = try Fleet()
        let stranger = try Fleet()
        let file = fleet.agent + "/agent.toml"

        // Nothing runs.
        var seen = try DoctorVisit(fleet)
        #expect(seen.status == 3 && seen.failed == ["agent", "gpsd", "tcp"], "\(seen.text)")
        #expect(seen.remedy("agent").contains("sakerd"), "\(seen.text)")
        #expect(seen.verdict("configuration") == "ok" && seen.verdict("certificates") == "ok", "\(seen.text)")
        #expect(seen.verdict("tls") == "not_checked" && seen.verdict("fix") == "not_checked", "\(seen.text)")

        // A key that is none.
        try fleet.edit(file, "[gnss]", to: "[gnss]\nprot = 1")
        seen = try DoctorVisit(fleet)
        #expect(seen.verdict("configuration") == "failed", "\(seen.text)")
        #expect(seen.checks["configuration"]?.found.contains("prot") == true, "\(seen.text)")
        try fleet.edit(file, "\nprot = 1", to: "")

        // The agent alone.
        var agent = try fleet.startAgent()
        seen = try DoctorVisit(fleet)
        #expect(seen.status == 1 && seen.failed == ["gpsd", "tcp"], "\(seen.text)")
        #expect(seen.remedy("gpsd").contains("gpsd.socket"), "\(seen.text)")
        #expect(seen.remedy("tcp").contains("saker-server"), "\(seen.text)")

        // gpsd without a receiver.
        let bare = try Program(
            gpsdPath,
            ["-N", "-n", "-b", "-S", "\(fleet.gpsdPort)", "-F", fleet.directory.file("gpsd.control")])
        try waitUntil("gpsd listens", within: 300) { isListening(fleet.gpsdPort) }
        seen = try DoctorVisit(fleet)
        #expect(seen.failed == ["device", "tcp"] && seen.verdict("fix") == "not_checked", "\(seen.text)")
        #expect(seen.remedy("device").contains("/etc/default/gpsd"), "\(seen.text)")
        bare.end(SIGKILL)

        // Everything.
        let now = Int(Date().timeIntervalSince1970)
        let source = try ReceiverSource(epochs: ReceiverSource.drive(seconds: 600, from: now), pause: 0.5)
        defer { source.end() }
        source.resume()
        let gpsd = try fleet.startGPSD(source: source.address)
        let server = try fleet.startServer()
        try restart(&agent, fleet, until: "online")
        try waitUntil("a point is gathered", within: 300) {
            try fleet.counter("gathered") > 0
        }
        seen = try DoctorVisit(fleet)
        #expect(seen.status == 0 && seen.failed == [], "\(seen.text)")
        for name in ["gpsd", "device", "fix", "dns", "tcp", "tls", "login", "service", "gather"] {
            #expect(seen.verdict(name) == "ok", "\(name): \(seen.text)")
        }
        #expect(seen.checks["clock"]?.found.contains("server ") == true, "\(seen.text)")
        let shown = try fleet.saker(["doctor", "--config", file])
        #expect(shown.status == 0 && shown.output.contains(/ok +login +as van_07/), "\(shown.all)")

        // A key of another server.
        let key = fleet.agent + "/credentials/ak"
        let rightKey = try String(contentsOfFile: key, encoding: .utf8)
        try String(contentsOfFile: stranger.agent + "/credentials/ak", encoding: .utf8)
            .write(toFile: key, atomically: true, encoding: .utf8)
        try restart(&agent, fleet, until: "refused")
        seen = try DoctorVisit(fleet)
        #expect(seen.status == 1 && seen.failed == ["login"] && seen.verdict("tls") == "ok", "\(seen.text)")
        #expect(seen.remedy("login").contains(key), "\(seen.text)")
        try rightKey.write(toFile: key, atomically: true, encoding: .utf8)

        // The authority of another server.
        let authority = fleet.agent + "/ca.pem"
        let rightAuthority = try String(contentsOfFile: authority, encoding: .utf8)
        try String(contentsOfFile: stranger.agent + "/ca.pem", encoding: .utf8)
            .write(toFile: authority, atomically: true, encoding: .utf8)
        try restart(&agent, fleet, until: "refused")
        seen = try DoctorVisit(fleet)
        #expect(seen.failed == ["tls"] && seen.verdict("login") == "not_checked", "\(seen.text)")
        #expect(seen.remedy("tls").contains(authority), "\(seen.text)")
        try rightAuthority.write(toFile: authority, atomically: true, encoding: .utf8)

        // A name that is none.
        try fleet.edit(
            file, "host = \"127.0.0.1\"\nport = \(fleet.devicePort)",
            to: "host = \"no.invalid\"\nport = \(fleet.devicePort)")
        try restart(&agent, fleet, until: "waiting")
        seen = try DoctorVisit(fleet)
        #expect(seen.failed == ["dns"] && seen.verdict("tcp") == "not_checked", "\(seen.text)")
        #expect(seen.remedy("dns").contains(file), "\(seen.text)")

        // The server is gone, and the service stopped.
        try fleet.edit(file, "no.invalid", to: "127.0.0.1")
        server.end(SIGTERM)
        try restart(&agent, fleet, until: "waiting")
        #expect(try fleet.saker(["service", "stop"]).status == 0)
        seen = try DoctorVisit(fleet)
        #expect(seen.failed == ["service", "tcp"], "\(seen.text)")
        #expect(seen.remedy("service") == "saker service start", "\(seen.text)")

        // What hangs is found too.
        agent.signal(SIGSTOP)
        gpsd.signal(SIGSTOP)
        seen = try DoctorVisit(fleet)
        #expect(seen.status == 3 && seen.failed == ["agent", "gpsd", "tcp"], "\(seen.text)")
        #expect(seen.checks["agent"]?.found.contains("does not answer") == true, "\(seen.text)")
        #expect(seen.remedy("gpsd").contains("restart gpsd"), "\(seen.text)")
        agent.signal(SIGCONT)

        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        gpsd.end(SIGKILL)
    }
}
