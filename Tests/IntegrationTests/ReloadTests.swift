import Foundation
import ProgramTestKit
import Testing

/// What a running agent takes from outside: a configuration read again, and commands to connect.
@Suite(.serialized, .timeLimit(.minutes(60))) struct ReloadTests {
    private func count(_ text: String, in program: Program) -> Int {
        program.printed.components(separatedBy: text).count - 1
    }

    @Test func aReloadAppliesWhatItCanAndKeepsTheSession() throws {
        let fleet = try Fleet()
        let server = try fleet.startServer()
        let agent = try fleet.startAgent()
        let file = fleet.agent + "/agent.toml"
        try waitUntil("online", within: 300) { try fleet.linkState() == "online" }
        let session = try #require(try fleet.session())
        func reload(_ told: String) throws {
            let before = count(told, in: agent)
            agent.signal(SIGHUP)
            try waitUntil("the reload: \(told)", within: 300) { count(told, in: agent) > before }
        }

        // A broken one is refused with its reason, whatever is broken: a key, a value, a certificate.
        let right = try String(contentsOfFile: file, encoding: .utf8)
        for (text, broken, told) in [
            ("[gnss]", "[gnss]\nprot = 1", "prot"), ("[cache]", "[cache]\nsync_interval = -1", "sync_interval"),
            ("ca_file = \"", "ca_file = \"/nowhere/", "/nowhere/"),
        ] {
            try fleet.edit(file, text, to: broken)
            try reload("The configuration is refused, and the old one stays in force")
            #expect(agent.printed.contains(told), "\(agent.printed)")
            try right.write(toFile: file, atomically: true, encoding: .utf8)
        }
        #expect(try fleet.session() == session)

        // Nothing new: nothing happens.
        try reload("needs_restart=nothing")
        #expect(try fleet.session() == session)

        // What can change while it runs.
        let port = try freePort()
        try fleet.edit(file, "port = \(fleet.gpsdPort)", to: "port = \(port)\nkeep_open = true")
        try fleet.edit(file, "[cache]", to: "[cache]\nsync_interval = 5\nlimit = 8388608")
        try fleet.edit(file, "[control]", to: "[log]\nlevel = \"debug\"\n\n[control]")
        try reload("needs_restart=nothing")
        #expect(try (fleet.status()["feed"] as? [String: Any])?["source"] as? String == "127.0.0.1:\(port)")
        // The limit that was remembered goes before the configuration's.
        #expect(try (fleet.status()["cache"] as? [String: Any])?["limit"] as? Int == 268_435_456)
        #expect(try fleet.session() == session)

        // What cannot.
        try fleet.edit(file, fleet.socket, to: fleet.socket + ".new")
        try fleet.edit(file, fleet.cache, to: fleet.cache + ".new")
        try fleet.edit(file, "entity = \"\(fleet.entity)\"", to: "entity = \"other\"")
        let before = count("needs_restart=", in: agent)
        agent.signal(SIGHUP)
        try waitUntil("the reload", within: 300) { count("needs_restart=", in: agent) > before }
        for key in ["cache.directory", "control.socket", "service.entity"] {
            #expect(agent.printed.contains(key), "\(key): \(agent.printed)")
        }
        #expect(try fleet.session() == session)

        // Another way to log in is another session.
        try right.replacingOccurrences(of: "[service]", with: "minimum_tls = \"1.2\"\n\n[service]")
            .write(toFile: file, atomically: true, encoding: .utf8)
        agent.signal(SIGHUP)
        try waitUntil("another session", within: 300) {
            try fleet.linkState() == "online" && fleet.session() != session
        }
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        server.end(SIGTERM)
    }

    @Test func aSignalAndAPersonConnectAnew() throws {
        let fleet = try Fleet()
        let server = try fleet.startServer()
        let agent = try fleet.startAgent()
        try waitUntil("online", within: 300) { try fleet.linkState() == "online" }
        for command in [{ agent.signal(SIGUSR1) }, { _ = try? fleet.saker(["reconnect"]) }] {
            let session = try fleet.session()
            command()
            try waitUntil("another session", within: 300) {
                try fleet.linkState() == "online" && fleet.session() != session
            }
        }
        // In a wait too: the server is gone for so many tries that the next one is far away.
        server.end(SIGTERM)
        for _ in 0..<5 {
            let before = try #require(try fleet.link()["attempts"] as? Int)
            agent.signal(SIGUSR1)
            try waitUntil("another attempt", within: 300) { (try fleet.link()["attempts"] as? Int ?? 0) > before }
        }
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
    }

    /// A certificate that nobody trusts is waited out for five minutes, unless another network comes: a proxy that answers
    /// in the server's place belongs to the one before.
    @Test(.needs(.networkNamespaces))
    func aChangeOfNetworkEndsAWaitForATrustedServer() throws {
        let link = try PacketLink(seed: 11)
        let fleet = try Fleet(link: link)
        let stranger = try Authority(named: "Intercepting proxy", in: fleet.directory.path)
        let authority = fleet.agent + "/ca.pem"
        let right = try String(contentsOfFile: authority, encoding: .utf8)
        try String(contentsOfFile: stranger.certificate, encoding: .utf8)
            .write(toFile: authority, atomically: true, encoding: .utf8)
        let server = try fleet.startServer()
        let agent = try fleet.startAgent()
        try waitUntil("the server is not trusted", within: 300) { try fleet.linkState() == "refused" }
        #expect(try fleet.link()["last_error_cause"] as? String == "certificate_untrusted")
        let attempts = try #require(try fleet.link()["attempts"] as? Int)
        try link.set(.down)
        try link.heal()
        try waitUntil("another attempt", within: 300) { (try fleet.link()["attempts"] as? Int ?? 0) > attempts }
        // And the right authority ends it without any doing.
        try waitUntil("refused again", within: 300) { try fleet.linkState() == "refused" }
        try right.write(toFile: authority, atomically: true, encoding: .utf8)
        try waitUntil("online", within: 300) { try fleet.linkState() == "online" }
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        server.end(SIGTERM)
    }
}
