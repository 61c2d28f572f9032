/// Everything a vehicle must know to join a service, as one line that a person can paste.
///
/// A line with an access key begins with `saker1:`. It tells an agent all that it needs to log in. A line with a
/// token begins with `saker2:`. It tells where a vehicle claims an identity of its own: the name of the server, for
/// the claim and for the device port, and the port of the HTTPS listener. The server knows the service of a token, so
/// such a line has no service and no address of the Web API.
///
/// After the prefix comes the URL-safe base 64 (no padding) of: two bytes of length of all that follows the
/// header, the fields, and four bytes CRC-32 of the fields; numbers most significant byte first. A field is one byte
/// of tag, two bytes of length, and its value; unknown tags are skipped. The line holds a secret: treat it as one
/// treats a key.
package struct EnrolmentString: Hashable, Sendable {
    /// How the agent knows that the server is the right one.
    package enum Trust: Hashable, Sendable {
        /// The authorities the agent's system trusts.
        case system
        /// Only what this certificate has signed; DER, at most ``maximumCertificateBytes``.
        case certificate([UInt8])
        /// SHA-256 of the public key (SubjectPublicKeyInfo) in the server's chain; 32 bytes.
        case pinnedKey([UInt8])
    }

    /// The secret with which the vehicle joins. A line has exactly one.
    package enum Credential: Hashable, Sendable {
        /// Opens the device port for every vehicle of ``EnrolmentString/service``.
        case accessKey(Secret)
        /// Claims an identity and opens nothing else; its form is that of ``EnrolmentToken``.
        case token(Secret)
    }

    /// Name or address of the server.
    package let host: String
    /// With an access key the device port; with a token the port of the HTTPS listener that takes claims. Not 0.
    package let port: UInt16
    /// The name in the server's certificate; nil when it is the host.
    package let serverName: String?
    /// Base address of the Web API, such as `https://fleet.example:8443`; nil when the server offers none, and with a
    /// token.
    package let webAddress: String?
    /// The number of the service, above 0; nil with a token, and only then.
    package let service: Int64?
    package let credential: Credential
    package let trust: Trust

    /// A line with an access key. `service` is above 0.
    package init(
        host: String, port: UInt16, serverName: String? = nil, webAddress: String? = nil, service: Int64,
        accessKey: Secret, trust: Trust
    ) {
        self.host = host
        self.port = port
        self.serverName = serverName
        self.webAddress = webAddress
        self.service = service
        self.credential = .accessKey(accessKey)
        self.trust = trust
    }

    /// A line with a token, to claim an identity at the HTTPS listener of `host`.
    package init(host: String, port: UInt16, serverName: String? = nil, token: Secret, trust: Trust) {
        self.host = host
        self.port = port
        self.serverName = serverName
        self.webAddress = nil
        self.service = nil
        self.credential = .token(token)
        self.trust = trust
    }

    package static let maximumCharacters = 4096
    package static let maximumCertificateBytes = 2048
    /// A line with an access key begins so.
    package static let keyPrefix = "saker1:"
    /// A line with a token begins so. Programs that know no tokens call it a newer version, which is the truth.
    package static let tokenPrefix = "saker2:"

    enum Tag: UInt8 {
        case host = 1
        case port = 2
        case serverName = 3
        case webAddress = 4
        case service = 5
        case accessKey = 6
        case certificate = 7
        case pinnedKey = 8
        case token = 9
    }

    /// The line to paste; holds the secret.
    package var encoded: Secret {
        var fields: [UInt8] = []
        func add(_ tag: Tag, _ value: [UInt8]) {
            let value = value.prefix(Int(UInt16.max))
            fields.append(tag.rawValue)
            fields += Self.bigEndian(UInt64(value.count), bytes: 2) + value
        }
        add(.host, Array(host.utf8))
        add(.port, Self.bigEndian(UInt64(port), bytes: 2))
        if let serverName { add(.serverName, Array(serverName.utf8)) }
        if let webAddress { add(.webAddress, Array(webAddress.utf8)) }
        if let service { add(.service, Self.bigEndian(UInt64(bitPattern: service), bytes: 8)) }
        let prefix: String
        switch credential {
        case .accessKey(let key):
            prefix = Self.keyPrefix
            add(.accessKey, Array(key.revealed.utf8))
        case .token(let token):
            prefix = Self.tokenPrefix
            add(.token, Array(token.revealed.utf8))
        }
        switch trust {
        case .system: break
        case .certificate(let der): add(.certificate, der)
        case .pinnedKey(let digest): add(.pinnedKey, digest)
        }
        let length = Self.bigEndian(UInt64(fields.count + 4), bytes: 2)
        let checksum = Self.bigEndian(UInt64(Self.crc32(fields)), bytes: 4)
        return Secret(prefix + Base64.encoded(length + fields + checksum, alphabet: .urlSafe))
    }

    static func bigEndian(_ value: UInt64, bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64(bytes - 1 - $0))) }
    }

    static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// CRC-32 as zlib computes it, bit by bit: a line is short, and this room imports no C library.
    static func crc32(_ bytes: [UInt8]) -> UInt32 {
        var sum = UInt32.max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return ~sum
    }
}

