import Foundation
import ProgramTestKit
import Testing

/// Somebody else answers at the server's port, as networks with sign-in pages, proxies and firewalls have it: the real agent
/// names it, in its status, its log and through the doctor.
@Suite(.serialized, .timeLimit(.minutes(60)), .needs(.python)) struct StrangerTests {
    struct Stranger: CustomTestStringConvertible, Sendable {
        /// What `peer` does.
        let manner: String
        let cause: String
        /// Of the reason in status and log, and of the doctor's remedy.
        let told: String
        let remedy: String

        var testDescription: String { manner }
    }

    static let strangers = [
        Stranger(
            manner: "redirect", cause: "sign_in_page", told: "302 to http://login.example/hotspot", remedy: "Sign in"),
        Stranger(manner: "http", cause: "plain_http", told: "HTTP/1.1 400", remedy: "web port"),
        Stranger(manner: "reset", cause: "handshake_cut", told: "when TLS began", remedy: "firewall or proxy"),
        Stranger(
            manner: "silent", cause: "handshake_timeout", told: "then said nothing",
            remedy: "smaller MTU of the network device (1280)"),
        Stranger(
            manner: "proxy", cause: "certificate_untrusted", told: "CN = Inspecting Proxy CA",
            remedy: "proxy on the way"),
        Stranger(manner: "portal", cause: "foreign_server", told: "DNS:login.example", remedy: "sign-in page"),
        Stranger(manner: "other", cause: "certificate_wrong_name", told: "DNS:other.example", remedy: "server_name"),
        Stranger(manner: "http over tls", cause: "alpn_mismatch", told: "saker/1", remedy: "undecrypted"),
    ]

    @Test(arguments: strangers) func eachStrangerIsNamed(_ stranger: Stranger) throws {
        let fleet = try Fleet()
        let identity = try certificate(stranger.manner, fleet)
        let peer = try Program(
            "/usr/bin/env",
            [
                "python3", "-c", Self.peer, "\(fleet.devicePort)", stranger.manner, identity?.certificate ?? "",
                identity?.key ?? "",
            ])
        try waitUntil("the stranger listens", within: 300) {
            try require(peer.isRunning, peer.printed)
            return peer.output.contains("ready")
        }
        let agent = try fleet.startAgent()
        try waitUntil("the stranger is recognised", within: 300) {
            try fleet.link()["last_error_cause"] as? String == stranger.cause
        }
        let reason = try #require(try fleet.link()["last_error"] as? String)
        #expect(reason.contains(stranger.told), "\(reason)")
        #expect(!reason.contains("mac="), "\(reason)")
        #expect(agent.printed.contains(stranger.told), "\(agent.printed)")
        let visit = try fleet.saker(["doctor", "--config", fleet.agent + "/agent.toml", "--json"])
        let checks = try #require(
            (try JSONSerialization.jsonObject(with: Data(visit.output.utf8)) as? [String: Any])?["checks"]
                as? [[String: String]])
        let tls = try #require(checks.first { $0["name"] == "tls" })
        #expect(tls["verdict"] == "failed" && tls["found"]?.contains(stranger.told) == true, "\(tls)")
        #expect(tls["remedy"]?.contains(stranger.remedy) == true, "\(tls)")
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        peer.end(SIGKILL)
    }

    /// Certificate and key files of a stranger that speaks TLS.
    private func certificate(_ manner: String, _ fleet: Fleet) throws -> (certificate: String, key: String)? {
        let folder = fleet.directory.path
        switch manner {
        case "proxy":
            return try Authority(named: "Inspecting Proxy CA", in: folder).serve("IP:127.0.0.1")
        case "portal": return try Authority(named: "Hotspot CA", in: folder).serve("DNS:login.example")
        case "other", "http over tls":
            // Of the fleet's own authority: the server's key is at hand.
            let own = Authority(
                certificate: fleet.server + "/ca.pem", key: fleet.server + "/ca-key.pem", directory: folder)
            return try own.serve(manner == "other" ? "DNS:other.example" : "IP:127.0.0.1")
        default: return nil
        }
    }

    /// Answers each connection in its manner, once something has been said.
    private static let peer = """
        import socket, ssl, struct, sys, threading
        port, manner, certificate, key = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
        answers = {
            "redirect": b"HTTP/1.1 302 Found\\r\\nLocation: http://login.example/hotspot?mac=001122\\r\\n\\r\\n",
            "http": b"HTTP/1.1 400 Bad Request\\r\\nConnection: close\\r\\n\\r\\n",
        }
        context = None
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            context.set_alpn_protocols(["http/1.1"] if manner == "http over tls" else ["saker/1"])
        def serve(connection):
            try:
                if context:
                    context.wrap_socket(connection, server_side=True).recv(1)
                    return
                connection.recv(4096)
                if manner in answers:
                    connection.sendall(answers[manner])
                elif manner == "reset":
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    connection.close()
                else:
                    connection.recv(4096)
            except OSError:
                pass
        listener = socket.create_server(("127.0.0.1", port))
        print("ready", flush=True)
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        """
}
