import Foundation
import ProgramTestKit
import Testing

/// The real server's web port under attack by scripts/web-attack, which is bounded: whoever asks meanwhile is answered, and
/// the server's memory has its bounds.
@Suite(.serialized, .timeLimit(.minutes(60))) struct WebAttackTests {
    private let fleet: Fleet
    private let port: Int

    init() throws {
        fleet = try Fleet()
        port = try freePort()
        let path = fleet.server + "/server.toml"
        var text = try String(contentsOfFile: path, encoding: .utf8)
        for (old, new) in [
            ("http_port = 0", "http_port = \(port)"), ("# timeout = 30", "timeout = 2"),
            ("# bytes_without_key = 67108864", "bytes_without_key = 16777216"),
        ] {
            try #require(text.contains(old), "\(path) does not hold \(old)")
            text = text.replacing(old, with: new, maxReplacements: 1)
        }
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    private func attack(_ arguments: String...) throws -> [String: Any] {
        let run = try Program.run(
            "/usr/bin/env", ["python3", "\(Self.root)/scripts/web-attack"] + arguments)
        try #require(run.status == 0, "\(run.all)")
        return try #require(
            try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any], "\(run.all)")
    }

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    private func wasAnswered(_ client: Any?) -> Bool { (client as? [String: Any])?["answered"] as? Bool == true }

    @Test func silentConnectionsKeepNobodyWaiting() throws {
        let server = try fleet.startServer()
        let told = try attack("silent", "\(port)", "\(server.identifier)", "200")
        #expect(wasAnswered(told["other"]) && wasAnswered(told["same"]), "\(told)")
        #expect(told["ended"] as? Int == 200, "\(told)")
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
    }

    /// 100 times 2 MiB, of which 16 MiB may be held.
    @Test func halfSentBodiesShareTheirBudget() throws {
        let server = try fleet.startServer()
        let told = try attack("bodies", "\(port)", "\(server.identifier)", "100", "\(2 << 20)")
        #expect(wasAnswered(told["other"]), "\(told)")
        #expect(try #require(told["growth"] as? Int) < 100 << 20, "\(told)")
        #expect(try #require(told["refused"] as? Int) > 50, "\(told)")
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
    }

    @Test func whoTakesNoAnswersIsCutOff() throws {
        let server = try fleet.startServer()
        let told = try attack("pipeline", "\(port)", "\(server.identifier)", "50")
        #expect(wasAnswered(told["other"]), "\(told)")
        #expect(told["ended"] as? Int == 50, "\(told)")
        #expect(try #require(told["growth"] as? Int) < 100 << 20, "\(told)")
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
    }

    @Test func aCapturedAddressWithABodyOpensNothing() throws {
        let made = try Program.run(
            Built.path("saker-server"),
            ["service", "create", "signed", "--signed", "--config", fleet.server + "/server.toml"])
        try #require(made.status == 0, "\(made.all)")
        let key = try #require(made.output.firstMatch(of: /\(ak\): (\S+)/)?.1)
        let secret = try #require(made.output.firstMatch(of: /\(sk\): (\S+)/)?.1)
        let service = try #require(made.output.firstMatch(of: /Service (\d+)/)?.1)
        let server = try fleet.startServer()
        let told = try attack("signed", "\(port)", String(key), String(secret), String(service))
        #expect(told["added"] as? Int == 0 && told["own"] as? Int == 0, "\(told)")
        #expect((told["replayed"] as? [Int])?.allSatisfy { $0 == 211 } == true, "\(told)")
        #expect(told["query"] as? Int == 211, "\(told)")
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
    }
}
