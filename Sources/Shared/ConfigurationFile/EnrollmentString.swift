/// Everything an agent must know to log in, as one line that a person can paste.
///
/// The line is `saker1:` and the URL-safe base 64 (no padding) of: two bytes of length of all that follows the
/// header, the fields, and four bytes CRC-32 of the fields; numbers most significant byte first. A field is one byte
/// of tag, two bytes of length, and its value; unknown tags are skipped. It holds the access key: treat the line as
/// one treats the key.
package struct EnrollmentString: Hashable, Sendable {
    /// How the agent knows that the server is the right one.
    package enum Trust: Hashable, Sendable {
        /// The authorities the agent's system trusts.
        case system
        /// Only what this certificate has signed; DER, at most ``maximumCertificateBytes``.
        case certificate([UInt8])
        /// SHA-256 of the public key (SubjectPublicKeyInfo) in the server's chain; 32 bytes.
        case pinnedKey([UInt8])
    }

    /// Name or address of the device port.
    package var host: String
    package var port: UInt16
    /// The name in the server's certificate; nil when it is the host.
    package var serverName: String?
    /// Base address of the Web API, such as `https://fleet.example:8443`; nil when the server offers none.
    package var webAddress: String?
    package var service: Int64
    package var accessKey: Secret
    package var trust: Trust

    package init(
        host: String, port: UInt16, serverName: String? = nil, webAddress: String? = nil, service: Int64,
        accessKey: Secret, trust: Trust
    ) {
        self.host = host
        self.port = port
        self.serverName = serverName
        self.webAddress = webAddress
        self.service = service
        self.accessKey = accessKey
        self.trust = trust
    }

    package static let maximumCharacters = 4096
    package static let maximumCertificateBytes = 2048
    package static let prefix = "saker1:"

    private enum Tag: UInt8 {
        case host = 1
        case port = 2
        case serverName = 3
        case webAddress = 4
        case service = 5
        case accessKey = 6
        case certificate = 7
        case pinnedKey = 8
    }

    // MARK: Writing

    /// The line to paste; holds the access key.
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
        add(.service, Self.bigEndian(UInt64(bitPattern: service), bytes: 8))
        add(.accessKey, Array(accessKey.revealed.utf8))
        switch trust {
        case .system: break
        case .certificate(let der): add(.certificate, der)
        case .pinnedKey(let digest): add(.pinnedKey, digest)
        }
        let length = Self.bigEndian(UInt64(fields.count + 4), bytes: 2)
        let checksum = Self.bigEndian(UInt64(Self.crc32(fields)), bytes: 4)
        return Secret(Self.prefix + Base64.encoded(length + fields + checksum, alphabet: .urlSafe))
    }

    private static func bigEndian(_ value: UInt64, bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64(bytes - 1 - $0))) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// CRC-32 as zlib computes it, bit by bit: a line is short, and this room imports no C library.
    private static func crc32(_ bytes: [UInt8]) -> UInt32 {
        var sum = UInt32.max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return ~sum
    }

    // MARK: Reading

    /// Whether a text begins as an enrolment string of this or a later version does, damaged or not.
    package static func looksLikeOne(_ text: String) -> Bool {
        let trimmed = text.drop { $0.isWhitespace || $0 == "\"" || $0 == "'" }
        let version = trimmed.dropFirst("saker".count).prefix { $0.isASCII && $0.isNumber }
        return trimmed.hasPrefix("saker") && !version.isEmpty
            && trimmed.dropFirst("saker".count + version.count).first == ":"
    }

    /// Takes what a person pasted: white space, line breaks and quotes around it do no harm.
    package init(decoding pasted: String) throws(EnrollmentStringError) {
        guard pasted.utf8.count <= Self.maximumCharacters else {
            throw EnrollmentStringError(
                .notAnEnrollmentString, "over \(Self.maximumCharacters) characters: this is no enrolment string")
        }
        let text = String(pasted.filter { !$0.isWhitespace && $0 != "\"" && $0 != "'" })
        guard text.hasPrefix(Self.prefix) else {
            let version = text.prefix { $0 != ":" }.dropFirst("saker".count)
            if text.hasPrefix("saker"), text.contains(":"), let number = Int(version), number > 1 {
                throw EnrollmentStringError(
                    .newerVersion, "version \(number) of the enrolment string is newer than this program: update it")
            }
            throw EnrollmentStringError(
                .notAnEnrollmentString,
                "an enrolment string begins with \(Self.prefix): copy the whole line that saker-server printed")
        }
        guard let bytes = Base64.decoded(text.dropFirst(Self.prefix.count), alphabet: .urlSafe) else {
            throw EnrollmentStringError(
                .damaged, "the enrolment string holds a character that cannot be in it, or its end is missing")
        }
        guard bytes.count >= 2, bytes.count - 2 >= Self.number(bytes[..<2]) else {
            throw EnrollmentStringError(.truncated, "the end of the enrolment string is missing: copy the whole line")
        }
        guard bytes.count - 2 == Self.number(bytes[..<2]), bytes.count >= 6 else {
            throw EnrollmentStringError(.damaged, "there is something behind the end of the enrolment string")
        }
        let fields = Array(bytes[2..<(bytes.count - 4)])
        guard UInt64(Self.crc32(fields)) == Self.number(bytes.suffix(4)) else {
            throw EnrollmentStringError(
                .damaged, "the checksum of the enrolment string does not match: a character was changed or lost")
        }
        try self.init(fields: fields)
    }

    private init(fields: [UInt8]) throws(EnrollmentStringError) {
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
        func text(_ tag: Tag) throws(EnrollmentStringError) -> String? {
            guard let bytes = values[tag] else { return nil }
            guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty,
                text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F })
            else { throw Self.invalid("field \(tag.rawValue) is not a plain text") }
            return text
        }
        guard let host = try text(.host), let accessKey = try text(.accessKey) else {
            throw Self.invalid("the server's name or the access key is missing")
        }
        guard let portBytes = values[.port], portBytes.count == 2,
            let port = UInt16(exactly: Self.number(portBytes)), port > 0
        else { throw Self.invalid("the port is missing") }
        guard let serviceBytes = values[.service], serviceBytes.count == 8,
            let service = Int64(exactly: Self.number(serviceBytes)), service > 0
        else { throw Self.invalid("the service's number is missing") }
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
        self.init(
            host: host, port: port, serverName: try text(.serverName), webAddress: try text(.webAddress),
            service: service, accessKey: Secret(accessKey), trust: trust)
    }

    private static func invalid(_ what: String) -> EnrollmentStringError {
        EnrollmentStringError(.invalid, "the enrolment string is whole, but \(what): make a new one with saker-server")
    }
}

/// Why a pasted line is no usable enrolment string. Never quotes the line: it holds a key.
package struct EnrollmentStringError: Error, Equatable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        case notAnEnrollmentString
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