extension EnrolmentString {
    /// Whether a text begins as an enrolment string of this or a later version does, damaged or not.
    package static func looksLikeOne(_ text: String) -> Bool {
        let trimmed = text.drop { $0.isWhitespace || $0 == "\"" || $0 == "'" }
        let version = trimmed.dropFirst("saker".count).prefix { $0.isASCII && $0.isNumber }
        return trimmed.hasPrefix("saker") && !version.isEmpty
            && trimmed.dropFirst("saker".count + version.count).first == ":"
    }

    /// Takes what a person pasted: white space, line breaks and quotes around it do no harm.
    package init(decoding pasted: String) throws(EnrolmentStringError) {
        guard pasted.utf8.count <= Self.maximumCharacters else {
            throw EnrolmentStringError(
                .notAnEnrolmentString, "over \(Self.maximumCharacters) characters: this is no enrolment string")
        }
        let text = String(pasted.filter { !$0.isWhitespace && $0 != "\"" && $0 != "'" })
        let isToken = text.hasPrefix(Self.tokenPrefix)
        guard isToken || text.hasPrefix(Self.keyPrefix) else {
            let version = text.prefix { $0 != ":" }.dropFirst("saker".count)
            if text.hasPrefix("saker"), text.contains(":"), let number = Int(version), number > 2 {
                throw EnrolmentStringError(
                    .newerVersion, "version \(number) of the enrolment string is newer than this program: update it")
            }
            throw EnrolmentStringError(
                .notAnEnrolmentString,
                "an enrolment string begins with \(Self.keyPrefix) or \(Self.tokenPrefix): copy the whole line that "
                    + "saker-server printed")
        }
        guard let bytes = Base64.decoded(text.dropFirst(Self.keyPrefix.count), alphabet: .urlSafe) else {
            throw EnrolmentStringError(
                .damaged, "the enrolment string holds a character that cannot be in it, or its end is missing")
        }
        guard bytes.count >= 2, bytes.count - 2 >= Self.number(bytes[..<2]) else {
            throw EnrolmentStringError(.truncated, "the end of the enrolment string is missing: copy the whole line")
        }
        guard bytes.count - 2 == Self.number(bytes[..<2]), bytes.count >= 6 else {
            throw EnrolmentStringError(.damaged, "there is something behind the end of the enrolment string")
        }
        let fields = Array(bytes[2..<(bytes.count - 4)])
        guard UInt64(Self.crc32(fields)) == Self.number(bytes.suffix(4)) else {
            throw EnrolmentStringError(
                .damaged, "the checksum of the enrolment string does not match: a character was changed or lost")
        }
        try self.init(fields: fields, isToken: isToken)
    }

