import Enrolment
import JSON
import TrackModel
import TrackStore

/// Bodies of claims and renewals: what anybody may send who reaches the HTTPS listener.
enum EnrolmentBodyProperties {
    /// First byte: odd for a renewal.
    @Sendable static func check(_ input: [UInt8]) throws {
        var reader = InputReader(input)
        let isRenewal = reader.byte() & 1 == 1
        let body = Array(reader.rest)
        do throws(EnrolmentRefusal) {
            if isRenewal {
                try check(try EnrolmentBody.renewal(body).request, in: body)
            } else {
                try check(try EnrolmentBody.claim(body), in: body)
            }
        } catch {
            try check(error)
        }
    }

    private static func check(_ claim: EnrolmentBody.Claim, in body: [UInt8]) throws(EnrolmentRefusal) {
        try check(claim.request, in: body)
        let isFine =
            claim.token.bytes.count == 32 && claim.machine?.count ?? 32 == 32
            && claim.entity.map { EntityName.problem(with: $0) == nil } ?? true
            && claim.serial.map { SerialNumber.problem(with: $0) == nil } ?? true
            && claim.model.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        if !isFine { throw broken }
    }

    private static func check(_ request: String, in body: [UInt8]) throws(EnrolmentRefusal) {
        if request.isEmpty || request.utf8.count > 3 * body.count { throw broken }
    }

    /// No reader makes such a refusal.
    private static let broken = EnrolmentRefusal(.busy, "a body that breaks a rule was taken")

    private static func check(_ refusal: EnrolmentRefusal) throws {
        try require(refusal.code != .busy, refusal.message)
        try require(!refusal.message.isEmpty && refusal.message.utf8.count < 2000, "a refusal without a reason")
        let reply = EnrolmentReply.refused(refusal)
        try require((400...499).contains(reply.status), "status \(reply.status) for a bad body")
        let answer = try JSONReader.value(of: reply.body)
        try require(answer["code"] == .string(refusal.code.rawValue), "the answer has no code")
    }
}
