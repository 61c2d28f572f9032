import Foundation

extension Fleet {
    // MARK: What the server has

    /// The file of the server's store.
    package var database: String { server + "/tracks.sqlite" }

    /// A Web API request with the real curl.
    package func web(_ path: String, _ parameters: [String: String], post: Bool = false) throws -> [String: Any] {
        let key = try String(contentsOfFile: agent + "/credentials/ak", encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        var arguments = [
            "--silent", "--show-error", "--max-time", "20", "--cacert", agent + "/ca.pem",
            "https://\(link?.serverHost ?? "127.0.0.1"):\(webPort)/api/v3/\(path)",
        ]
        if !post { arguments.append("--get") }
        for (name, value) in parameters.merging(["ak": key, "service_id": "1"], uniquingKeysWith: { $1 }) {
            arguments += ["--data-urlencode", "\(name)=\(value)"]
        }
        let answer = try Program.run("/usr/bin/curl", arguments, in: link?.serverNetwork)
        try require(answer.status == 0, "\(answer.all)")
        return try require(
            try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any], answer.all)
    }

    package struct Stored: Hashable, Sendable {
        package let time: Int
        package let latitude: Double
        package let longitude: Double

        package init(time: Int, latitude: Double, longitude: Double) {
            self.time = time
            self.latitude = latitude
            self.longitude = longitude
        }
    }

    /// The stored track of some hours around a time, ascending.
    package func track(around time: Int) throws -> [Stored] {
        let answer = try web(
            "track/gettrack",
            [
                "entity_name": entity, "start_time": "\(time - 40_000)", "end_time": "\(time + 40_000)",
                "coord_type_output": "wgs84", "page_size": "5000",
            ])
        try require(answer["status"] as? Int == 0, "\(answer)")
        let points = try require(answer["points"] as? [[String: Any]], "\(answer)")
        return try points.map {
            Stored(
                time: try require($0["loc_time"] as? Int, "\($0)"),
                latitude: try require($0["latitude"] as? Double, "\($0)"),
                longitude: try require($0["longitude"] as? Double, "\($0)"))
        }
    }

    /// Points in the database, counted in its chunks. A point that was stored twice counts twice.
    package func rows() throws -> Int { try chunks().reduce(0) { $0 + $1.count } }

    package struct Chunk: Hashable, Sendable {
        /// Milliseconds.
        package let first: Int
        package let last: Int
        package let count: Int
        /// Merging has seen this chunk. Before, it is one batch, as it came.
        package let isSettled: Bool

        package init(first: Int, last: Int, count: Int, isSettled: Bool) {
            self.first = first
            self.last = last
            self.count = count
            self.isSettled = isSettled
        }
    }

    /// The chunks of the database in the order of storing.
    package func chunks() throws -> [Chunk] {
        let script = """
            import glob, json, sqlite3, sys
            path, = glob.glob(sys.argv[1] + "/*.sqlite")
            print(json.dumps(sqlite3.connect(f"file:{path}?mode=ro", uri=True).execute(
                "SELECT first_time, last_time, count, settled FROM chunk ORDER BY id").fetchall()))
            """
        let answer = try Program.run("/usr/bin/env", ["python3", "-c", script, server])
        try require(answer.status == 0, answer.all)
        let rows = try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [[Int]]
        return try require(rows, answer.all).map {
            Chunk(first: $0[0], last: $0[1], count: $0[2], isSettled: $0[3] != 0)
        }
    }
}

