import ConfigurationFile
import JSON
import ProgramTestKit
import SecureLink
import Terminal
import Testing

@testable import SakerCommand

@Suite struct EnrolmentAnswerTests {
    private static let device = "0198C0DE-0000-7000-8000-000000000001"
    private let certificate: String
    private let key: PublicKeyPin

    init() throws {
        let directory = try TemporaryDirectory()
        let authority = try TestAuthority(in: directory.path)
        certificate = try authority.text(authority.certificate)
        key = try CertificateFile(path: authority.certificate).key
    }

    private func issued(_ change: (inout [String: JSONValue]) -> Void = { _ in }) -> [UInt8] {
        var members: [String: JSONValue] = [
            "status": "issued", "device": .string(Self.device), "entity": "货车 07", "service": 1,
            "host": "tracks.example.net", "port": 7443, "certificate": .string(certificate),
            "authority": .string(certificate), "not_after": 1_900_000_000, "of_a_later_version": [1, 2],
        ]
        change(&members)
        var writer = JSONWriter()
        writer.value(.object(members))
        return writer.bytes
    }

    private func read(_ body: [UInt8], key: PublicKeyPin? = nil) throws(UnusableAnswer) -> EnrolmentAnswer {
        try EnrolmentAnswer(status: 200, body: body, key: key ?? self.key)
    }

    @Test func anIssuedIdentityIsRead() throws {
        guard case .issued(let identity) = try read(issued()) else {
            Issue.record("not issued")
            return
        }
        #expect(identity.device == Self.device.lowercased() && identity.entity == "货车 07")
        #expect((identity.host, identity.port, identity.service) == ("tracks.example.net", 7443, 1))
        #expect(identity.serverName == nil && identity.webAddress == nil && identity.authority == certificate)
    }

    /// Each member would stand in a file that the agent reads, or is shown.
    @Test(
        arguments: [
            ("device", "x"), ("device", .null), ("entity", "a;b"), ("entity", ""), ("service", 0), ("service", "1"),
            ("service", 2_147_483_648), ("host", "https://a"), ("host", "a\nb"), ("port", 0), ("port", 65_536),
            ("port", 1.5), ("server_name", "a b"),
            ("certificate", "none"), ("certificate", .null), ("authority", "none"), ("authority", ""),
            ("status", "new"),
            ("status", .null),
        ] as [(String, JSONValue)])
    func anUnusableMemberIsRefused(name: String, value: JSONValue) {
        #expect(throws: UnusableAnswer.self, "\(name): \(value)") { try read(issued { $0[name] = value }) }
    }

    @Test func anAddressThatCannotBeIsNotUsed() throws {
        guard case .issued(let identity) = try read(issued { $0["web_address"] = "http://a.example" }),
            case .issued(let good) = try read(issued { $0["web_address"] = "https://a.example/api/v3" })
        else {
            Issue.record("not issued")
            return
        }
        #expect(identity.webAddress == nil && identity.strangeWebAddress == "http://a.example")
        #expect(good.webAddress?.description == "https://a.example" && good.strangeWebAddress == nil)
    }

    @Test func aCertificateForAnotherKeyIsRefused() throws {
        let other = try DeviceKey.make().publicKey
        #expect(throws: UnusableAnswer.self) { try read(issued(), key: other) }
        let hidden = certificate + "\u{1B}[31m"
        #expect(throws: UnusableAnswer.self) { try read(issued { $0["certificate"] = .string(hidden) }) }
    }

    @Test(arguments: ["", "<html>", "[]", "{}", "{\"status\":1}", "{\"status\":\"pending\"}"])
    func anAnswerOfAnotherProgramIsRefused(text: String) {
        #expect(throws: UnusableAnswer.self) { try read(Array(text.utf8)) }
    }

    @Test func aRefusalAndAPendingClaimAreRead() throws {
        let refused = #"{"status":"refused","code":"too_many","message":"slowly\u001b[1m","retry_after":7}"#
        #expect(
            try read(Array(refused.utf8))
                == .refused(EnrolmentRefusal(code: "too_many", message: "slowly\u{1B}[1m".printable, retryAfter: 7)))
        let pending =
            #"{"status":"pending","device":"\#(Self.device)","entity":"van","retry_after":60,"message":"wait"}"#
        #expect(
            try read(Array(pending.utf8))
                == .pending(device: Self.device.lowercased(), entity: "van", message: "wait", retryAfter: 60))
    }
}
