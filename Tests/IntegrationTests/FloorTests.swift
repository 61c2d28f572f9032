import Foundation
import ProgramTestKit
import Testing

/// The floor of a vehicle, through the real programs: from the command line and a provider to fences on the vehicle, fences at
/// the server, and the track.
@Suite(.serialized, .timeLimit(.minutes(60)), .needs(.gpsd, .python)) struct FloorTests {
    /// Circles of 120 m at a second of the drive, one on each floor.
    private static func features(at second: Int) -> String {
        ["2", "3"].map { floor in
            """
            {"type":"Feature","id":"\(second)-\(floor)","geometry":{"type":"Point","coordinates":\
            [\(4.3 + Double(second) * 0.00015),\(52.0 + Double(second) * 0.0001)]},"properties":{"radius":120,\
            "name":"\(second) on floor \(floor)","level":\(floor)}}
            """
        }.joined(separator: ",")
    }

    private static func names(_ alarms: [[String: Any]]) -> [String] {
        alarms.compactMap { alarm in
            guard let body = alarm["body"] as? [String: Any] ?? alarm as [String: Any]?,
                let action = body["action"] as? String, let name = body["fence_name"] as? String
            else { return nil }
            return "\(action) \(name)"
        }
    }

    private static func told(_ fleet: Fleet, type: Int) throws -> [String] {
        let reply = try fleet.varlink("io.saker.Agent.ListAlarms", ["limit": 1000, "type": type])
        let parameters = try #require(reply["parameters"] as? [String: Any], "\(reply)")
        return names(try #require(parameters["alarms"] as? [[String: Any]], "\(reply)"))
    }

    private static func history(_ fleet: Fleet) throws -> [String] {
        let answer = try fleet.web(
            "fence/historyalarm", ["monitored_person": fleet.entity, "coord_type_output": "wgs84"])
        return names(try #require(answer["alarms"] as? [[String: Any]], "\(answer)"))
    }

    @Test func aFloorTravelsAndIsJudgedEverywhere() throws {
        let fleet = try Fleet()
        let collection = fleet.directory.file("floors.geojson")
        try Data(
            "{\"type\":\"FeatureCollection\",\"features\":[\(Self.features(at: 100)),\(Self.features(at: 220))]}".utf8
        ).write(to: URL(filePath: collection))
        let imported = try Program.run(
            Built.path("saker-server"),
            [
                "fence", "import", "1", collection, "--floor-column", "level", "--watch-everyone", "--config",
                fleet.server + "/server.toml",
            ])
        #expect(imported.status == 0, "\(imported.all)")

        let start = Int(Date().timeIntervalSince1970) + 60
        let source = try ReceiverSource(epochs: ReceiverSource.drive(seconds: 300, from: start), pause: 0.06)
        let gpsd = try fleet.startGPSD(source: source.address)
        let server = try fleet.startServer()
        let agent = try fleet.startAgent()
        try waitUntil("the agent is online", within: 300) { try fleet.linkState() == "online" }
        try waitUntil("the vehicle has the fences", within: 300) { try fleet.keptServerFences() == 4 }
        let own = try fleet.saker(["fence", "import", collection, "--floor-column", "level"])
        #expect(own.status == 0, "\(own.all)")
        let set = try fleet.saker(["attributes", "set", "floor=2"])
        #expect(set.status == 0, "\(set.all)")

        source.resume()
        try waitUntil("the first visit is over", within: 300) { source.sent >= 150 }
        source.pause()
        // From here on another program knows better.
        let provider = try Program(
            Built.path("saker"),
            ["attributes", "provide", "--", "sh", "-c", #"while echo '{"floor":3}'; do sleep 0.05; done"#],
            environment: ["SAKER_SOCKET": fleet.socket])
        try waitUntil("the provider is known", within: 300) {
            (try fleet.status()["attributes"] as? [String: Any])?["providers"] as? Int == 1
        }
        source.resume()
        try waitUntil("the drive is over", within: 300) { source.sent == 300 }
        let stopped = try fleet.saker(["service", "stop", "--timeout", "60"])
        #expect(stopped.status == 0, "\(stopped.all)")

        let expected = [
            "enter 100 on floor 2", "exit 100 on floor 2", "enter 220 on floor 3", "exit 220 on floor 3",
        ]
        #expect(try Self.told(fleet, type: 4) == expected, "the vehicle's own fences")
        #expect(try Self.told(fleet, type: 3) == expected, "the server's fences on the vehicle")
        try waitUntil("the server's history", within: 300) { try Self.history(fleet).count >= expected.count }
        #expect(try Self.history(fleet) == expected)
        let track = try fleet.web(
            "track/gettrack",
            [
                "entity_name": fleet.entity, "start_time": "\(start - 60)", "end_time": "\(start + 400)",
                "page_size": "5000",
            ])
        let floors = (track["points"] as? [[String: Any]] ?? []).map { $0["floor"] as? String }
        #expect(!floors.isEmpty && !floors.contains(nil))
        #expect(floors.first == "2" && floors.last == "3")

        // A restart does not end in another alarm: the journal's memory and the ring have the floor.
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        let again = try fleet.startAgent()
        #expect(try Self.told(fleet, type: 4) == expected)
        again.end(SIGTERM)
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
        provider.end(SIGKILL)
        gpsd.end(SIGKILL)
        source.end()
    }
}