    private init(fields: [UInt8], isToken: Bool) throws(EnrolmentStringError) {
        var values: [Tag: ArraySlice<UInt8>] = [:]
        var rest = fields[...]
        while !rest.isEmpty {
            guard rest.count >= 3 else { throw Self.invalid("a field has no length") }
            let tag = rest.removeFirst()
            let length = Int(Self.number(rest.prefix(2)))
            rest = rest.dropFirst(2)
            guard rest.count >= length else { throw Self.invalid("a field is longer than the whole") }
            if let known = Tag(rawValue: tag) { values[known] = rest.prefix(length) }
            rest = rest.dropFirst(length)
        }
        func text(_ tag: Tag) throws(EnrolmentStringError) -> String? {
            guard let bytes = values[tag] else { return nil }
            guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty,
                text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F })
            else { throw Self.invalid("field \(tag.rawValue) is not a plain text") }
            return text
        }
        guard let host = try text(.host) else { throw Self.invalid("the server's name is missing") }
        guard let portBytes = values[.port], portBytes.count == 2,
            let port = UInt16(exactly: Self.number(portBytes)), port > 0
        else { throw Self.invalid("the port is missing") }
        let serverName = try text(.serverName)
        let trust: Trust
        if let der = values[.certificate] {
            guard (1...Self.maximumCertificateBytes).contains(der.count) else {
                throw Self.invalid("the certificate has \(der.count) bytes, 1...\(Self.maximumCertificateBytes) can be")
            }
            trust = .certificate(Array(der))
        } else if let digest = values[.pinnedKey] {
            guard digest.count == 32 else { throw Self.invalid("the pinned key is no SHA-256") }
            trust = .pinnedKey(Array(digest))
        } else {
            trust = .system
        }
        // A line that means two things must not be read as either.
        guard (values[.token] != nil) == isToken, (values[.accessKey] == nil) == isToken else {
            throw Self.invalid(
                "it must have \(isToken ? "a token and no access key" : "an access key and no token") behind this prefix"
            )
        }
        if isToken {
            guard values[.service] == nil, values[.webAddress] == nil else {
                throw Self.invalid("a line with a token has no service and no address of the Web API")
            }
            guard let token = try text(.token), EnrolmentToken.isOne(token) else {
                throw Self.invalid("its token is none")
            }
            self.init(host: host, port: port, serverName: serverName, token: Secret(token), trust: trust)
            return
        }
        guard let accessKey = try text(.accessKey) else { throw Self.invalid("the access key is missing") }
        guard let serviceBytes = values[.service], serviceBytes.count == 8,
            let service = Int64(exactly: Self.number(serviceBytes)), service > 0
        else { throw Self.invalid("the service's number is missing") }
        self.init(
            host: host, port: port, serverName: serverName, webAddress: try text(.webAddress), service: service,
            accessKey: Secret(accessKey), trust: trust)
    }

    private static func invalid(_ what: String) -> EnrolmentStringError {
        EnrolmentStringError(.invalid, "the enrolment string is whole, but \(what): make a new one with saker-server")
    }
}

/// Why a pasted line is no usable enrolment string. Never quotes the line: it holds a key.
package struct EnrolmentStringError: Error, Equatable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        case notAnEnrolmentString
        case newerVersion
        case truncated
        case damaged
        case invalid
    }

    package let code: Code
    package let detail: String

    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package static func == (left: Self, right: Self) -> Bool { left.code == right.code }
    package var description: String { detail }
}

/// The form of an enrolment token: `et_` and 32 characters of base 32 (RFC 4648, lower case, no padding), 160 bits.
package enum EnrolmentToken {
    package static let prefix = "et_"
    /// The random bytes of a token.
    package static let bytes = 20
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    /// The token of these random bytes; nil unless there are ``bytes`` of them.
    package static func text(of random: [UInt8]) -> Secret? {
        guard random.count == bytes else { return nil }
        var text = Array(prefix.utf8)
        for start in stride(from: 0, to: bytes, by: 5) {
            let group = random[start..<(start + 5)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            for shift in stride(from: 35, through: 0, by: -5) {
                text.append(alphabet[Int(truncatingIfNeeded: group >> UInt64(shift)) & 31])
            }
        }
        return Secret(String(decoding: text, as: UTF8.self))
    }

    /// Whether a text has the form of a token.
    package static func isOne(_ text: String) -> Bool {
        guard text.hasPrefix(prefix), text.utf8.count == prefix.utf8.count + 32 else { return false }
        return text.utf8.dropFirst(prefix.utf8.count).allSatisfy(alphabet.contains)
    }
}
