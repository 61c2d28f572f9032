import ConfigurationFile
import JSON
import TrackModel
package import TrackStore

/// A request under ``EnrolmentCall/prefix``, as a listener has it.
package struct EnrolmentCall: Sendable {
    /// What the paths of all calls begin with.
    package static let prefix = "/enrol/"
    package static let claimPath = "/enrol/v1/claim"
    package static let renewalPath = "/enrol/v1/renew"
    /// Most bytes of a body.
    package static let maximumBodyBytes = 16_384

    package var method: String
    /// Without a query.
    package var path: String
    package var body: [UInt8]
    /// The address of the other end; nil when the listener does not know it.
    package var address: String?
    /// Whom limits count it for: see `ClientAddress`.
    package var origin: EnrolmentLimits.Origin

    package init(
        method: String, path: String, body: [UInt8], address: String?, origin: EnrolmentLimits.Origin
    ) {
        self.method = method
        self.path = path
        self.body = body
        self.address = address
        self.origin = origin
    }
}

/// Who answers claims and renewals for a listener.
package protocol EnrolmentResponder: Sendable {
    func answer(_ call: EnrolmentCall) async -> EnrolmentReply
    /// For a call that came without TLS, whose body nobody looks at.
    func refusePlainHTTP(from address: String?) -> EnrolmentReply
    /// For a call whose body is over ``EnrolmentCall/maximumBodyBytes``.
    func refuseLarge(from address: String?) -> EnrolmentReply
}

/// The bodies of claims and renewals, read from JSON that may come from anybody.
package enum EnrolmentBody {
    package struct Claim: Hashable, Sendable {
        package var token: TokenHash
        /// PKCS #10 in PEM, not looked at yet.
        package var request: String
        package var entity: String?
        package var serial: String?
        /// 32 bytes.
        package var machine: [UInt8]?
        /// May be empty.
        package var model: String
        /// The box will prove its key at each renewal.
        package var proves = false
    }

    package struct Renewal: Hashable, Sendable {
        package var request: String
        package var machine: [UInt8]?
        /// The program signs what the server asks for.
        package var proves = false
        /// What the server has asked for; nil in the first request of a renewal.
        package var nonce: String?
    }

    /// Characters of `model` that are kept.
    static let maximumNoteCharacters = 100

    package static func claim(_ body: [UInt8]) throws(EnrolmentRefusal) -> Claim {
        let object = try object(body)
        guard let token = try text("token", object) else { throw refusal("token is missing: it is a text") }
        guard EnrolmentToken.isOne(token) else {
            throw EnrolmentRefusal(
                .tokenUnknown, "the token is none: it has the form et_ and 32 characters. Copy the whole line")
        }
        let serial = try text("serial", object)
        if let serial, let problem = SerialNumber.problem(with: serial) { throw refusal("serial: \(problem)") }
        let entity = try text("entity", object)
        if let entity, let problem = EntityName.problem(with: entity) {
            throw EnrolmentRefusal(.entityRefused, "the vehicle cannot be named so: \(problem)")
        }
        return Claim(
            token: TokenHash(of: token), request: try request(object), entity: entity, serial: serial,
            machine: try machine(object), model: try note("model", object), proves: object["proves"]?.boolValue ?? false
        )
    }

    package static func renewal(_ body: [UInt8]) throws(EnrolmentRefusal) -> Renewal {
        let object = try object(body)
        return Renewal(
            request: try request(object), machine: try machine(object), proves: object["proves"]?.boolValue ?? false,
            nonce: try text("nonce", object))
    }

    // MARK: Members

    private static func refusal(_ what: String) -> EnrolmentRefusal { EnrolmentRefusal(.badRequest, what) }

    /// Unknown members are for later versions.
    private static func object(_ body: [UInt8]) throws(EnrolmentRefusal) -> [String: JSONValue] {
        let rules = JSONRules(
            maximumBytes: EnrolmentCall.maximumBodyBytes, maximumDepth: 4, maximumValues: 64,
            repeatedMembers: .refused)
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONReader.value(of: body, rules)
        } catch {
            throw refusal("the body is \(error): send one object")
        }
        guard case .object(let members) = value else { throw refusal("the body is no object, but \(value.kind)") }
        return members
    }

    /// Nil when it is not there, or null.
    private static func text(_ name: String, _ object: [String: JSONValue]) throws(EnrolmentRefusal) -> String? {
        switch object[name] {
        case nil, .null: return nil
        case .string(let text): return text
        case .some(let other): throw refusal("\(name) is a text, and the body has \(other.kind)")
        }
    }

    private static func request(_ object: [String: JSONValue]) throws(EnrolmentRefusal) -> String {
        guard let request = try text("request", object), !request.isEmpty else {
            throw refusal("request is missing: it is a certificate request (PKCS #10) in PEM")
        }
        return request
    }

    private static func machine(_ object: [String: JSONValue]) throws(EnrolmentRefusal) -> [UInt8]? {
        guard let text = try text("machine", object) else { return nil }
        let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue.map(UInt8.init) }
        guard text.utf8.count == 64, digits.count == 64 else {
            throw refusal("machine has 64 hexadecimal digits, a SHA-256")
        }
        return stride(from: 0, to: 64, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// What the maker of a box wrote somewhere may be anything: it is only shown.
    private static func note(_ name: String, _ object: [String: JSONValue]) throws(EnrolmentRefusal) -> String {
        let text = try text(name, object) ?? ""
        let shown = text.unicodeScalars.filter { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
        return String(String.UnicodeScalarView(shown.prefix(maximumNoteCharacters)))
    }
}

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
