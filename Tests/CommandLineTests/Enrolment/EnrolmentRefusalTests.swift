import Testing

// The name alone: the command has a type of this name, too.
import struct TrackStore.EnrolmentRefusal

@testable import SakerCommand

/// The server's refusals and what the vehicle makes of them.
@Suite struct EnrolmentRefusalTests {
    /// What a person must do; nil: the same request may succeed later.
    private static func remedy(_ code: EnrolmentRefusal.Code) -> String? {
        switch code {
        case .tokenUnknown, .tokenEnded, .tokenRevoked, .tokenUsedUp: "saker-server token create"
        case .entityTaken, .entityRefused: "--entity"
        case .keyWeak: "--new-key"
        case .deviceRevoked: "device approve"
        case .deviceUnknown: "saker enroll - --force"
        case .plainHTTP: "HTTPS port"
        case .badRequest, .requestInvalid, .ended: ""
        case .tooMany, .busy, .noAuthority, .notOnList: nil
        }
    }

    /// Every one that the server has.
    @Test(arguments: EnrolmentRefusal.Code.allCases) func aRefusalIsUnderstood(code: EnrolmentRefusal.Code) throws {
        var machine = EnrolmentMachine(retryPolicy: .endless, waitsForApproval: true)
        let body = #"{"status":"refused","code":"\#(code.rawValue)","message":"no"}"#
        let action = machine.answered(
            try EnrolmentAnswer(status: 403, body: Array(body.utf8), key: nil), chance: 0.5)
        guard let remedy = Self.remedy(code) else {
            guard case .again = action else {
                Issue.record("\(code) ends it")
                return
            }
            return
        }
        guard case .stop(let failure) = action else {
            Issue.record("\(code) goes on")
            return
        }
        #expect(failure.code == .failed && failure.description.contains(code.rawValue))
        #expect(remedy.isEmpty || failure.description.contains(remedy), "\(failure)")
    }
}
