import JSON
import Testing
import TrackStore

@testable import Enrolment

@Suite("Bodies of claims and renewals") struct EnrolmentBodyTests {
    private static let token = "et_abcdefghijklmnopqrstuvwxyz234567"
    private static let machine = String(repeating: "0fA9", count: 16)

    private func claim(_ members: [String: JSONValue]) -> Result<EnrolmentBody.Claim, EnrolmentRefusal> {
        var object: [String: JSONValue] = ["token": .string(Self.token), "request": "PEM"]
        object.merge(members) { $1 }
        return claim(JSONValue.object(object).serialized())
    }

    private func claim(_ bytes: [UInt8]) -> Result<EnrolmentBody.Claim, EnrolmentRefusal> {
        do throws(EnrolmentRefusal) {
            return .success(try EnrolmentBody.claim(bytes))
        } catch {
            return .failure(error)
        }
    }

    private func code<Value>(_ result: Result<Value, EnrolmentRefusal>) -> EnrolmentRefusal.Code? {
        if case .failure(let refusal) = result { return refusal.code }
        return nil
    }

    @Test func everyMemberIsRead() throws {
        let read = try claim([
            "entity": "van_07", "serial": "S 1", "machine": .string(Self.machine), "later": [1, 2],
            "model": .string("box\u{7}\u{9B}é" + String(repeating: "v", count: 200)),
        ]).get()
        #expect(read.token == TokenHash(of: Self.token))
        #expect(read.request == "PEM" && read.entity == "van_07" && read.serial == "S 1")
        #expect(read.machine == (0..<16).flatMap { _ in [0x0F, 0xA9] as [UInt8] })
        // What is only shown is made fit to be shown.
        #expect(read.model == "boxé" + String(repeating: "v", count: 96))
        let least = try claim(["entity": .null, "serial": .null]).get()
        #expect(least.entity == nil && least.serial == nil && least.machine == nil && least.model.isEmpty)
    }

    private static let broken: [([String: JSONValue], EnrolmentRefusal.Code)] = [
        (["token": 7], .badRequest), (["token": .null], .badRequest), (["token": "et_short"], .tokenUnknown),
        (["token": "saker2:abc"], .tokenUnknown), (["request": ""], .badRequest), (["request": 1], .badRequest),
        (["request": ["PEM"]], .badRequest), (["entity": ""], .entityRefused), (["entity": "a;b"], .entityRefused),
        (["entity": true], .badRequest), (["serial": ""], .badRequest), (["serial": "a\nb"], .badRequest),
        (["serial": 5], .badRequest), (["machine": "00"], .badRequest),
        (["machine": .string(String(repeating: "g", count: 64))], .badRequest),
        (["machine": .string(String(repeating: "é", count: 32))], .badRequest), (["model": 1], .badRequest),
    ]

    @Test(arguments: broken)
    func aMemberThatBreaksARuleIsRefused(members: [String: JSONValue], wanted: EnrolmentRefusal.Code) {
        let result = claim(members)
        #expect(code(result) == wanted)
        // A message must not repeat the token.
        if case .failure(let refusal) = result { #expect(!refusal.message.contains(Self.token)) }
    }

    @Test(arguments: [
        "", "null", "[]", "{", "\"et_\"", "{\"token\":\"a\",\"token\":\"b\"}",
        "{\"a\":" + String(repeating: "[", count: 5000) + "}", String(repeating: " ", count: 16_385) + "{}",
        "{\"a\":[" + String(repeating: "1,", count: 100) + "1]}", "{\"token\":\"\u{0}\"}", "{}",
    ])
    func aBodyThatIsNoneIsRefused(text: String) {
        #expect(code(claim(Array(text.utf8))) == .badRequest)
        #expect(throws: EnrolmentRefusal.self) { try EnrolmentBody.renewal(Array(text.utf8)) }
    }

    @Test func bytesThatAreNoTextAreRefused() {
        #expect(code(claim([0xFF, 0xFE, 0x00])) == .badRequest)
        #expect(code(claim(Array("{\"token\":\"".utf8) + [0xC3, 0x28] + Array("\"}".utf8))) == .badRequest)
    }

    @Test func aRenewalNeedsARequestAlone() throws {
        let read = try EnrolmentBody.renewal(Array(#"{"request":"PEM","version":"0.9"}"#.utf8))
        #expect(read == EnrolmentBody.Renewal(request: "PEM", machine: nil))
        #expect(throws: EnrolmentRefusal.self) { try EnrolmentBody.renewal(Array(#"{"version":"0.9"}"#.utf8)) }
    }

    @Test func answersSayWhatTheInterfaceSays() throws {
        let reply = EnrolmentReply.refused(EnrolmentRefusal(.tooMany, "wait", retryAfter: 7))
        #expect(reply.status == 429 && reply.retryAfter == 7)
        #expect(
            String(decoding: reply.body, as: UTF8.self)
                == #"{"status":"refused","code":"too_many","message":"wait","retry_after":7}"#)
        #expect(EnrolmentReply.plainHTTP.status == 403 && EnrolmentReply.tooLarge.status == 400)
        for code in EnrolmentRefusal.Code.allCases {
            #expect((400...599).contains(EnrolmentReply.refused(EnrolmentRefusal(code, "x")).status))
        }
    }
}
