import Foundation
import ProgramTestKit
import Testing

/// What the server knows of its vehicles, with the real programs.
@Suite(.serialized, .timeLimit(.minutes(60))) struct HealthTests {
    private func troubles(_ fleet: Fleet, _ arguments: String...) throws -> String {
        let result = try Program.run(
            Built.path("saker-server"),
            ["device", "list", "--trouble", "--config", fleet.server + "/server.toml"] + arguments)
        try require(result.status == 0, "\(result.all)")
        return result.output
    }

    /// The vehicle logs in with an access key: the operator is told of the entity.
    @Test(.needs(.gpsd)) func aReceiverThatIsUnpluggedShowsAtTheServerWithinAMinute() throws {
        let fleet = try Fleet()
        let source = try ReceiverSource(
            epochs: ReceiverSource.drive(seconds: 20_000, from: Int(Date().timeIntervalSince1970)), pause: 0.5)
        let server = try fleet.startServer()
        let gpsd = try fleet.startGPSD(source: source.address)
        let agent = try fleet.startAgent()
        source.resume()
        try waitUntil("points", within: 300) { try fleet.counter("acknowledged") > 0 }
        try waitUntil("a vehicle that is well", within: 60) {
            try troubles(fleet) == "No trouble is known of 1 vehicle\n"
        }
        let (began, lateness) = (ContinuousClock.now, Lateness())
        try fleet.unplug(source.address)
        try waitUntil("the trouble", within: 300) { try troubles(fleet).contains("no receiver") }
        let took = ContinuousClock.now - began
        let late = Duration.milliseconds(lateness.end())
        #expect(took < .seconds(60) + late, "it took \(took), and the machine was \(late) late")
        let line = try require(try troubles(fleet).split(separator: "\n").last, "no line")
        #expect(line.contains(/^van_07 +1 +key +[0-9]+ s ago +no receiver: unplugged or broken/), "\(line)")
        let row = try require(
            try JSONSerialization.jsonObject(with: Data(troubles(fleet, "--json").utf8)) as? [String: Any], "no JSON")
        #expect(row["entity"] as? String == "van_07" && row["device"] == nil)
        #expect(((row["report"] as? [String: Any])?["receiver"] as? String) == "away")
        #expect(((row["troubles"] as? [[String: Any]])?.first?["kind"] as? String) == "receiver")

        let doctor = try Program.run(
            Built.path("saker-server"), ["doctor", "--config", fleet.server + "/server.toml"])
        #expect(doctor.all.contains("1 of 1 vehicle is in trouble: 1 without a receiver"), "\(doctor.all)")

        // It says goodbye: nobody expects to hear from it.
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
        #expect(try troubles(fleet) == "No trouble is known of 1 vehicle\n")
        #expect(try troubles(fleet, "--silent-after", "1", "1") == "No trouble is known of 1 vehicle\n")
        for wrong in [["--silent-after", "0"], ["--trouble", "--token", "1"]] {
            let refused = try Program.run(
                Built.path("saker-server"),
                ["device", "list", "--config", fleet.server + "/server.toml"] + wrong)
            #expect(refused.status == 64 || refused.status == 2, "\(refused.all)")
        }
        gpsd.end(SIGKILL)
        source.end()
    }
}
