import AgentRuntime
import ConfigurationFile
import Foundation
import HTTPExchange
import JSON
import ProgramTestKit
import SecureLink
import Terminal
import Testing

@testable import SakerCommand

/// One address goes through five hands: the server tells it, the claim reads it, `agent.toml` has it, the agent reads that,
/// and the renewal asks there. All of them must agree.
@Suite struct WebAddressTests {
    private static let good: [(String, String)] = [
        ("https://tracks.example.net:8443", "https://tracks.example.net:8443"),
        ("https://tracks.example.net", "https://tracks.example.net"),
        ("HTTPS://tracks.example.net:443/", "https://tracks.example.net"),
        ("https://tracks.example.net/api/v3", "https://tracks.example.net"),
        ("https://tracks.example.net:8443/saker//api/v3/", "https://tracks.example.net:8443/saker"),
        ("https://[2001:db8::7]:9", "https://[2001:db8::7]:9"), ("https://192.0.2.7:65535", "https://192.0.2.7:65535"),
        ("https://localhost:1", "https://localhost:1"),
    ]
    private static let bad = [
        "http://tracks.lan:8080", "http://localhost", "tracks.example.net", "https://", "https://host:99999",
        "https://host:0", "https://host:", "https://host:8x", "https://a b", "https://user@host", "https://host?x",
        "https://host#x", "https://[::1", "https://-host", "https://1.2.3", "https://host/\"x", "ftp://host", "x",
    ]

    private let directory: TemporaryDirectory
    private let certificate: String

    init() throws {
        directory = try TemporaryDirectory()
        let authority = try TestAuthority(in: directory.path)
        certificate = try authority.text(authority.certificate)
    }

    private func told(_ address: String) throws -> (address: String?, strange: String?) {
        var writer = JSONWriter()
        writer.value(
            .object([
                "status": "issued", "device": "0198c0de-0000-7000-8000-000000000001", "entity": "van", "service": 1,
                "host": "a", "port": 7443, "certificate": .string(certificate), "web_address": .string(address),
            ]))
        guard case .issued(let identity) = try EnrolmentAnswer(status: 200, body: writer.bytes, key: nil) else {
            throw Trouble("not issued")
        }
        return (identity.webAddress?.description, identity.strangeWebAddress)
    }

    private func write(_ address: String) throws -> String {
        let file = directory.path + "/agent.toml"
        try """
        [server]
        host = "a"
        client_certificate = "x.pem"
        client_key = "k"
        web_address = \(TOMLText.quoted(address))
        [service]
        id = 1
        entity = "van"
        """.write(toFile: file, atomically: true, encoding: .utf8)
        return file
    }

    @Test func allAgreeOnAnAddressThatCanBeUsed() throws {
        for (text, plain) in Self.good {
            let answer = try told(text)
            #expect(answer.address == plain && answer.strange == nil, "\(text)")
            let file = try write(plain)
            #expect(try AgentConfiguration.load(path: file, needsSecrets: false).server.webAddress == plain, "\(text)")
            #expect(try VehicleIdentity(configuration: file)?.webAddress?.description == plain, "\(text)")
            // What a person writes, the agent takes as the server's answer is taken.
            #expect(try AgentConfiguration.load(path: try write(text)).server.webAddress == plain, "\(text)")
        }
    }

    @Test func allAgreeOnAnAddressThatCannot() throws {
        for text in Self.bad {
            let answer = try told(text)
            #expect(answer.address == nil && answer.strange == text.printable, "\(text)")
            let file = try write(text)
            #expect(throws: ConfigurationError.self, "\(text)") {
                try AgentConfiguration.load(path: file, needsSecrets: false)
            }
            let identity = try #require(try VehicleIdentity(configuration: file))
            #expect(identity.webAddress == nil && identity.strangeWebAddress == text, "\(text)")
        }
    }
}
