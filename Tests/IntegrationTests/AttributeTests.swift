import Foundation
import ProgramTestKit
import Testing

/// Custom attributes from the command line on the vehicle to the Web API, through the real programs.
@Suite(.serialized, .timeLimit(.minutes(60)), .needs(.gpsd)) struct AttributeTests {
    private let start = 1_780_000_020

    @Test func setAndProvidedAttributesArriveWithTheirPoints() throws {
        let fleet = try Fleet()
        for (key, type) in [("fuel", "double"), ("driver", "string"), ("door", "int")] {
            let added = try Program.run(
                Built.path("saker-server"),
                ["column", "add", "1", key, type, "--config", fleet.server + "/server.toml"])
            #expect(added.status == 0, "\(added.all)")
        }
        // A point each 600 ms or so: a provider has its 200 ms.
        let source = try ReceiverSource(epochs: ReceiverSource.drive(seconds: 600, from: start), pause: 0.3)
        let gpsd = try fleet.startGPSD(source: source.address)
        let server = try fleet.startServer()
        let agent = try fleet.startAgent()
        try waitUntil("the agent is online", within: 300) { try fleet.linkState() == "online" }
        let set = try fleet.saker(["attributes", "set", "fuel=51", "driver=Li Wei"])
        #expect(set.status == 0, "\(set.all)")
        let unknown = try fleet.saker(["attributes", "set", "colour=red", "door=open"])
        #expect(unknown.status == 1)
        #expect(unknown.all.contains("colour is ignored") && unknown.all.contains("door is ignored"))
        // It ends by itself once nobody reads its lines.
        let provider = try Program(
            Built.path("saker"),
            ["attributes", "provide", "--", "sh", "-c", #"while echo '{"fuel":12.5,"door":1}'; do sleep 0.2; done"#],
            environment: ["SAKER_SOCKET": fleet.socket])
        try waitUntil("the provider is known", within: 300) { try attributes(fleet)["providers"] as? Int == 1 }
        source.resume()
        try waitUntil("a provided point is stored", within: 300) {
            try points(fleet).contains { $0["fuel"] as? Double == 12.5 }
        }
        // A dead provider is forgotten, and the points go on with what is set.
        #expect(provider.end(SIGKILL) == 137)
        try waitUntil("the provider is forgotten", within: 300) { try attributes(fleet)["providers"] as? Int == 0 }
        let gathered = try fleet.counter("gathered")
        try waitUntil("points after it", within: 300) { try fleet.counter("gathered") >= gathered + 3 }
        let stopped = try fleet.saker(["service", "stop"])
        #expect(stopped.status == 0, "\(stopped.all)")
        let stored = try points(fleet)
        #expect(stored.count == (try fleet.counter("gathered")))
        #expect(stored.allSatisfy { $0["driver"] as? String == "Li Wei" && $0["colour"] == nil })
        for point in stored {
            let isProvided = point["door"] as? Int == 1
            #expect(point["fuel"] as? Double == (isProvided ? 12.5 : 51), "\(point)")
        }
        #expect(stored.last?["door"] == nil)
        // The columns are remembered for a start without a server.
        #expect(server.end(SIGTERM) == 0)
        #expect(agent.end(SIGTERM) == 0)
        let again = try fleet.startAgent()
        // Those of the service, and the floor.
        #expect(try attributes(fleet)["columns"] as? Int == 4)
        again.end(SIGTERM)
        gpsd.end(SIGKILL)
        source.end()
    }

    private func attributes(_ fleet: Fleet) throws -> [String: Any] {
        try #require(try fleet.status()["attributes"] as? [String: Any])
    }

    private func points(_ fleet: Fleet) throws -> [[String: Any]] {
        let answer = try fleet.web(
            "track/gettrack",
            [
                "entity_name": fleet.entity, "start_time": "\(start - 40_000)", "end_time": "\(start + 40_000)",
                "page_size": "5000",
            ])
        return answer["points"] as? [[String: Any]] ?? []
    }
}
