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

    /// The secret with which the vehicle joins. A line has exactly one.
    package enum Credential: Hashable, Sendable {
        /// Opens the device port for every vehicle of ``EnrollmentString/service``.
        case accessKey(Secret)
        /// Claims an identity and opens nothing else; its form is that of ``EnrollmentToken``.
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
