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
    case refused(ReportedEnrolmentRefusal)
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

struct ReportedEnrolmentRefusal: Hashable {
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
            self = .refused(ReportedEnrolmentRefusal(code: code, message: message, retryAfter: retryAfter))
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

/// Decides what follows an answer to a claim, or its absence: another try and when, or the end. Knows no clock and no
/// network; chance comes in as an argument.
struct EnrolmentMachine: Hashable {
    enum RetryPolicy: Hashable {
        /// A person waits: gives up after so many failures in a row.
        case failures(Int)
        /// Nobody waits, and nobody would start it again.
        case endless
    }

    enum Action: Hashable {
        /// The same request again, after so many milliseconds. `note`: what a person should know and does not know yet.
        case again(milliseconds: Int64, note: String?)
        case done(IssuedIdentity)
        case stop(CommandFailure)
    }

    private let retryPolicy: RetryPolicy
    private let waitsForApproval: Bool
    private var failuresInARow = 0
    private var lastNote: String?

    /// Seconds.
    private static let longestWait: Int64 = 300
    private static let approvalWaits: ClosedRange<Int64> = 5...3600
    private static let longestAskedWait: Int64 = 3600
    /// A person, or a unit with a timer, does not sit longer before a server that asks for a wait.
    private static let longestAttendedWait: Int64 = 60

    init(retryPolicy: RetryPolicy, waitsForApproval: Bool) {
        self.retryPolicy = retryPolicy
        self.waitsForApproval = waitsForApproval
    }

    /// `chance` is from 0 up to 1, and another one each time: thousands of vehicles must not ask in the same second.
    mutating func answered(_ answer: EnrolmentAnswer, chance: Double) -> Action {
        switch answer {
        case .issued(let identity): return .done(identity)
        case .pending(let device, let entity, let message, let retryAfter):
            failuresInARow = 0
            let name = entity.map { " (\($0))" } ?? ""
            let approve = "saker-server device approve \(device.prefix(8))"
            let text =
                "The server knows this vehicle now as device \(device)\(name). "
                + (message.contains(approve)
                    ? message : "A person must approve it: \(approve)" + (message.isEmpty ? "" : ". \(message)"))
            guard waitsForApproval else {
                return .stop(CommandFailure(.failed, "\(text). Then run the same command again."))
            }
            let range = Self.approvalWaits
            let seconds = min(max(retryAfter ?? 60, range.lowerBound), range.upperBound)
            return .again(milliseconds: seconds * 1000 + Self.part(of: seconds * 250, chance), note: news(text))
        case .refused(let refusal):
            let text = "the server refuses (\(refusal.code)): \(refusal.message)"
            guard !refusal.isFinal else { return .stop(CommandFailure(.failed, text + Self.remedy(refusal.code))) }
            return failed(text, .failed, atLeast: refusal.retryAfter, chance)
        }
    }

    /// No answer, or one that cannot be used. `canPass`: it may be another one later, without anybody's help.
    mutating func failed(_ text: String, code: CommandFailure.Code, canPass: Bool, chance: Double) -> Action {
        guard canPass || retryPolicy == .endless else { return .stop(CommandFailure(code, text)) }
        return failed(text, code, atLeast: nil, chance)
    }

    private mutating func failed(
        _ text: String, _ code: CommandFailure.Code, atLeast asked: Int64?, _ chance: Double
    ) -> Action {
        failuresInARow += 1
        if case .failures(let most) = retryPolicy {
            if failuresInARow >= most { return .stop(CommandFailure(code, text)) }
            if let asked, asked > Self.longestAttendedWait {
                return .stop(CommandFailure(code, "\(text). Run the same command again in \(asked / 60 + 1) min"))
            }
        }
        let doubled: Int64 = failuresInARow > 9 ? Self.longestWait : min(Self.longestWait, 1 << (failuresInARow - 1))
        let wait = Self.part(of: doubled * 500, chance) + doubled * 500
        let least = min(max(asked ?? 0, 0), Self.longestAskedWait) * 1000
        return .again(milliseconds: max(wait, least + Self.part(of: least / 4, chance)), note: news(text))
    }

    private static func part(of milliseconds: Int64, _ chance: Double) -> Int64 {
        Int64(Double(milliseconds) * min(max(chance, 0), 1))
    }

    /// The text, when it is not what was said last.
    private mutating func news(_ text: String) -> String? {
        defer { lastNote = text }
        return text == lastNote ? nil : text
    }

    private static func remedy(_ code: String) -> String {
        switch code {
        case "token_unknown", "token_ended", "token_revoked", "token_used_up":
            ". Make a new line on the server: saker-server token create"
        case "entity_refused", "entity_taken": ". Give another name with --entity, or none if the server gives names"
        case "key_weak": ". Give --new-key to make another key"
        case "device_unknown": ". Enrol this vehicle again with a new line: sudo saker enroll - --force"
        case "plain_http": ". Something between here and the server decrypts TLS: give the server's own HTTPS port"
        case "device_revoked": ". On the server: saker-server device approve"
        default: ""
        }
    }
}
