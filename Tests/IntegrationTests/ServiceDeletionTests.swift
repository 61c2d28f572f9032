import Foundation
import ProgramTestKit
import Testing

/// A service that the operator deletes while its vehicle and that of another service are on the road, with the real programs.
@Suite(.serialized, .timeLimit(.minutes(60))) struct ServiceDeletionTests {
    @Test(.needs(.gpsd)) func theVehicleOfADeletedServiceKeepsItsRingAndSaysWhyAndTheOtherServiceGoesOn() throws {
        let fleet = try Fleet()
        let configuration = fleet.server + "/server.toml"
        func administer(_ arguments: String...) throws -> String {
            let result = try Program.run(Built.path("saker-server"), arguments + ["--config", configuration])
            try require(result.status == 0, "\(result.all)")
            return result.output
        }
        let made = try administer("service", "create", "other", "--legacy-device")
        let line = try require(made.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix("saker1:") }, "no line")
        let source = try ReceiverSource(
            epochs: ReceiverSource.drive(seconds: 20_000, from: Int(Date().timeIntervalSince1970)), pause: 0.5)
        let server = try fleet.startServer()
        let gpsd = try fleet.startGPSD(source: source.address)
        let agent = try fleet.startAgent()
        let neighbour = try Fleet(beside: fleet, as: "van_08", enrolledWith: String(line))
        let second = try neighbour.startAgent()
        for vehicle in [fleet, neighbour] {
            try waitUntil("online", within: 300) { try vehicle.linkState() == "online" }
        }
        let session = try neighbour.session()
        source.resume()
        try waitUntil("points", within: 300) { try fleet.counter("acknowledged") > 0 }

        let deleted = try administer("service", "delete", "1", "--yes")
        #expect(deleted.contains("has 1 entity") && deleted.hasSuffix("Service 1 is deleted.\n"), "\(deleted)")
        try waitUntil("the refusal", within: 300) {
            try fleet.link()["last_error_cause"] as? String == "service_unknown"
        }
        #expect(try fleet.linkState() == "refused")
        let reason = "the operator has deleted service 1: the vehicle keeps its points"
        #expect(try (fleet.link()["last_error"] as? String)?.contains(reason) == true)
        #expect(try fleet.saker(["status"]).all.contains("the operator has deleted service 1"))
        let doctor = try fleet.saker(["doctor"])
        #expect(doctor.all.contains("deleted service 1"), "\(doctor.all)")
        // It goes on with its work, and what it gathers waits.
        let (gathered, stored) = (try fleet.counter("gathered"), try fleet.counter("acknowledged"))
        try waitUntil("new points in the ring", within: 300) { try fleet.counter("gathered") > gathered + 3 }
        #expect(try fleet.counter("acknowledged") == stored)
        #expect(try neighbour.session() == session)
        #expect(try neighbour.linkState() == "online")

        for program in [agent, second, server] { #expect(program.end(SIGTERM) == 0, "\(program.printed)") }
        gpsd.end(SIGKILL)
        source.end()
        let check = try administer("service", "list")
        #expect(!check.contains("Test fleet") && check.contains("other"), "\(check)")
    }
}
