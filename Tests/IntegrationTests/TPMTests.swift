import Foundation
import ProgramTestKit
import Testing

/// A vehicle whose key is in a TPM: swtpm, which is a whole TPM 2.0 in software, under the real provider of OpenSSL.
@Suite(.serialized, .timeLimit(.minutes(60))) struct TPMTests {
    /// A TPM that begins with nothing, and where its clients find it.
    private func startTPM(_ fleet: Fleet) throws -> (Program, [String: String]) {
        let state = fleet.directory.file("tpm")
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        // Its clients expect the control channel one port above.
        var port = try freePort()
        for _ in 0..<100 where isListening(port + 1) { port = try freePort() }
        let program = try Program(
            "/usr/bin/env",
            [
                "swtpm", "socket", "--tpm2", "--tpmstate", "dir=\(state)", "--ctrl", "type=tcp,port=\(port + 1)",
                "--server", "type=tcp,port=\(port)", "--flags", "not-need-init,startup-clear",
            ])
        // A look at the command port would be its one connection.
        try waitUntil("the TPM", within: 300) {
            try require(program.isRunning, "\(program.printed)")
            return isListening(port + 1)
        }
        return (program, ["TPM2OPENSSL_TCTI": "swtpm:host=127.0.0.1,port=\(port)", "TSS2_LOG": "all+NONE"])
    }

    @Test(.needs(.swtpm, .tpmProvider)) func aVehicleEnrolsWithAKeyOfItsTPMAndLogsInWithIt() throws {
        let fleet = try Fleet()
        let server = try fleet.startServer()
        let (tpm, environment) = try startTPM(fleet)
        let file = fleet.agent + "/agent.toml"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let tables = "\n" + text[try require(text.range(of: "[gnss]"), "no [gnss]").lowerBound...]
        let created = try Program.run(
            Built.path("saker-server"), ["token", "create", "--config", fleet.server + "/server.toml", "1"])
        let line = try require(created.output.split(separator: "\n").first { $0.hasPrefix("saker2:") }, created.all)
        let enrolled = try Program.run(
            Built.path("saker"),
            ["enroll", "-", "--directory", fleet.agent, "--force", "--entity", fleet.entity, "--key", "tpm"],
            environment: environment, input: line + "\n")
        try require(enrolled.status == 0, "\(enrolled.all)")
        let key = try String(contentsOfFile: fleet.agent + "/device-key.tpm", encoding: .utf8)
        #expect(key.hasPrefix("-----BEGIN TSS2 PRIVATE KEY-----"), "\(key)")
        #expect(!FileManager.default.fileExists(atPath: fleet.agent + "/credentials/device-key"))
        try (String(contentsOfFile: file, encoding: .utf8) + tables).write(
            toFile: file, atomically: true, encoding: .utf8)
        let agent = try fleet.startAgent(environment: environment)
        for round in 0..<2 {
            let before = try fleet.session()
            if round > 0 { _ = try fleet.saker(["reconnect"]) }
            try waitUntil("a login with the TPM's key", within: 300) {
                try fleet.linkState() == "online" && (round == 0 || fleet.session() != before)
            }
        }
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        // The file alone opens nothing: another TPM has another key above it. A TPM loses its power, it does not end in order: swtpm
        // does not heed SIGTERM when a client has left it.
        tpm.end(SIGKILL)
        try FileManager.default.removeItem(atPath: fleet.directory.file("tpm"))
        let (other, elsewhere) = try startTPM(fleet)
        let thief = try fleet.startAgent(environment: elsewhere)
        try waitUntil("no connection", within: 300) {
            try fleet.link()["last_error_cause"] as? String == "credentials_unusable"
        }
        #expect(thief.end(SIGTERM) == 0, "\(thief.printed)")
        other.end(SIGKILL)
        server.end(SIGTERM)
    }

    @Test(.needs(.tpmProvider)) func withoutATPMNothingIsWrittenAndThePersonIsToldWhy() throws {
        let fleet = try Fleet()
        let server = try fleet.startServer()
        let created = try Program.run(
            Built.path("saker-server"), ["token", "create", "--config", fleet.server + "/server.toml", "1"])
        let line = try require(created.output.split(separator: "\n").first { $0.hasPrefix("saker2:") }, created.all)
        let place = fleet.directory.file("fresh")
        let refused = try Program.run(
            Built.path("saker"), ["enroll", "-", "--directory", place, "--key", "tpm"],
            environment: ["TPM2OPENSSL_TCTI": "device:\(fleet.directory.file("no-tpm"))", "TSS2_LOG": "all+NONE"],
            input: line + "\n")
        #expect(refused.status == 1 && refused.all.contains("--key file"), "\(refused.all)")
        #expect(!FileManager.default.fileExists(atPath: place + "/device-key.tpm"))
        server.end(SIGTERM)
    }
}
