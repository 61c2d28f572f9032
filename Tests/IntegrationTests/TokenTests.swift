import Foundation
import ProgramTestKit
import Testing

/// A vehicle whose private key was made in a token and never leaves it: SoftHSM behind PKCS#11.
@Suite(.serialized, .timeLimit(.minutes(60)), .needs(.softHSM, .pkcs11Tool))
struct TokenTests {
    @Test func aKeyInATokenLogsIn() throws {
        let fleet = try Fleet()
        let authority = try Authority(named: "fleet", in: fleet.directory.path)
        let token = try Token(in: fleet.directory.path)
        #expect(try token.listed().contains("never extractable"))
        try FileManager.default.copyItem(atPath: authority.certificate, toPath: fleet.server + "/fleet-ca.pem")
        try fleet.edit(fleet.server + "/server.toml", "\n[device]\n", to: "\n[device]\nclient_ca = \"fleet-ca.pem\"\n")
        try authority.sign(request: try token.request("van_07"))
            .write(toFile: fleet.agent + "/van.pem", atomically: true, encoding: .utf8)
        let pin = fleet.agent + "/credentials/token-pin"
        try writeSecret(Token.pin + "\n", to: pin)
        let file = fleet.agent + "/agent.toml"
        try fleet.edit(
            file, "[server]",
            to: """
                [server]
                client_certificate = "van.pem"
                client_key = "pkcs11:token=box;object=key;type=private"
                client_key_pin_file = "credentials/token-pin"
                client_key_module = "\(Token.module)"
                """)
        let server = try fleet.startServer()
        let agent = try fleet.startAgent(environment: token.environment)
        for round in 0..<3 {
            let before = try fleet.session()
            if round > 0 { _ = try fleet.saker(["reconnect"]) }
            try waitUntil("a login with the token's key", within: 300) {
                try fleet.linkState() == "online" && (round == 0 || fleet.session() != before)
            }
        }
        // Told to read everything again, it still has its key.
        agent.signal(SIGHUP)
        try waitUntil("the reload", within: 300) { agent.printed.contains("The configuration was read anew") }
        let session = try fleet.session()
        _ = try fleet.saker(["reconnect"])
        try waitUntil("a login after the reload", within: 300) {
            try fleet.linkState() == "online" && fleet.session() != session
        }
        let command = try String(contentsOfFile: "/proc/\(agent.identifier)/cmdline", encoding: .utf8)
        let printed = try Program.run(Built.path("sakerd"), ["--config", file, "--print-config"])
        for text in [agent.printed, command, printed.all] { #expect(!text.contains(Token.pin)) }
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")

        // Each thing that may be wrong is told as what it is, and no PIN with it.
        try refusal(fleet, token, "does not take the PIN in \(pin)") { try writeSecret("999999", to: pin) }
        // A service that is started again and again must not lock the token.
        try refusal(fleet, token, "has refused the PIN in \(pin) before") {}
        let note = try String(contentsOfFile: fleet.directory.file("state/refused-pin"), encoding: .utf8)
        #expect(note.contains("token=box") && !note.contains("999999"))
        try refusal(fleet, token, "the file of the PIN, \(pin), cannot be read") { unlink(pin) }
        try writeSecret(Token.pin, to: pin)
        try refusal(fleet, token, "no token that is plugged in has that name") {
            try fleet.edit(file, "token=box", to: "token=other")
        }
        try fleet.edit(file, "token=other", to: "token=box")
        try refusal(fleet, token, "it holds no such key") { try fleet.edit(file, "object=key", to: "object=none") }
        try fleet.edit(file, "object=none", to: "object=key")
        try refusal(fleet, token, "/nowhere/none.so, cannot be read") {
            try fleet.edit(file, Token.module, to: "/nowhere/none.so")
        }
        try refusal(fleet, token, "is none; give the token's shared library") {
            try fleet.edit(file, "/nowhere/none.so", to: fleet.agent + "/van.pem")
        }
        try fleet.edit(file, fleet.agent + "/van.pem\"", to: Token.module + "\"")
        try refusal(fleet, token, "shows its keys only to a PIN") {
            try fleet.edit(file, "client_key_pin_file", to: "# client_key_pin_file")
        }
        try fleet.edit(file, "type=private", to: "type=private?pin-value=\(Token.pin)")
        try configurationIsRefused(fleet, token, "client_key holds a PIN")
        server.end(SIGTERM)
    }

    /// The agent runs, says what is wrong in its journal and its status, and makes no connection.
    private func refusal(_ fleet: Fleet, _ token: Token, _ told: String, _ breakIt: () throws -> Void) throws {
        try breakIt()
        let agent = try fleet.startAgent(environment: token.environment)
        try waitUntil("the link says why", within: 300) {
            let link = try fleet.link()
            return link["last_error_cause"] as? String == "credentials_unusable"
                && (link["last_error"] as? String)?.contains(told) == true
        }
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        #expect(agent.printed.contains(told), "\(told): \(agent.printed)")
        #expect(!agent.printed.contains(Token.pin) && !agent.printed.contains("999999"), "\(agent.printed)")
    }

    /// A configuration that breaks a rule ends the agent.
    private func configurationIsRefused(_ fleet: Fleet, _ token: Token, _ told: String) throws {
        let agent = try Program(
            Built.path("sakerd"), ["--config", fleet.agent + "/agent.toml"], environment: token.environment)
        #expect(agent.end() == 1, "\(agent.printed)")
        #expect(agent.printed.contains(told) && !agent.printed.contains(Token.pin), "\(agent.printed)")
    }
}

/// A token named `box` in a directory of the test's, with a key named `key` that was made in it.
private struct Token {
    static let module = Need.softHSMModule
    static let pin = "735418"

    let environment: [String: String]
    private let directory: String

    init(in parent: String) throws {
        directory = parent + "/token"
        try FileManager.default.createDirectory(atPath: directory + "/tokens", withIntermediateDirectories: true)
        let configuration = directory + "/softhsm2.conf"
        try "directories.tokendir = \(directory)/tokens\nobjectstore.backend = file\n"
            .write(toFile: configuration, atomically: true, encoding: .utf8)
        environment = ["SOFTHSM2_CONF": configuration]
        try run([
            "softhsm2-util", "--init-token", "--free", "--label", "box", "--so-pin", "4711", "--pin", Self.pin,
        ])
        try run([
            "pkcs11-tool", "--module", Self.module, "--login", "--pin", Self.pin, "--token-label", "box",
            "--keypairgen", "--key-type", "EC:prime256v1", "--label", "key", "--id", "01",
        ])
    }

    /// What the token says of its key.
    func listed() throws -> String {
        try run([
            "pkcs11-tool", "--module", Self.module, "--login", "--pin", Self.pin, "--token-label", "box",
            "--list-objects", "--type", "privkey",
        ])
    }

    /// A certificate request that the token has signed.
    func request(_ name: String) throws -> String {
        let file = directory + "/van.csr"
        try Authority.openssl(
            [
                "req", "-new", "-engine", "pkcs11", "-keyform", "engine", "-key",
                "pkcs11:token=box;object=key;type=private;pin-value=\(Self.pin)", "-subj", "/CN=\(name)", "-out", file,
            ], environment: environment.merging(["PKCS11_MODULE_PATH": Self.module]) { $1 })
        return file
    }

    @discardableResult
    private func run(_ arguments: [String]) throws -> String {
        let done = try Program.run("/usr/bin/env", arguments, environment: environment)
        try require(done.status == 0, done.all)
        return done.output
    }
}
