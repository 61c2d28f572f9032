import Foundation
import ProgramTestKit
import Testing

/// Vehicles with certificates of their own, with the real programs.
@Suite(.serialized, .timeLimit(.minutes(60))) struct DeviceTests {
    /// Gives the vehicle a key of its own and a certificate of the server for it, and takes its access key away.
    private func identify(_ fleet: Fleet, as entity: String) throws {
        let (key, request) = (fleet.agent + "/own.key", fleet.agent + "/own.csr")
        try Authority.openssl([
            "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=van",
            "-keyout", key, "-out", request,
        ])
        let added = try Program.run(
            Built.path("saker-server"), ["device", "add", "--config", fleet.server + "/server.toml", "1", entity],
            input: try String(contentsOfFile: request, encoding: .utf8))
        try require(added.status == 0, "\(added.all)")
        try writeSecret(added.output, to: fleet.agent + "/own.pem")
        try fleet.edit(
            fleet.agent + "/agent.toml", "[server]",
            to: "[server]\nclient_certificate = \"own.pem\"\nclient_key = \"own.key\"")
        try fleet.edit(fleet.agent + "/agent.toml", "ak_file = ", to: "# ak_file = ")
        try FileManager.default.removeItem(atPath: fleet.agent + "/credentials/ak")
    }

    private func device(_ fleet: Fleet, _ arguments: String...) throws -> String {
        let result = try Program.run(
            Built.path("saker-server"),
            ["device", arguments[0], "--config", fleet.server + "/server.toml"] + arguments.dropFirst())
        try require(result.status == 0, "\(result.all)")
        return result.output
    }

    @Test func oneVehicleIsShutOutAndComesBackAndTheOtherGoesOn() throws {
        let fleet = try Fleet()
        try identify(fleet, as: fleet.entity)
        let server = try fleet.startServer()
        let agent = try fleet.startAgent()
        let neighbour = try Fleet(beside: fleet, as: "van_08")
        let second = try neighbour.startAgent()
        for vehicle in [fleet, neighbour] {
            try waitUntil("online", within: 300) { try vehicle.linkState() == "online" }
        }
        let session = try neighbour.session()
        let list = try device(fleet, "list")
        #expect(list.contains("approved") && list.contains(fleet.entity), "\(list)")
        #expect(list.contains("whoever has the key"), "\(list)")
        #expect(try device(fleet, "show", fleet.entity).contains("127.0.0.1"))

        _ = try device(fleet, "revoke", fleet.entity)
        try waitUntil("the refusal", within: 300) { try fleet.link()["last_error_cause"] as? String == "revoked" }
        #expect(try fleet.linkState() == "refused")
        let status = try fleet.saker(["status"])
        #expect(status.all.contains("revoked"), "\(status.all)")
        #expect(try neighbour.session() == session)
        #expect(try neighbour.linkState() == "online")

        _ = try device(fleet, "approve", fleet.entity)
        agent.signal(SIGHUP)
        _ = try fleet.saker(["reconnect"])
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        // The hour is over for an agent that starts.
        let again = try fleet.startAgent()
        try waitUntil("online again", within: 300) { try fleet.linkState() == "online" }
        #expect(try neighbour.session() == session)
        #expect(again.end(SIGTERM) == 0, "\(again.printed)")
        #expect(second.end(SIGTERM) == 0, "\(second.printed)")
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
        for printed in [server.printed, again.printed] { #expect(!printed.contains("PRIVATE KEY")) }
    }

    /// The vehicle that each stored point is of, with its number.
    private func counts(_ fleet: Fleet) throws -> [String: Int] {
        let script = """
            import glob, json, sqlite3, sys
            path, = glob.glob(sys.argv[1] + "/*.sqlite")
            print(json.dumps(dict(sqlite3.connect(f"file:{path}?mode=ro", uri=True).execute(
                "SELECT entity.name, sum(chunk.count) FROM chunk JOIN entity ON entity.id = chunk.entity "
                "GROUP BY entity.name").fetchall())))
            """
        let answer = try Program.run("/usr/bin/env", ["python3", "-c", script, fleet.server])
        try require(answer.status == 0, answer.all)
        return try require(
            try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Int], answer.all)
    }

    /// The operator says that the box is in another truck. Nobody goes to the truck. Points that waited stay those of before.
    @Test(.needs(.gpsd)) func aMovedVehicleTakesItsNewEntityByItselfAndKeepsItOverARestart() throws {
        let fleet = try Fleet()
        try identify(fleet, as: fleet.entity)
        let server = try fleet.startServer()
        let start = Int(Date().timeIntervalSince1970) - 6000
        let source = try ReceiverSource(epochs: ReceiverSource.drive(seconds: 6000, from: start), pause: 0.02)
        let gpsd = try fleet.startGPSD(source: source.address)
        let agent = try fleet.startAgent()
        source.resume()
        try waitUntil("points as the first", within: 300) { try fleet.counter("acknowledged") > 3 }
        // Without the server, points of the first wait in the ring.
        server.end(SIGKILL)
        let waiting = try fleet.counter("gathered")
        try waitUntil("points wait", within: 300) { try fleet.counter("gathered") > waiting + 5 }
        _ = try device(fleet, "move", fleet.entity, "van_09")
        let again = try fleet.startServer()
        func entity() throws -> String? { (try fleet.status()["service"] as? [String: Any])?["entity"] as? String }
        try waitUntil("the other entity", within: 300) {
            try fleet.linkState() == "online" && entity() == "van_09"
        }
        try waitUntil("points as the second", within: 300) { try (counts(fleet)["van_09"] ?? 0) > 3 }
        #expect(try (counts(fleet)["van_07"] ?? 0) > waiting + 5)
        #expect(try fleet.counter("refused") == 0)
        #expect(agent.printed.contains("another entity"), "\(agent.printed)")
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        // The configuration still names the first one.
        let next = try fleet.startAgent()
        #expect(try entity() == "van_09")
        try waitUntil("online", within: 300) { try fleet.linkState() == "online" }
        // While it is online.
        _ = try device(fleet, "move", "van_09", "van_10")
        try waitUntil("the third entity", within: 300) { try fleet.linkState() == "online" && entity() == "van_10" }
        #expect(next.end(SIGTERM) == 0, "\(next.printed)")
        gpsd.end(SIGKILL)
        source.end()
        again.end(SIGTERM)
    }

    /// The certificate of a vehicle and the key of the Web API are not mixed.
    @Test func theKeyOfAVehicleReadsNothingAndTheKeyOfAClientIsNoVehicles() throws {
        let fleet = try Fleet()
        let configuration = fleet.server + "/server.toml"
        func key(_ options: String...) throws -> String {
            let made = try Program.run(
                Built.path("saker-server"), ["key", "create", "--config", configuration, "1"] + options)
            try require(made.status == 0, "\(made.all)")
            let line = try require(made.output.split(separator: "\n").first { $0.hasPrefix("Access key") }, "no key")
            return String(line.split(separator: " ").last ?? "")
        }
        let (vehicle, client) = (try key("--legacy-device"), try key("--scope", "read,write"))
        let server = try fleet.startServer()
        func ask(_ key: String) throws -> String {
            try Program.run(
                "/usr/bin/curl",
                [
                    "-s", "--noproxy", "*", "--cacert", fleet.server + "/ca.pem",
                    "https://127.0.0.1:\(fleet.webPort)/api/v3/entity/list?service_id=1&ak=\(key)",
                ]
            ).output
        }
        #expect(try ask(vehicle).hasPrefix("{\"status\":240"))
        #expect(try ask(client).hasPrefix("{\"status\":3003"))
        try writeSecret(client + "\n", to: fleet.agent + "/credentials/ak")
        let refused = try fleet.startAgent()
        try waitUntil("the refusal", within: 300) { try fleet.link()["last_error_cause"] as? String == "key_refused" }
        #expect(try (fleet.link()["last_error"] as? String)?.contains("--legacy-device") == true)
        #expect(refused.end(SIGTERM) == 0, "\(refused.printed)")
        try writeSecret(vehicle + "\n", to: fleet.agent + "/credentials/ak")
        let agent = try fleet.startAgent()
        try waitUntil("online", within: 300) { try fleet.linkState() == "online" }
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
    }
}
