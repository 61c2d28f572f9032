import Foundation
import ProgramTestKit
import Testing

/// Server fences on the vehicle, through the real programs: told at once without the server, and once in its history.
@Suite(.serialized, .timeLimit(.minutes(60)), .needs(.gpsd, .python)) struct ServerFenceTests {
    private struct Told: Hashable {
        let key: String
        let action: String
        let fence: Int
    }

    /// What the agent's journal has of server fences: alarms that the agent found itself, and others.
    private func told(_ fleet: Fleet) throws -> (early: [Told], others: [Told], unconfirmed: Int) {
        let reply = try fleet.varlink("io.saker.Agent.ListAlarms", ["limit": 1000, "type": 3])
        let parameters = try require(reply["parameters"] as? [String: Any], "\(reply)")
        let alarms = try require(parameters["alarms"] as? [[String: Any]], "\(reply)")
        func list(_ isEarly: Bool) throws -> [Told] {
            try alarms.filter { ($0["early"] as? Bool ?? false) == isEarly }.map {
                try Self.told(try require($0["body"] as? [String: Any], "\($0)"))
            }
        }
        let unconfirmed = alarms.filter { $0["early"] as? Bool == true && $0["confirmed"] as? Bool != true }
        return (try list(true), try list(false), unconfirmed.count)
    }

    private static func told(_ body: [String: Any]) throws -> Told {
        Told(
            key: try require(body["key"] as? String, "\(body)"),
            action: try require(body["action"] as? String, "\(body)"),
            fence: try require(body["fence_id"] as? Int, "\(body)"))
    }

    private func history(_ fleet: Fleet) throws -> [Told] {
        let answer = try fleet.web(
            "fence/historyalarm", ["monitored_person": fleet.entity, "coord_type_output": "wgs84"])
        return try require(answer["alarms"] as? [[String: Any]], "\(answer)").map(Self.told)
    }

    private func keptFences(_ fleet: Fleet) throws -> Int {
        let fences = try fleet.status()["fences"] as? [String: Any]
        return (fences?["server"] as? [String: Any])?["kept"] as? Int ?? 0
    }

    private func makeFence(_ fleet: Fleet, second: Int) throws {
        let answer = try fleet.web(
            "fence/createcirclefence",
            [
                "fence_name": "stop \(second)", "monitored_person": fleet.entity, "radius": "120",
                "latitude": "\(52.0 + Double(second) * 0.0001)", "longitude": "\(4.3 + Double(second) * 0.00015)",
                "coord_type": "wgs84",
            ], post: true)
        #expect(answer["status"] as? Int == 0, "\(answer)")
    }

    /// Three visits: with the link, without it, and behind a kill of the agent without a link.
    @Test func visitsAreToldAtOnceAndStandInTheHistoryOnce() throws {
        let fleet = try Fleet()
        // The receiver's dates must not be before the fences: it runs ahead of the clock by some minutes.
        let start = Int(Date().timeIntervalSince1970) + 60
        let source = try ReceiverSource(epochs: ReceiverSource.drive(seconds: 481, from: start), pause: 0.01)
        let gpsd = try fleet.startGPSD(source: source.address)
        var server = try fleet.startServer()
        var agent = try fleet.startAgent()
        try waitUntil("the agent is online", within: 300) { try fleet.linkState() == "online" }
        for second in [100, 220, 360] { try makeFence(fleet, second: second) }
        try waitUntil("the vehicle has the fences", within: 300) { try keptFences(fleet) == 3 }

        source.resume()
        try waitUntil("the first visit is told", within: 300) { try told(fleet).early.count >= 2 }
        try waitUntil("it is confirmed", within: 300) { try told(fleet).unconfirmed == 0 }
        #expect(try history(fleet) == told(fleet).early)

        server.end(SIGKILL)
        try waitUntil("the second visit is told", within: 300) {
            source.resume()
            return try told(fleet).early.count >= 4
        }
        let before = try told(fleet).early
        agent.end(SIGKILL)
        agent = try fleet.startAgent()
        try waitUntil("the journal is back", within: 300) { try told(fleet).early.count >= before.count }
        try waitUntil("the drive is over", within: 300) { source.sent == 481 }

        server = try fleet.startServer()
        try waitUntil("the agent is online", within: 300) {
            try fleet.saker(["reconnect"])
            return try fleet.linkState() == "online"
        }
        let stopped = try fleet.saker(["service", "stop", "--timeout", "60"])
        #expect(stopped.status == 0, "\(stopped.all)")
        let restarted = try fleet.saker(["service", "start"])
        #expect(restarted.status == 0, "\(restarted.all)")
        try waitUntil("all alarms are confirmed", within: 300) { try told(fleet).unconfirmed == 0 }
        let (early, others, _) = try told(fleet)
        #expect(others == [], "the server has told what the vehicle did not find")
        #expect(Set(early.map(\.key)).count == early.count, "told twice")
        #expect(Set(try history(fleet)) == Set(early))
        #expect(try history(fleet).count == early.count)
        #expect(early.prefix(4).map(\.action) == ["enter", "exit", "enter", "exit"])
        #expect(early.prefix(4).map(\.fence) == [1, 1, 2, 2])
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
        gpsd.end(SIGKILL)
        source.end()
    }
}