/// An alarm of a fence, as the vehicle's journal or the server's history has it.
package struct FencedAlarm: Hashable, Sendable, CustomStringConvertible {
    package let key: String
    package let action: String
    package let fence: Int
    /// Who moved.
    package let entity: String

    fileprivate init(_ body: [String: Any]) throws {
        key = try require(body["key"] as? String, "\(body)")
        action = try require(body["action"] as? String, "\(body)")
        fence = try require(body["fence_id"] as? Int, "\(body)")
        entity = try require(body["monitored_person"] as? String, "\(body)")
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

// Server fences: made with the Web API, told by the agent, kept by the server. Own fences: made and told by the agent.
extension Fleet {
    /// The alarms of vehicles' own fences in the agent's journal: its own, and those of which the server has told it.
    package func ownAlarms() throws -> [FencedAlarm] {
        let reply = try varlink("io.saker.Agent.ListAlarms", ["limit": 1000, "type": 4])
        let parameters = try require(reply["parameters"] as? [String: Any], "\(reply)")
        return try require(parameters["alarms"] as? [[String: Any]], "\(reply)").map { alarm in
            try FencedAlarm(try require(alarm["body"] as? [String: Any], "\(alarm)"))
        }
    }

    /// Alarms of which the agent has still to tell the server.
    package func reportsWaiting() throws -> Int {
        let fences = try status()["fences"] as? [String: Any]
        let server = try require(fences?["server"] as? [String: Any], "\(String(describing: fences))")
        return try require(server["reports_waiting"] as? Int, "\(server)")
    }

    /// Whether the server knows fences. One from before there were any does not know the call.
    package func hasServerFences() throws -> Bool {
        let answer = try web("fence/list", ["monitored_person": entity])
        return answer["status"] as? Int == 0
    }

    /// Whether the agent knows fences of its own. One from before there were any does not know the method.
    package func hasOwnFences() throws -> Bool {
        let reply = try varlink("io.saker.Agent.ListFences")
        guard let error = reply["error"] as? String else { return true }
        try require(error == "org.varlink.service.MethodNotFound", "\(reply)")
        return false
    }

    /// Makes a fence of the vehicle's own of 120 m at a second of `ReceiverSource.drive`; its number. `watching`: nil for
    /// everyone. `remote`: actions of which the others hear. `isReported`: the server hears of its alarms.
    @discardableResult
    package func makeOwnFence(
        atSecond second: Int, watching entities: [String]? = nil, remote actions: [String] = [],
        isReported: Bool = true
    ) throws -> Int {
        var fence: [String: Any] = [
            "name": "own \(second)", "report": isReported,
            "shape": [
                "kind": "circle", "latitude": 52.0 + Double(second) * 0.0001,
                "longitude": 4.3 + Double(second) * 0.00015, "radius": 120,
            ],
            "actions": actions.map { ["on": $0, "params": [:] as [String: Any], "remote": true] as [String: Any] },
        ]
        // A fence without a watch watches nobody.
        if let entities { fence["watch"] = entities } else { fence["watch"] = "#allentity" }
        let reply = try varlink("io.saker.Agent.CreateFence", ["fence": fence])
        return try require((reply["parameters"] as? [String: Any])?["fence_id"] as? Int, "\(reply)")
    }

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
    package func alarmHistory(withStale: Bool = false) throws -> [FencedAlarm] {
        let answer = try web(
            "fence/historyalarm",
            [
                "monitored_person": entity, "coord_type_output": "wgs84", "include_stale": withStale ? "1" : "0",
            ])
        return try require(answer["alarms"] as? [[String: Any]], "\(answer)").map(FencedAlarm.init)
    }

    /// Fences of the server that the agent has.
    package func keptServerFences() throws -> Int {
        let fences = try status()["fences"] as? [String: Any]
        return (fences?["server"] as? [String: Any])?["kept"] as? Int ?? 0
    }

    /// The version of the server's fences that the agent has.
    package func serverFenceVersion() throws -> Int {
        let fences = try status()["fences"] as? [String: Any]
        let server = try require(fences?["server"] as? [String: Any], "\(String(describing: fences))")
        return try require(server["version"] as? Int, "\(server)")
    }

    /// Gives a fence of the server another radius, metres.
    package func resizeFence(_ number: Int, radius: Int) throws {
        let answer = try web(
            "fence/updatecirclefence", ["fence_id": "\(number)", "radius": "\(radius)"], post: true)
        try require(answer["status"] as? Int == 0, "\(answer)")
    }

    /// Makes a fence of the server at a second of `ReceiverSource.drive`; its number. `radius`: metres.
    @discardableResult
    package func makeFence(atSecond second: Int, radius: Int = 120) throws -> Int {
        let answer = try web(
            "fence/createcirclefence",
            [
                "fence_name": "stop \(second)", "monitored_person": entity, "radius": "\(radius)",
                "latitude": "\(52.0 + Double(second) * 0.0001)", "longitude": "\(4.3 + Double(second) * 0.00015)",
                "coord_type": "wgs84",
            ], post: true)
        try require(answer["status"] as? Int == 0, "\(answer)")
        return try require(answer["fence_id"] as? Int, "\(answer)")
    }
}
