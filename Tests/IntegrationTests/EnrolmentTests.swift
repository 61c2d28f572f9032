import Foundation
import ProgramTestKit
import Testing

/// Vehicles that claim, keep and renew an identity of their own, with the real programs.
@Suite(.serialized, .timeLimit(.minutes(60))) struct EnrolmentTests {
    /// Runs `saker-server` with arguments for the fleet's server, and returns what it printed.
    private func server(_ fleet: Fleet, _ words: String...) throws -> String {
        let done = try Program.run(
            Built.path("saker-server"),
            Array(words.prefix(2)) + ["--config", fleet.server + "/server.toml"] + words.dropFirst(2))
        try require(done.status == 0, "\(done.all)")
        return done.output
    }

    /// The line that a person gives to a vehicle.
    private func line(_ fleet: Fleet, _ options: String...) throws -> String {
        let printed = try Program.run(
            Built.path("saker-server"),
            ["token", "create", "--config", fleet.server + "/server.toml", "1", "--uses", "5"] + options)
        try require(printed.status == 0, "\(printed.all)")
        return try require(
            printed.output.split(separator: "\n").first { $0.hasPrefix("saker2:") }.map(String.init), printed.output)
    }

    /// The tables of the test's agent, which an enrolment does not know.
    private func tables(_ fleet: Fleet) throws -> String {
        let text = try String(contentsOfFile: fleet.agent + "/agent.toml", encoding: .utf8)
        return "\n" + text[try require(text.range(of: "[gnss]"), "no [gnss]").lowerBound...]
    }

    private func enroll(
        _ fleet: Fleet, _ line: String, _ options: String...
    ) throws -> (status: Int32, output: String, all: String) {
        let tables = try tables(fleet)
        let done = try Program.run(
            Built.path("saker"), ["enroll", "-", "--directory", fleet.agent, "--force"] + options, input: line + "\n")
        if done.status == 0 {
            let file = fleet.agent + "/agent.toml"
            try (String(contentsOfFile: file, encoding: .utf8) + tables)
                .write(toFile: file, atomically: true, encoding: .utf8)
        }
        return done
    }

    private func renew(_ fleet: Fleet, _ options: String...) throws -> (status: Int32, output: String, all: String) {
        try Program.run(Built.path("saker"), ["renew", "--config", fleet.agent + "/agent.toml"] + options)
    }

    private func certificate(_ fleet: Fleet) throws -> String {
        try String(contentsOfFile: fleet.agent + "/device.pem", encoding: .utf8)
    }

    /// The number of the device, as the list has it.
    private func device(_ fleet: Fleet) throws -> String {
        let client = try String(contentsOfFile: fleet.agent + "/client.toml", encoding: .utf8)
        return String(try require(client.firstMatch(of: /\nid = "([0-9a-f-]{36})"/), client).1)
    }

    @Test(.needs(.gpsd)) func aVehicleWithATokenIsTrackedAndItsPointsArrive() throws {
        let fleet = try Fleet()
        let running = try fleet.startServer()
        let token = try line(fleet)
        #expect(token.count <= 200, "\(token.count)")
        let enrolled = try enroll(fleet, token, "--entity", "van_42")
        try require(enrolled.status == 0, "\(enrolled.all)")
        #expect(!FileManager.default.fileExists(atPath: fleet.agent + "/credentials/ak"))
        let check = try Program.run(Built.path("sakerd"), ["--config", fleet.agent + "/agent.toml", "--check"])
        #expect(check.status == 0, "\(check.all)")

        let start = Int(Date().timeIntervalSince1970) - 600
        let source = try ReceiverSource(epochs: ReceiverSource.drive(seconds: 900, from: start), pause: 0.02)
        let gpsd = try fleet.startGPSD(source: source.address)
        let agent = try fleet.startAgent()
        source.resume()
        try waitUntil("points are acknowledged", within: 300) { try fleet.counter("acknowledged") > 3 }
        let latest = try fleet.saker(["track", "latest", "van_42"])
        #expect(latest.status == 0 && latest.output.contains("van_42"), "\(latest.all)")
        #expect(try server(fleet, "device", "list").contains("van_42"))
        let doctor = try fleet.saker(["doctor", "--config", fleet.agent + "/agent.toml"])
        #expect(doctor.output.contains("is renewed from"), "\(doctor.all)")

        // The same key and line again: the same device, and no use of the token.
        let before = try device(fleet)
        let again = try enroll(fleet, token, "--entity", "van_42")
        #expect(again.status == 0, "\(again.all)")
        #expect(try device(fleet) == before)
        for program in [agent, running] { program.end(SIGTERM) }
        gpsd.end(SIGKILL)
        source.end()
        for text in [agent.printed, running.printed, enrolled.all] {
            #expect(!text.contains("et_") && !text.contains("PRIVATE KEY"))
        }
    }

    /// What a person told the vehicle of before does not hold for the new one.
    @Test(.needs(.gpsd)) func aVehicleThatIsEnrolledAnewIsAnotherOneAndRuns() throws {
        let fleet = try Fleet()
        let running = try fleet.startServer()
        let first = try fleet.startAgent()
        try waitUntil("online", within: 300) { try fleet.linkState() == "online" }
        _ = try fleet.saker(["service", "stop"])
        _ = try fleet.saker(["service", "start", "--entity", "bus_1"])
        _ = try fleet.saker(["service", "stop"])
        #expect(first.end(SIGTERM) == 0, "\(first.printed)")
        func service() throws -> [String: Any] {
            try require(try fleet.status()["service"] as? [String: Any], "no service")
        }
        // Without an enrolment it stays as it was told.
        let still = try fleet.startAgent()
        #expect(try service()["state"] as? String == "stopped")
        #expect(still.end(SIGTERM) == 0, "\(still.printed)")

        let enrolled = try enroll(fleet, try line(fleet), "--entity", "van_42")
        try require(enrolled.status == 0, "\(enrolled.all)")
        for _ in 0..<2 {
            let agent = try fleet.startAgent()
            try waitUntil("online as the new one", within: 300) {
                try fleet.linkState() == "online" && service()["entity"] as? String == "van_42"
            }
            #expect((try fleet.status()["gather"] as? [String: Any])?["state"] as? String != "stopped")
            #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        }
        running.end(SIGTERM)
    }

    @Test func aPersonApprovesAndRevokes() throws {
        let fleet = try Fleet()
        let running = try fleet.startServer()
        let token = try line(fleet, "--approve", "ask", "--name", "truck-{serial}")
        let waiting = try enroll(fleet, token, "--serial", "SN7", "--no-wait")
        #expect(waiting.status == 1 && waiting.all.contains("saker-server device approve"), "\(waiting.all)")
        let number = String(
            try require(waiting.all.firstMatch(of: /device approve ([0-9a-f]{8})/), waiting.all).1)
        _ = try server(fleet, "device", "approve", number)
        let approved = try enroll(fleet, token, "--serial", "SN7")
        try require(approved.status == 0, "\(approved.all)")
        #expect(approved.output.contains("truck-SN7"))
        #expect(try device(fleet).hasPrefix(number))
        let agent = try fleet.startAgent()
        try waitUntil("online", within: 300) { try fleet.linkState() == "online" }

        _ = try server(fleet, "device", "revoke", number)
        try waitUntil("the refusal", within: 300) { try fleet.link()["last_error_cause"] as? String == "revoked" }
        let shutOut = try enroll(fleet, token, "--serial", "SN7")
        #expect(shutOut.status == 1 && shutOut.all.contains("device_revoked"), "\(shutOut.all)")
        let stale = try renew(fleet, "--force")
        #expect(stale.status == 1 && stale.all.contains("device_revoked"), "\(stale.all)")
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        running.end(SIGTERM)
    }

    @Test func theAgentTakesARenewedCertificateWithoutARestart() throws {
        let fleet = try Fleet()
        let running = try fleet.startServer()
        let enrolled = try enroll(fleet, try line(fleet), "--entity", fleet.entity)
        try require(enrolled.status == 0, "\(enrolled.all)")
        let agent = try fleet.startAgent()
        try waitUntil("online", within: 300) { try fleet.linkState() == "online" }
        let before = try certificate(fleet)
        let early = try renew(fleet)
        #expect(early.status == 0 && early.output.contains("It is renewed from"), "\(early.all)")
        #expect(try certificate(fleet) == before)
        let hurried = try renew(fleet, "--force")
        #expect(hurried.status == 1 && hurried.all.contains("too_many"), "\(hurried.all)")
        try forgetWhenIssued(fleet)
        let renewed = try renew(fleet, "--force")
        try require(renewed.status == 0, "\(renewed.all)")
        #expect(try certificate(fleet) != before)
        try waitUntil("the agent takes it", within: 300) { agent.printed.contains("Certificates were read anew") }
        let session = try fleet.session()
        _ = try fleet.saker(["reconnect"])
        try waitUntil("a login with it", within: 300) {
            try fleet.linkState() == "online" && fleet.session() != session
        }
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        running.end(SIGTERM)
    }

    /// A truck from a winter store: its certificate ended while it slept.
    @Test func aCertificateThatEndedIsRenewedAndTheVehicleComesBack() throws {
        let fleet = try Fleet()
        let running = try fleet.startServer()
        let enrolled = try enroll(fleet, try line(fleet), "--entity", fleet.entity)
        try require(enrolled.status == 0, "\(enrolled.all)")
        try endCertificate(fleet, days: 30)
        let agent = try fleet.startAgent()
        try waitUntil("the refusal", within: 300) { try fleet.linkState() == "refused" }
        let doctor = try fleet.saker(["doctor", "--config", fleet.agent + "/agent.toml"])
        #expect(doctor.output.contains("ended 30 days ago"), "\(doctor.all)")
        let renewed = try renew(fleet, "--quiet")
        #expect(renewed.status == 0, "\(renewed.all)")
        try waitUntil("online by itself", within: 300) { try fleet.linkState() == "online" }
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")

        try endCertificate(fleet, days: 100)
        let tooLate = try renew(fleet)
        #expect(tooLate.status == 1 && tooLate.all.contains("(ended)"), "\(tooLate.all)")
        running.end(SIGTERM)
    }

    /// A server gives one device one certificate in ten minutes. These are over. `endedDays`: and so long ago the last one
    /// ended, as the server knows.
    private func forgetWhenIssued(_ fleet: Fleet, endedDays: Int? = nil) throws {
        let end = endedDays.map { ", certificate_end = \(Int(Date().timeIntervalSince1970) * 1000 - $0 * 86_400_000)" }
        let script = """
            import glob, sqlite3, sys
            path, = glob.glob(sys.argv[1] + "/*.sqlite")
            store = sqlite3.connect(path, timeout=60)
            store.execute("UPDATE device SET issued = issued - 3600000\(end ?? "")")
            store.commit()
            """
        let done = try Program.run("/usr/bin/env", ["python3", "-c", script, fleet.server])
        try require(done.status == 0, done.all)
    }

    /// Puts a certificate of the server's authority for the same device and key in the place of the present one, which ended
    /// so many days ago.
    private func endCertificate(_ fleet: Fleet, days: Int) throws {
        let folder = fleet.directory.file("ended-\(days)")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try """
        [ca]
        default_ca = ours
        [ours]
        database = \(folder)/index
        new_certs_dir = \(folder)
        rand_serial = yes
        default_md = sha256
        policy = any
        [any]
        commonName = optional
        [leaf]
        basicConstraints = critical, CA:FALSE
        extendedKeyUsage = clientAuth
        subjectAltName = URI:saker:device:\(try device(fleet))
        """.write(toFile: folder + "/config", atomically: true, encoding: .utf8)
        try "".write(toFile: folder + "/index", atomically: true, encoding: .utf8)
        func time(_ daysAgo: Int) -> String {
            Date(timeIntervalSinceNow: -Double(daysAgo) * 86_400)
                .formatted(.iso8601.timeSeparator(.omitted).dateSeparator(.omitted)).replacing("T", with: "")
        }
        let (request, made) = (folder + "/request", folder + "/ended.pem")
        try Authority.openssl([
            "req", "-new", "-key", fleet.agent + "/credentials/device-key", "-subj", "/CN=device", "-out", request,
        ])
        try Authority.openssl([
            "ca", "-batch", "-notext", "-config", folder + "/config", "-extensions", "leaf", "-cert",
            fleet.server + "/device-ca.pem", "-keyfile", fleet.server + "/device-ca-key.pem", "-startdate",
            time(days + 300), "-enddate", time(days), "-in", request, "-out", made,
        ])
        try String(contentsOfFile: made, encoding: .utf8)
            .write(toFile: fleet.agent + "/device.pem", atomically: true, encoding: .utf8)
        try forgetWhenIssued(fleet, endedDays: days)
    }
}
