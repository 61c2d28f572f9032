import JSON
import TrackModel
package import TrackStore

/// The answer to a call, as HTTP has it.
package struct EnrolmentReply: Hashable, Sendable {
    package var status: Int
    /// JSON.
    package var body: [UInt8]
    /// Seconds, for the header `Retry-After`.
    package var retryAfter: Int64?

    /// Everything a device needs to log in.
    package struct Issue: Hashable, Sendable {
        package var device: DeviceRecord
        /// Name or address, and port, of the device port.
        package var host: String
        package var port: Int
        /// Base address of the Web API; nil when there is none.
        package var webAddress: String?
        /// The certificate of the device in PEM, leaf first.
        package var certificate: String
        /// The server's own authority in PEM; nil: the device trusts the authorities of its system.
        package var authority: String?

        package init(
            device: DeviceRecord, host: String, port: Int, webAddress: String?, certificate: String, authority: String?
        ) {
            self.device = device
            self.host = host
            self.port = port
            self.webAddress = webAddress
            self.certificate = certificate
            self.authority = authority
        }
    }

    /// Seconds after which a box asks again whether it was approved.
    package static let pendingInterval: Int64 = 60

    package static func issued(_ issue: Issue) -> EnrolmentReply {
        var writer = JSONWriter()
        writer.object { answer in
            answer.member("status", "issued")
            answer.member("device", issue.device.id.description)
            answer.member("entity", issue.device.entity)
            answer.member("service", issue.device.service.rawValue)
            answer.member("host", issue.host)
            answer.member("port", issue.port)
            if let webAddress = issue.webAddress { answer.member("web_address", webAddress) }
            answer.member("certificate", issue.certificate)
            if let authority = issue.authority { answer.member("authority", authority) }
            answer.member("not_after", issue.device.certificateEnd.milliseconds / 1000)
        }
        return EnrolmentReply(status: 200, body: writer.bytes)
    }

    /// What the key of the device signs into its next request for a renewal.
    package static func challenge(_ nonce: String) -> EnrolmentReply {
        var writer = JSONWriter()
        writer.object { answer in
            answer.member("status", "challenge")
            answer.member("nonce", nonce)
        }
        return EnrolmentReply(status: 401, body: writer.bytes)
    }

    package static func pending(_ device: DeviceRecord) -> EnrolmentReply {
        var writer = JSONWriter()
        writer.object { answer in
            answer.member("status", "pending")
            answer.member("device", device.id.description)
            answer.member("entity", device.entity)
            answer.member("retry_after", pendingInterval)
            answer.member(
                "message",
                "the operator must approve this device: saker-server device approve \(device.id.description.prefix(8))")
        }
        return EnrolmentReply(status: 202, body: writer.bytes, retryAfter: pendingInterval)
    }

    package static func refused(_ refusal: EnrolmentRefusal) -> EnrolmentReply {
        var writer = JSONWriter()
        writer.object { answer in
            answer.member("status", "refused")
            answer.member("code", refusal.code.rawValue)
            answer.member("message", refusal.message)
            if let retryAfter = refusal.retryAfter { answer.member("retry_after", retryAfter) }
        }
        return EnrolmentReply(status: status(of: refusal.code), body: writer.bytes, retryAfter: refusal.retryAfter)
    }

    /// For a request that came without TLS. Whatever it carried could be read on its way.
    package static let plainHTTP = refused(
        EnrolmentRefusal(
            .plainHTTP,
            "claims are taken over HTTPS alone. The token was sent readable: if others may have seen it, revoke it with "
                + "saker-server token revoke"))

    package static let tooLarge = refused(
        EnrolmentRefusal(
            .badRequest, "the body is too large: it has at most \(EnrolmentCall.maximumBodyBytes) bytes of JSON"))

    private init(status: Int, body: [UInt8], retryAfter: Int64? = nil) {
        self.status = status
        self.body = body
        self.retryAfter = retryAfter
    }

    private static func status(of code: EnrolmentRefusal.Code) -> Int {
        switch code {
        case .badRequest: 400
        case .plainHTTP, .tokenUnknown, .tokenEnded, .tokenRevoked, .tokenUsedUp, .notOnList, .deviceRevoked,
            .deviceUnknown, .ended:
            403
        case .entityTaken: 409
        case .entityRefused, .requestInvalid, .keyWeak: 422
        case .tooMany: 429
        case .busy, .noAuthority: 503
        }
    }
}
