import Foundation

/// An alarm of a server fence, as the vehicle's journal or the server's history has it.
package struct FencedAlarm: Hashable, Sendable, CustomStringConvertible {
    package let key: String
    package let action: String
    package let fence: Int

    fileprivate init(_ body: [String: Any]) throws {
        key = try require(body["key"] as? String, "\(body)")
        action = try require(body["action"] as? String, "\(body)")
        fence = try require(body["fence_id"] as? Int, "\(body)")
    }

    package var description: String { "\(action) \(fence)" }
}

/// What a vehicle's journal has of server fences.
package struct VehicleAlarms: Hashable, Sendable {
    /// Alarms that the agent has found itself, and alarms that only the server has told.
    package var early: [FencedAlarm] = []
    package var others: [FencedAlarm] = []
    /// Early alarms that the server has not confirmed.
    package var unconfirmed = 0

    package init() {}
}

// Server fences: made with the Web API, told by the agent, kept by the server.
extension Fleet {
    /// The alarms of server fences in the agent's journal.
    package func vehicleAlarms() throws -> VehicleAlarms {
        let reply = try varlink("io.saker.Agent.ListAlarms", ["limit": 1000, "type": 3])
        let parameters = try require(reply["parameters"] as? [String: Any], "\(reply)")
        var found = VehicleAlarms()
        for alarm in try require(parameters["alarms"] as? [[String: Any]], "\(reply)") {
            let told = try FencedAlarm(try require(alarm["body"] as? [String: Any], "\(alarm)"))
            guard alarm["early"] as? Bool ?? false else {
                found.others.append(told)
                continue
            }
            found.early.append(told)
            if alarm["confirmed"] as? Bool != true { found.unconfirmed += 1 }
        }
        return found
    }

    /// The server's history of the entity's alarms, in the order of their times.
    package func alarmHistory() throws -> [FencedAlarm] {
        let answer = try web("fence/historyalarm", ["monitored_person": entity, "coord_type_output": "wgs84"])
        return try require(answer["alarms"] as? [[String: Any]], "\(answer)").map(FencedAlarm.init)
    }

    /// Fences of the server that the agent has.
    package func keptServerFences() throws -> Int {
        let fences = try status()["fences"] as? [String: Any]
        return (fences?["server"] as? [String: Any])?["kept"] as? Int ?? 0
    }

    /// Makes a fence of 120 m at a second of `ReceiverSource.drive`; its number.
    @discardableResult
    package func makeFence(atSecond second: Int) throws -> Int {
        let answer = try web(
            "fence/createcirclefence",
            [
                "fence_name": "stop \(second)", "monitored_person": entity, "radius": "120",
                "latitude": "\(52.0 + Double(second) * 0.0001)", "longitude": "\(4.3 + Double(second) * 0.00015)",
                "coord_type": "wgs84",
            ], post: true)
        try require(answer["status"] as? Int == 0, "\(answer)")
        return try require(answer["fence_id"] as? Int, "\(answer)")
    }
}
