import ConfigurationFile
import JSON
import SecureLink
import Terminal
import TrackModel

/// What a server answers to a claim or to the wish for a new certificate.
enum EnrolmentAnswer: Hashable {
    case issued(IssuedIdentity)
    /// A person must approve it first; seconds until the same claim is worth another try.
    case pending(device: String, entity: String?, message: String, retryAfter: Int64?)
    case refused(EnrolmentRefusal)
}

/// Who a vehicle is, as the server says.
struct IssuedIdentity: Hashable {
    let device: String
    let entity: String
    let service: Int64
    let host: String
    let port: Int
    let serverName: String?
    /// Nil: the server tells none, or ``strangeWebAddress``.
    let webAddress: WebAddress?
    /// What the server tells as `web_address` and cannot be one.
    let strangeWebAddress: String?
    /// PEM, the vehicle's own first.
    let certificate: String
    /// PEM; nil: the server's certificate is of an authority that systems trust.
    let authority: String?
}

struct EnrolmentRefusal: Hashable {
    let code: String
    let message: String
    /// Seconds.
    let retryAfter: Int64?

    /// The same request will be refused again until a person changes something, here or at the server.
    var isFinal: Bool {
        ["token_", "device_"].contains(where: code.hasPrefix)
            || [
                "bad_request", "plain_http", "entity_refused", "entity_taken", "request_invalid", "key_weak", "ended",
            ].contains(code)
    }
}

extension EnrolmentAnswer {
    /// Reads an answer. `key` is the public key that the certificate must have. Throws a sentence for an answer that is
    /// none: another program may answer, or a page of the network.
    init(status: Int, body: [UInt8], key: PublicKeyPin?) throws(UnusableAnswer) {
        let rules = JSONRules(maximumBytes: EnrolmentClient.maximumAnswerBytes, maximumDepth: 4, maximumValues: 100)
        guard let answer = try? JSONReader.value(of: body, rules), let word = answer["status"]?.stringValue else {
            throw UnusableAnswer(
                "the answer (HTTP \(status)) is none of a Saker server that enrols vehicles: is this its HTTPS port, and is "
                    + "the server new enough?")
        }
        let message = (answer["message"]?.stringValue ?? "").printable
        let retryAfter = answer["retry_after"]?.integerValue
        switch word {
        case "issued": self = .issued(try IssuedIdentity(answer, key))
        case "pending":
            let entity = answer["entity"]?.stringValue?.printable
            self = .pending(
                device: try IssuedIdentity.device(answer), entity: entity, message: message, retryAfter: retryAfter)
        case "refused":
            let code = (answer["code"]?.stringValue ?? "").printable
            self = .refused(EnrolmentRefusal(code: code, message: message, retryAfter: retryAfter))
        default:
            throw UnusableAnswer(
                "the server answers with the status '\(word.printable)', which this version does not know")
        }
    }
}

/// Why an answer cannot be used: a sentence.
struct UnusableAnswer: Error, Hashable {
    let text: String
    init(_ text: String) { self.text = text }
}

extension IssuedIdentity {
    private static let maximumCertificateBytes = 64 << 10

    /// Every member is checked before it goes into a configuration that the agent must be able to read.
    fileprivate init(_ answer: JSONValue, _ key: PublicKeyPin?) throws(UnusableAnswer) {
        func wrong(_ member: String) -> UnusableAnswer {
            UnusableAnswer("the server's answer has no usable '\(member)': update saker, or the server")
        }
        device = try Self.device(answer)
        guard let entity = answer["entity"]?.stringValue, EntityName.problem(with: entity) == nil else {
            throw wrong("entity")
        }
        guard let service = answer["service"]?.integerValue, (1...Int64(Int32.max)).contains(service) else {
            throw wrong("service")
        }
        guard let host = answer["host"]?.stringValue, HostName.problem(with: host) == nil else { throw wrong("host") }
        guard let port = answer["port"]?.integerValue, (1...65_535).contains(port) else { throw wrong("port") }
        serverName = answer["server_name"]?.stringValue
        if let serverName, HostName.problem(with: serverName) != nil { throw wrong("server_name") }
        // A vehicle can do without it: the address of the claim is one, too.
        let web = answer["web_address"]?.stringValue
        webAddress = web.flatMap { WebAddress($0) }
        strangeWebAddress = webAddress == nil ? web?.printable : nil
        guard let certificate = Self.pem(answer["certificate"]),
            let file = try? CertificateFile(pem: Array(certificate.utf8), name: "the certificate")
        else { throw wrong("certificate") }
        guard key == nil || file.key == key else {
            throw UnusableAnswer("the server's certificate is for another key than this vehicle's: tell its operator")
        }
        authority = Self.pem(answer["authority"])
        if answer["authority"]?.stringValue != nil {
            guard let authority, (try? CertificateFile(pem: Array(authority.utf8), name: "the authority")) != nil else {
                throw wrong("authority")
            }
        }
        (self.entity, self.service, self.host, self.port) = (entity, service, host, Int(port))
        self.certificate = certificate
    }

    /// Text of PEM alone: whatever else stood in it would be in a file that others read.
    private static func pem(_ value: JSONValue?) -> String? {
        guard let text = value?.stringValue, text.utf8.count <= maximumCertificateBytes,
            text.utf8.allSatisfy({ $0 == 0x0A || $0 == 0x0D || (0x20..<0x7F).contains($0) })
        else { return nil }
        return text.hasSuffix("\n") ? text : text + "\n"
    }

    /// A UUID, which is shown and written.
    fileprivate static func device(_ answer: JSONValue) throws(UnusableAnswer) -> String {
        guard let device = answer["device"]?.stringValue, device.utf8.count == 36,
            device.utf8.allSatisfy({ $0 == 0x2D || Character(UnicodeScalar($0)).isHexDigit })
        else { throw UnusableAnswer("the server's answer names no device: update saker, or the server") }
        return device.lowercased()
    }
}
