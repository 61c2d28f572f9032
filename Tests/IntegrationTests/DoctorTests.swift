import Foundation
import ProgramTestKit
import Testing

/// `saker doctor` on a real installation in which one thing after the other is broken.
@Suite(.serialized, .timeLimit(.minutes(5))) struct DoctorTests {
    private struct Visit {
        let status: Int32
        let text: String
        let checks: [String: (verdict: String, found: String, remedy: String)]

        func verdict(_ name: String) -> String { checks[name]?.verdict ?? "missing" }
        func remedy(_ name: String) -> String { checks[name]?.remedy ?? "" }
        var failed: [String] { checks.filter { $0.value.verdict == "failed" }.map(\.key).sorted() }
    }

    private func visit(_ fleet: Fleet) throws -> Visit {
        let begin = ContinuousClock.now
        let result = try fleet.saker(["doctor", "--config", fleet.agent + "/agent.toml", "--json"])
        // Its own ends come to 15 s; a loaded machine adds to them.
        #expect(ContinuousClock.now - begin < .seconds(40))
        let object = try require(
            try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any], result.all)
        let list = try require(object["checks"] as? [[String: String]], result.all)
        let checks = Dictionary(
            uniqueKeysWithValues: list.map {
                ($0["name"] ?? "", ($0["verdict"] ?? "", $0["found"] ?? "", $0["remedy"] ?? ""))
            })
        #expect(checks.count == 17)
        let key = try String(contentsOfFile: fleet.agent + "/credentials/ak", encoding: .utf8)
        #expect(!result.all.contains(key.trimmingCharacters(in: .whitespacesAndNewlines)), "a secret is shown")
        return Visit(status: result.status, text: result.all, checks: checks)
    }

    /// The agent with this line of its configuration changed, once its link has come to this state.
    private func restart(_ agent: inout Program, _ fleet: Fleet, until state: String) throws {
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        agent = try fleet.startAgent()
        try waitUntil("the link is \(state)", within: 40) { try fleet.linkState() == state }
    }

    private func replace(_ text: String, by other: String, in path: String) throws {
        let before = try String(contentsOfFile: path, encoding: .utf8)
        try require(before.contains(text), "\(path) has no \(text)")
        try before.replacingOccurrences(of: text, with: other).write(toFile: path, atomically: true, encoding: .utf8)
    }

    @Test func eachBrokenThingIsFoundWithItsRemedy() throws {
        let fleet = try Fleet()
        let stranger = try Fleet()
        let file = fleet.agent + "/agent.toml"

        // Nothing runs.
        var seen = try visit(fleet)
        #expect(seen.status == 3 && seen.failed == ["agent", "gpsd", "tcp"], "\(seen.text)")
        #expect(seen.remedy("agent").contains("sakerd"), "\(seen.text)")
        #expect(seen.verdict("configuration") == "ok" && seen.verdict("certificates") == "ok", "\(seen.text)")
        #expect(seen.verdict("tls") == "not_checked" && seen.verdict("fix") == "not_checked", "\(seen.text)")

        // A key that is none.
        try replace("[gnss]", by: "[gnss]\nprot = 1", in: file)
        seen = try visit(fleet)
        #expect(seen.verdict("configuration") == "failed", "\(seen.text)")
        #expect(seen.checks["configuration"]?.found.contains("prot") == true, "\(seen.text)")
        try replace("\nprot = 1", by: "", in: file)

        // The agent alone.
        var agent = try fleet.startAgent()
        seen = try visit(fleet)
        #expect(seen.status == 1 && seen.failed == ["gpsd", "tcp"], "\(seen.text)")
        #expect(seen.remedy("gpsd").contains("gpsd.socket"), "\(seen.text)")
        #expect(seen.remedy("tcp").contains("saker-server"), "\(seen.text)")

        // gpsd without a receiver.
        let bare = try Program(
            "/usr/sbin/gpsd",
            ["-N", "-n", "-b", "-S", "\(fleet.gpsdPort)", "-F", fleet.directory.file("gpsd.control")])
        try waitUntil("gpsd listens", within: 10) { isListening(fleet.gpsdPort) }
        seen = try visit(fleet)
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
        try waitUntil("a point is gathered", within: 30) {
            try fleet.counter("gathered") > 0
        }
        seen = try visit(fleet)
        #expect(seen.status == 0 && seen.failed == [], "\(seen.text)")
        for name in ["gpsd", "device", "fix", "dns", "tcp", "tls", "login", "service", "gather"] {
            #expect(seen.verdict(name) == "ok", "\(name): \(seen.text)")
        }
        #expect(seen.checks["clock"]?.found.contains("server ") == true, "\(seen.text)")
        let shown = try fleet.saker(["doctor", "--config", file])
        #expect(shown.status == 0 && shown.output.contains("ok           login           as van_07"), "\(shown.all)")

        // A key of another server.
        let key = fleet.agent + "/credentials/ak"
        let rightKey = try String(contentsOfFile: key, encoding: .utf8)
        try String(contentsOfFile: stranger.agent + "/credentials/ak", encoding: .utf8)
            .write(toFile: key, atomically: true, encoding: .utf8)
        try restart(&agent, fleet, until: "refused")
        seen = try visit(fleet)
        #expect(seen.status == 1 && seen.failed == ["login"] && seen.verdict("tls") == "ok", "\(seen.text)")
        #expect(seen.remedy("login").contains(key), "\(seen.text)")
        try rightKey.write(toFile: key, atomically: true, encoding: .utf8)

        // The authority of another server.
        let authority = fleet.agent + "/ca.pem"
        let rightAuthority = try String(contentsOfFile: authority, encoding: .utf8)
        try String(contentsOfFile: stranger.agent + "/ca.pem", encoding: .utf8)
            .write(toFile: authority, atomically: true, encoding: .utf8)
        try restart(&agent, fleet, until: "refused")
        seen = try visit(fleet)
        #expect(seen.failed == ["tls"] && seen.verdict("login") == "not_checked", "\(seen.text)")
        #expect(seen.remedy("tls").contains(authority), "\(seen.text)")
        try rightAuthority.write(toFile: authority, atomically: true, encoding: .utf8)

        // A name that is none.
        try replace(
            "host = \"127.0.0.1\"\nport = \(fleet.devicePort)", by: "host = \"no.invalid\"\nport = \(fleet.devicePort)",
            in: file)
        try restart(&agent, fleet, until: "waiting")
        seen = try visit(fleet)
        #expect(seen.failed == ["dns"] && seen.verdict("tcp") == "not_checked", "\(seen.text)")
        #expect(seen.remedy("dns").contains(file), "\(seen.text)")

        // The server is gone, and the service stopped.
        try replace("no.invalid", by: "127.0.0.1", in: file)
        server.end(SIGTERM)
        try restart(&agent, fleet, until: "waiting")
        #expect(try fleet.saker(["service", "stop"]).status == 0)
        seen = try visit(fleet)
        #expect(seen.failed == ["service", "tcp"], "\(seen.text)")
        #expect(seen.remedy("service") == "saker service start", "\(seen.text)")

        // What hangs is found too.
        agent.signal(SIGSTOP)
        gpsd.signal(SIGSTOP)
        seen = try visit(fleet)
        #expect(seen.status == 3 && seen.failed == ["agent", "gpsd", "tcp"], "\(seen.text)")
        #expect(seen.checks["agent"]?.found.contains("does not answer") == true, "\(seen.text)")
        #expect(seen.remedy("gpsd").contains("restart gpsd"), "\(seen.text)")
        agent.signal(SIGCONT)

        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        gpsd.end(SIGKILL)
    }
}
