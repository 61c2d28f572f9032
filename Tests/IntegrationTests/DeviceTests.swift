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
        let neighbour = try Fleet(beside: fleet)
        let second = try neighbour.startAgent()
        for vehicle in [fleet, neighbour] {
            try waitUntil("online", within: 300) { try vehicle.linkState() == "online" }
        }
        let session = try neighbour.session()
        let list = try device(fleet, "list")
        #expect(list.contains("active") && list.contains(fleet.entity), "\(list)")
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
