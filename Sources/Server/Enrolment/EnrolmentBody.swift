import ConfigurationFile
import JSON
import TrackModel
package import TrackStore

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
        guard EnrollmentToken.isOne(token) else {
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
