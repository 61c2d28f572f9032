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
                == .refused(
                    ReportedEnrolmentRefusal(code: "too_many", message: "slowly\u{1B}[1m".printable, retryAfter: 7)))
        let pending =
            #"{"status":"pending","device":"\#(Self.device)","entity":"van","retry_after":60,"message":"wait"}"#
        #expect(
            try read(Array(pending.utf8))
                == .pending(device: Self.device.lowercased(), entity: "van", message: "wait", retryAfter: 60))
    }
}

@Suite struct EnrolmentMachineTests {
    private func refusal(_ code: String, after seconds: Int64? = nil) -> EnrolmentAnswer {
        .refused(ReportedEnrolmentRefusal(code: code, message: "so it is", retryAfter: seconds))
    }

    private func pending(after seconds: Int64? = nil) -> EnrolmentAnswer {
        .pending(
            device: "0198c0de-0000-7000-8000-000000000001", entity: "van", message: "ask the office",
            retryAfter: seconds)
    }

    private func wait(_ action: EnrolmentMachine.Action) -> Int64? {
        guard case .again(let milliseconds, _) = action else { return nil }
        return milliseconds
    }

    @Test(arguments: ["token_of_a_later_version", "device_of_a_later_version"])
    func aFinalRefusalEndsItAlsoWhenNobodyWatches(code: String) {
        var machine = EnrolmentMachine(retryPolicy: .endless, waitsForApproval: true)
        guard case .stop(let failure) = machine.answered(refusal(code), chance: 0.5) else {
            Issue.record("\(code) goes on")
            return
        }
        #expect(failure.code == .failed && failure.description.contains(code))
        #expect(failure.description.contains("so it is"))
    }

    @Test(arguments: ["too_many", "busy", "no_authority", "not_on_list", "of a later version", ""])
    func anotherRefusalIsTriedAgainAndItsWaitIsKept(code: String) {
        var machine = EnrolmentMachine(retryPolicy: .endless, waitsForApproval: true)
        for _ in 0..<100 {
            #expect(wait(machine.answered(refusal(code, after: 90), chance: 0)) ?? 0 >= 90_000)
        }
        // No server may send a vehicle away for ever, or make it ask without a pause.
        #expect(wait(machine.answered(refusal(code, after: .max), chance: 0.999)) ?? .max <= 4_500_000)
        #expect(wait(machine.answered(refusal(code, after: -5), chance: 0)) ?? 0 >= 100_000)
    }

    @Test func aPersonIsToldOfALongWaitAndNotKeptInIt() {
        var machine = EnrolmentMachine(retryPolicy: .failures(6), waitsForApproval: true)
        #expect(wait(machine.answered(refusal("busy", after: 60), chance: 0)) == 60_000)
        guard case .stop(let failure) = machine.answered(refusal("too_many", after: 590), chance: 0) else {
            Issue.record("waits")
            return
        }
        #expect(failure.code == .failed && failure.description.contains("again in 10 min"))
    }

    @Test func failuresWaitLongerAndLongerAndAPersonIsNotKeptWaiting() {
        var machine = EnrolmentMachine(retryPolicy: .failures(6), waitsForApproval: true)
        var waits: [Int64] = []
        for _ in 0..<5 {
            waits.append(wait(machine.failed("no way", code: .unreachable, canPass: true, chance: 1)) ?? -1)
        }
        #expect(waits == [1000, 2000, 4000, 8000, 16_000])
        #expect(
            machine.failed("no way", code: .unreachable, canPass: true, chance: 1)
                == .stop(CommandFailure(.unreachable, "no way")))
        var endless = EnrolmentMachine(retryPolicy: .endless, waitsForApproval: true)
        for _ in 0..<200 {
            let wait = wait(endless.failed("no way", code: .unreachable, canPass: true, chance: 0))
            #expect((500...150_000).contains(wait ?? -1))
        }
    }

    @Test func whatCannotPassStopsAPersonOnly() {
        var attended = EnrolmentMachine(retryPolicy: .failures(6), waitsForApproval: true)
        #expect(
            attended.failed("another server", code: .unreachable, canPass: false, chance: 0)
                == .stop(CommandFailure(.unreachable, "another server")))
        var unattended = EnrolmentMachine(retryPolicy: .endless, waitsForApproval: true)
        #expect(wait(unattended.failed("a sign-in page", code: .unreachable, canPass: false, chance: 0)) != nil)
    }

    @Test func anApprovalIsWaitedForAndToldOnce() {
        var machine = EnrolmentMachine(retryPolicy: .failures(2), waitsForApproval: true)
        guard case .again(60_000, let note?) = machine.answered(pending(), chance: 0) else {
            Issue.record("no wait")
            return
        }
        #expect(note.contains("device approve 0198c0de") && note.contains("ask the office"))
        for _ in 0..<100 {
            #expect(machine.answered(pending(after: 0), chance: 0) == .again(milliseconds: 5000, note: nil))
        }
        // A broken line between two answers is no reason to give up.
        for _ in 0..<10 {
            #expect(wait(machine.failed("cut", code: .unreachable, canPass: true, chance: 0)) != nil)
            #expect(wait(machine.answered(pending(after: .max), chance: 1)) == 4_500_000)
        }
        var hurried = EnrolmentMachine(retryPolicy: .failures(2), waitsForApproval: false)
        guard case .stop(let failure) = hurried.answered(pending(), chance: 0) else {
            Issue.record("waits")
            return
        }
        #expect(failure.description.contains("device approve 0198c0de"))
    }
}
