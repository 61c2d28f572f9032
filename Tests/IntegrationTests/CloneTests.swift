import Foundation
import ProgramTestKit
import Testing

/// A vehicle whose disk was copied, with the real programs.
@Suite(.serialized, .timeLimit(.minutes(60)), .needs(.gpsd)) struct CloneTests {
    private let start = 1_780_000_020

    /// One computer with the disk of the vehicle, and the names of its starts.
    private final class Box {
        let fleet: Fleet
        let boot: String
        let source: ReceiverSource
        let gpsd: Program
        private(set) var agent: Program?
        private var watch: GatheredPointCollector?
        /// Seconds since 1970 of every point that its agent said it took.
        private(set) var taken: Set<Int> = []

        init(_ fleet: Fleet, boot: String, from start: Int) throws {
            (self.fleet, self.boot) = (fleet, boot)
            source = try ReceiverSource(epochs: ReceiverSource.drive(seconds: 3600, from: start), pause: 0.02)
            gpsd = try fleet.startGPSD(source: source.address)
        }

        func begin() throws {
            agent = try fleet.startAgent(environment: ["SAKER_BOOT_ID": boot])
            watch = try GatheredPointCollector(fleet)
        }

        func end() throws {
            #expect(agent?.end(SIGTERM) == 0, "\(agent?.printed ?? "")")
            if let watch { taken.formUnion(try watch.last()) }
            (agent, watch) = (nil, nil)
        }

        func drive() throws {
            let before = try fleet.counter("gathered")
            source.resume()
            try waitUntil("points", within: 300) { try fleet.counter("gathered") >= before + 10 }
            source.pause()
        }

        func waitUntilOnline() throws {
            try waitUntil("online", within: 300) { try fleet.linkState() == "online" }
        }

        func waitUntilUploaded() throws {
            try waitUntil("everything is uploaded", within: 300) {
                (try fleet.status()["cache"] as? [String: Any])?["points"] as? Int == 0
            }
        }

        func waitUntilRefused() throws {
            try waitUntil("the refusal", within: 300) { try fleet.link()["last_error_cause"] as? String == "cloned" }
            #expect(try fleet.linkState() == "refused")
        }

        func close() {
            gpsd.end(SIGKILL)
            source.end()
        }
    }

    private func device(_ fleet: Fleet, _ arguments: String...) throws -> String {
        let result = try Program.run(
            Built.path("saker-server"),
            ["device", arguments[0], "--config", fleet.server + "/server.toml"] + arguments.dropFirst())
        try require(result.status == 0, "\(result.all)")
        return result.output
    }

    /// Gives the vehicle a certificate of the server's, and takes its access key away.
    private func identify(_ fleet: Fleet) throws {
        let (key, request) = (fleet.agent + "/own.key", fleet.agent + "/own.csr")
        try Authority.openssl([
            "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=van",
            "-keyout", key, "-out", request,
        ])
        let added = try Program.run(
            Built.path("saker-server"),
            ["device", "add", "--config", fleet.server + "/server.toml", "1", fleet.entity],
            input: try String(contentsOfFile: request, encoding: .utf8))
        try require(added.status == 0, "\(added.all)")
        try writeSecret(added.output, to: fleet.agent + "/own.pem")
        try useCertificate(fleet)
    }

    private func useCertificate(_ fleet: Fleet) throws {
        try fleet.edit(
            fleet.agent + "/agent.toml", "[server]",
            to: "[server]\nclient_certificate = \"own.pem\"\nclient_key = \"own.key\"")
        try fleet.edit(fleet.agent + "/agent.toml", "ak_file = ", to: "# ak_file = ")
        try FileManager.default.moveItem(
            atPath: fleet.agent + "/credentials/ak", toPath: fleet.agent + "/credentials/ak.aside")
    }

    /// Another computer with all that is on the disk of the vehicle.
    private func copy(of fleet: Fleet) throws -> Fleet {
        let copy = try Fleet(beside: fleet)
        let files = FileManager.default
        for name in ["own.pem", "own.key"] {
            try files.copyItem(atPath: fleet.agent + "/" + name, toPath: copy.agent + "/" + name)
        }
        try useCertificate(copy)
        for (from, to) in [(fleet.state, copy.state), (fleet.cache, copy.cache)] {
            if files.fileExists(atPath: to) { try files.removeItem(atPath: to) }
            try files.copyItem(atPath: from, toPath: to)
        }
        return copy
    }

    @Test func bothComputersAreRefusedAndOneGoesOnAndNoPointIsLost() throws {
        let fleet = try Fleet()
        try identify(fleet)
        let server = try fleet.startServer()
        let first = try Box(fleet, boot: "11111111-1111-4111-8111-111111111111", from: start)
        try first.begin()
        try first.waitUntilOnline()
        try first.drive()
        try first.end()

        let twin = try copy(of: fleet)
        let second = try Box(twin, boot: "22222222-2222-4222-8222-222222222222", from: start + 10_000)
        try first.begin()
        try first.waitUntilOnline()
        // It may be the same computer after a restart.
        try second.begin()
        try second.waitUntilOnline()
        try second.drive()
        #expect(!(try device(fleet, "list", "--trouble").contains("two computers")))
        // The first one is still there.
        try first.end()
        try first.begin()
        try first.waitUntilRefused()
        try second.waitUntilRefused()
        // The store hears every fifteen seconds of a vehicle.
        try waitUntil("the trouble is listed", within: 300) {
            try device(fleet, "list", "--trouble").contains("two computers have its certificate")
        }
        #expect(try device(fleet, "list", "--json").contains("\"cloned\""))
        #expect(try device(fleet, "show", fleet.entity).contains("one is a copy"))
        #expect(try fleet.saker(["status"]).all.contains("one is a copy"))
        #expect(server.printed.contains("two computers have the certificate of one device"), "\(server.printed)")

        // Both gather on, and a restart of one changes nothing.
        try first.drive()
        try second.drive()
        try second.end()
        try second.begin()
        try second.waitUntilRefused()

        // One is switched off, and the operator has put the device in order.
        try second.end()
        _ = try device(fleet, "approve", fleet.entity)
        try waitUntil("the server has heard of it", within: 300) { server.printed.contains("is let in again") }
        try first.end()
        try first.begin()
        try first.waitUntilOnline()
        try first.waitUntilUploaded()
        #expect(!(try device(fleet, "list", "--trouble").contains("two computers")))
        try first.end()
        try second.begin()
        try second.waitUntilOnline()
        try second.waitUntilUploaded()
        try second.end()

        // For the questions of the test.
        try FileManager.default.moveItem(
            atPath: fleet.agent + "/credentials/ak.aside", toPath: fleet.agent + "/credentials/ak")
        let stored = Set(try fleet.track(around: start).map(\.time))
        #expect(first.taken.count >= 20 && second.taken.count >= 20)
        #expect(first.taken.union(second.taken).subtracting(stored) == [], "lost")
        #expect(try fleet.rows() == stored.count, "doubled")
        for box in [first, second] { box.close() }
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
    }

    @Test func theAgentSaysThatItsDiskIsInAnotherComputer() throws {
        let fleet = try Fleet()
        let server = try fleet.startServer()
        let agent = try fleet.startAgent()
        try waitUntil("online", within: 300) { try fleet.linkState() == "online" }
        #expect(try fleet.status()["on_another_computer"] as? Bool == false)
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        let file = fleet.state + "/computer.json"
        let note = try String(contentsOfFile: file, encoding: .utf8)
        let mark = String(try require(note.firstMatch(of: /[0-9a-f]{64}/), note).0)
        try fleet.edit(file, mark, to: String(repeating: "0", count: 64))

        let moved = try fleet.startAgent()
        #expect(moved.printed.contains("This disk was in another computer"), "\(moved.printed)")
        #expect(try fleet.status()["on_another_computer"] as? Bool == true)
        #expect(try fleet.saker(["status"]).all.contains("sudo saker image prepare"))
        try waitUntil("online with another stream", within: 300) { try fleet.linkState() == "online" }
        #expect(moved.end(SIGTERM) == 0, "\(moved.printed)")
        // The stream was left, and the note is that of this computer.
        let later = try fleet.startAgent()
        #expect(try fleet.status()["on_another_computer"] as? Bool == false)
        #expect(!later.printed.contains("another computer"), "\(later.printed)")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == note)
        #expect(later.end(SIGTERM) == 0, "\(later.printed)")
        server.end(SIGTERM)
    }
}
