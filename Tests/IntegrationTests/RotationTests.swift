import Foundation
import ProgramTestKit
import Testing

/// Certificates and keys that are replaced on disk while both programs run.
@Suite(.serialized, .timeLimit(.minutes(60))) struct RotationTests {
    private func online(_ fleet: Fleet) throws -> String {
        try waitUntil("online", within: 300) { try fleet.linkState() == "online" }
        return try #require(try fleet.session())
    }

    @Test func aVehiclesCertificateIsReplacedWithoutLosingTheSession() throws {
        let fleet = try Fleet()
        let old = try Authority(named: "old", in: fleet.directory.path)
        let new = try Authority(named: "new", in: fleet.directory.path)
        let served = fleet.server + "/fleet-ca.pem"
        try FileManager.default.copyItem(atPath: old.certificate, toPath: served)
        try fleet.edit(fleet.server + "/server.toml", "\n[device]\n", to: "\n[device]\nclient_ca = \"fleet-ca.pem\"\n")
        let (certificate, key) = (fleet.agent + "/van.pem", fleet.agent + "/van.key")
        let first = try old.issue("van_07")
        try writeSecret(first.certificate, to: certificate)
        try writeSecret(first.key, to: key)
        try fleet.edit(
            fleet.agent + "/agent.toml", "[server]",
            to: "[server]\nclient_certificate = \"van.pem\"\nclient_key = \"van.key\"")
        let server = try fleet.startServer()
        let agent = try fleet.startAgent()
        let session = try online(fleet)

        // Half a pair is refused, and said; nothing happens to what stands.
        let second = try new.issue("van_07")
        try writeSecret(second.key, to: key)
        try waitUntil("the half pair is refused", within: 300) {
            agent.printed.contains("Certificates are refused, and the former ones stay in use")
        }
        #expect(agent.printed.contains("van.key"), "\(agent.printed)")
        try writeSecret(String(second.certificate.dropLast(200)), to: certificate)
        // The whole one is taken, and the session goes on.
        try writeSecret(second.certificate, to: certificate)
        try waitUntil("the new pair is taken", within: 300) {
            agent.printed.contains("Certificates were read anew, and the next connection uses them")
        }
        #expect(try fleet.session() == session)

        // The server takes another authority by itself, and its sessions go on too.
        try FileManager.default.removeItem(atPath: served)
        try FileManager.default.copyItem(atPath: new.certificate, toPath: served)
        try waitUntil("the server's reload", within: 300) { server.printed.contains("Certificates were read anew") }
        #expect(try fleet.session() == session)
        #expect(try fleet.saker(["reconnect"]).status == 0)
        try waitUntil("a session with the new certificate", within: 300) {
            try fleet.linkState() == "online" && fleet.session() != session
        }

        // With the old pair it gets in no more, and with the new one at once: no five minutes are waited.
        try writeSecret(first.key, to: key)
        try writeSecret(first.certificate, to: certificate)
        try waitUntil("the old pair is read", within: 300) {
            agent.printed.components(separatedBy: "Certificates were read anew").count > 2
        }
        #expect(try fleet.saker(["reconnect"]).status == 0)
        try waitUntil("the old certificate is refused", within: 300) { try fleet.linkState() == "refused" }
        #expect(try fleet.link()["last_error_cause"] as? String == "client_certificate_refused")
        try writeSecret(second.key, to: key)
        try writeSecret(second.certificate, to: certificate)
        _ = try online(fleet)
        #expect(!agent.printed.contains("PRIVATE KEY"))
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
    }

    @Test func theServersCertificateIsReplacedOnBothPortsWithoutASignal() throws {
        let fleet = try Fleet()
        let server = try fleet.startServer()
        let agent = try fleet.startAgent()
        let session = try online(fleet)
        func shown(_ port: Int) throws -> String {
            let script = """
                openssl s_client -connect 127.0.0.1:\(port) -alpn saker/1,http/1.1 </dev/null 2>/dev/null \
                | openssl x509 -noout -serial
                """
            return try Program.run("/bin/sh", ["-c", script]).output
        }
        let before = try [shown(fleet.devicePort), shown(fleet.webPort)]
        #expect(before[0] == before[1] && before[0].hasPrefix("serial="))

        // A key that is not the certificate's.
        let key = fleet.server + "/server-key.pem"
        let rightKey = try String(contentsOfFile: key, encoding: .utf8)
        try writeSecret(try Authority(named: "stranger", in: fleet.directory.path).issue("x").key, to: key)
        try waitUntil("the wrong key is refused", within: 300) {
            server.printed.contains("the certificates are refused; the old ones stay in use")
        }
        #expect(try [shown(fleet.devicePort), shown(fleet.webPort)] == before)
        try writeSecret(rightKey, to: key)

        let renewed = try Program.run(
            Built.path("saker-server"), ["certificate", "renew", "--config", fleet.server + "/server.toml"])
        #expect(renewed.status == 0, "\(renewed.all)")
        try waitUntil("both ports show the new one", within: 300) {
            let now = try [shown(fleet.devicePort), shown(fleet.webPort)]
            return now[0] == now[1] && now[0] != before[0] && now[0].hasPrefix("serial=")
        }
        #expect(try fleet.session() == session)
        _ = try fleet.saker(["reconnect"])
        try waitUntil("a session with the new certificate", within: 300) {
            try fleet.linkState() == "online" && fleet.session() != session
        }
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
    }
}
