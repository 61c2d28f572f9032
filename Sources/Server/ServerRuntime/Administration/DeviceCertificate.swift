import ConfigurationFile
import Crypto
import FoundationEssentials
import Glibc
import SwiftASN1
import TrackModel
import TrackStore
import X509

/// The certificates of devices: a request goes in, a certificate that names the device comes out.
enum DeviceCertificate {
    /// Days that a certificate is valid: a vehicle may be off for months.
    static let days: Int64 = 366
    /// Hours that a certificate is valid before it is made: a vehicle's clock may be behind.
    private static let headStartHours: Int64 = 24
    private static let maximumRequestBytes = 16_384
    private static let leastRSABits = 2048

    /// A request for a certificate, whose signature is right.
    struct Request: Sendable {
        fileprivate let publicKey: Certificate.PublicKey
        /// See ``DeviceRecord/keyHash``.
        let keyHash: [UInt8]
        /// The name in the request; nil when it has none, or several.
        let commonName: String?
    }

    /// Certificate and key of who signs.
    struct Authority: Sendable {
        fileprivate let certificate: Certificate
        fileprivate let key: Certificate.PrivateKey

        init(_ pair: KeyPair) throws(ServerError) {
            do {
                certificate = try Certificate(pemEncoded: pair.certificate)
                key = try Certificate.PrivateKey(pemEncoded: pair.key)
            } catch {
                throw ServerError(.certificate, "the authority of devices or its key cannot be read: \(error)")
            }
            guard certificate.publicKey == key.publicKey else {
                throw ServerError(
                    .certificate, "the key of the authority of devices does not belong to its certificate")
            }
        }

        /// When a certificate ends that is made now.
        func end(at now: Timestamp) -> Timestamp {
            let own = Timestamp(seconds: Int64(certificate.notValidAfter.timeIntervalSince1970))
            return min(Timestamp(seconds: now.milliseconds / 1000 + days * 86_400), own)
        }
    }

    /// Reads a PKCS #10 request in PEM, for a command.
    static func request(_ pem: String) throws(ServerError) -> Request {
        do throws(EnrolmentRefusal) {
            return try check(pem)
        } catch {
            throw ServerError(.certificate, error.message)
        }
    }

    /// Reads a PKCS #10 request in PEM, from anybody. What it says beside the key has no meaning here.
    static func check(_ pem: String) throws(EnrolmentRefusal) -> Request {
        guard pem.utf8.count <= maximumRequestBytes else {
            throw EnrolmentRefusal(.requestInvalid, "a request has at most \(maximumRequestBytes) bytes")
        }
        let request: CertificateSigningRequest
        let spki: [UInt8]
        do {
            request = try CertificateSigningRequest(pemEncoded: pem)
            spki = try request.publicKey.serializeAsPEM().derBytes
        } catch {
            // The library reads no key that is too weak, and a person should know which of both it is.
            if let key = unreadKey(pem) { throw weak(key) }
            throw EnrolmentRefusal(
                .requestInvalid, "the request cannot be read: give a certificate request (PKCS #10) in PEM")
        }
        try check(request.publicKey, spki)
        guard request.publicKey.isValidSignature(request.signature, for: request) else {
            throw EnrolmentRefusal(
                .requestInvalid, "the request is not signed with its own key: make it again")
        }
        let names = request.subject.flatMap { $0.filter { $0.type == .RDNAttributeType.commonName } }
        return Request(
            publicKey: request.publicKey, keyHash: DeviceRecord.keyHash(of: spki),
            commonName: names.count == 1 ? names.first.flatMap { String($0.value) } : nil)
    }

    private static func check(_ key: Certificate.PublicKey, _ spki: [UInt8]) throws(EnrolmentRefusal) {
        if P256.Signing.PublicKey(key) != nil || P384.Signing.PublicKey(key) != nil { return }
        if Curve25519.Signing.PublicKey(key) != nil { return }
        if let bits = rsaBits(spki), bits >= leastRSABits { return }
        throw weak(spki)
    }

    private static func weak(_ spki: [UInt8]) -> EnrolmentRefusal {
        let bits = rsaBits(spki)
        return EnrolmentRefusal(
            .keyWeak,
            (bits.map { "an RSA key of \($0) bits is too weak" } ?? "the key of the request is of another kind")
                + ": make one of the curve P-256 or P-384, of Ed25519, or of RSA with at least \(leastRSABits) bits")
    }

    /// The SubjectPublicKeyInfo of a request that the library cannot read; nil when the request has none.
    private static func unreadKey(_ pem: String) -> [UInt8]? {
        do {
            let document = try PEMDocument(pemString: pem)
            guard document.discriminator == CertificateSigningRequest.defaultPEMDiscriminator else { return nil }
            let key = try DER.sequence(try DER.parse(document.derBytes), identifier: .sequence) { nodes -> [UInt8]? in
                guard let content = nodes.next() else { return nil }
                while nodes.next() != nil {}
                return try DER.sequence(content, identifier: .sequence) { parts in
                    _ = (parts.next(), parts.next())
                    let key = parts.next()
                    while parts.next() != nil {}
                    var serializer = DER.Serializer()
                    if let key { serializer.serialize(key) }
                    return key == nil ? nil : serializer.serializedBytes
                }
            }
            // What is no key at all is a broken request.
            guard let key else { return nil }
            return try DER.sequence(try DER.parse(key), identifier: .sequence) { parts in
                _ = parts.next()
                _ = try ASN1BitString(derEncoded: &parts)
                return key
            }
        } catch {
            return nil
        }
    }

    /// The bits of the modulus; nil when the key is none of RSA.
    static func rsaBits(_ spki: [UInt8]) -> Int? {
        let rsa: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 1]
        do {
            let key = try DER.sequence(try DER.parse(spki), identifier: .sequence) { nodes -> ASN1BitString? in
                guard let algorithm = nodes.next() else { return nil }
                let kind = try DER.sequence(algorithm, identifier: .sequence) { parts in
                    let kind = try ASN1ObjectIdentifier(derEncoded: &parts)
                    while parts.next() != nil {}
                    return kind
                }
                let key = try ASN1BitString(derEncoded: &nodes)
                return kind == rsa ? key : nil
            }
            guard let key else { return nil }
            let modulus = try DER.sequence(try DER.parse(Array(key.bytes)), identifier: .sequence) { nodes in
                let modulus = try ArraySlice<UInt8>(derEncoded: &nodes)
                _ = try ArraySlice<UInt8>(derEncoded: &nodes)
                return modulus
            }
            let bytes = modulus.drop { $0 == 0 }
            return bytes.first.map { bytes.count * 8 - $0.leadingZeroBitCount }
        } catch {
            return nil
        }
    }

    /// A certificate of `device` for the key of a request, as PEM.
    static func issue(
        _ request: Request, to device: DeviceID, until end: Timestamp, signedBy authority: Authority, at now: Timestamp
    ) throws(ServerError) -> String {
        let issuer = authority.certificate
        let seconds = now.milliseconds / 1000
        do {
            let certificate = try Certificate(
                version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: request.publicKey,
                notValidBefore: Date(timeIntervalSince1970: Double(seconds - headStartHours * 3600)),
                notValidAfter: Date(timeIntervalSince1970: Double(end.milliseconds / 1000)),
                issuer: issuer.subject, subject: try DistinguishedName { CommonName("\(device)") },
                extensions: try Certificate.Extensions {
                    Critical(BasicConstraints.notCertificateAuthority)
                    Critical(KeyUsage(digitalSignature: true))
                    try ExtendedKeyUsage([.clientAuth])
                    SubjectAlternativeNames([.uniformResourceIdentifier(device.uri)])
                    SubjectKeyIdentifier(hash: request.publicKey)
                    AuthorityKeyIdentifier(
                        keyIdentifier: SubjectKeyIdentifier(hash: issuer.publicKey).keyIdentifier)
                }, issuerPrivateKey: authority.key)
            return try certificate.serializeAsPEM().pemString + "\n"
        } catch {
            throw ServerError(.certificate, "the certificate of the device cannot be made: \(error)")
        }
    }
}

/// The authority that signs the certificates of devices. It is another one than the server's: who may sign for a vehicle must
/// not be able to pass for the server.
package enum DeviceAuthority {
    static let certificateName = "device-ca.pem"
    static let keyName = ServerConfiguration.Device.authorityKeyName

    static func make(named name: String, at now: Date, key: String? = nil) throws(ServerError) -> KeyPair {
        try CertificateMaker.authority(named: "\(name) devices", at: now, key: key)
    }

    /// Makes one beside the configuration of a server that has none. Returns the path of the certificate, and the line that the
    /// configuration needs.
    package static func add(
        to configuration: ServerConfiguration, acts: AuditLog = AuditLog()
    ) throws(ServerError) -> (path: String, line: String) {
        if let authority = configuration.device.authority {
            throw ServerError(
                .exists, "\(configuration.effective.path) names an authority of devices already: \(authority)")
        }
        let file = configuration.effective.path
        let folder = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "."
        let (certificate, key) = ("\(folder)/\(certificateName)", "\(folder)/\(keyName)")
        guard access(certificate, F_OK) != 0 else {
            throw ServerError(.exists, "\(certificate) exists already: name it as authority in [device], or remove it")
        }
        // A key without a certificate has signed nothing yet: this command was cut between the two.
        let left = access(key, F_OK) == 0 ? try TextFile.read(key) : nil
        let pair: KeyPair
        do throws(ServerError) {
            pair = try make(named: "Fleet", at: Date(), key: left)
        } catch {
            guard left != nil else { throw error }
            throw ServerError(
                .exists,
                "\(key) exists already, and is no key that this command has made: move it away. There is no \(certificate) for it"
            )
        }
        do throws(ConfigurationError) {
            if left == nil { try AtomicFile.write(Array(pair.key.utf8), to: key, mode: 0o600, replacing: false) }
            try AtomicFile.write(Array(pair.certificate.utf8), to: certificate, mode: 0o644, replacing: false)
        } catch {
            throw ServerError(error)
        }
        acts.note(.deviceAuthority, in: nil, about: certificate)
        return (certificate, "authority = \(TOMLText.quoted(certificateName))")
    }

    /// Certificate and key, for whoever signs.
    static func load(_ configuration: ServerConfiguration) throws(ServerError) -> KeyPair {
        guard let certificate = configuration.device.authority, let key = configuration.device.authorityKey else {
            throw ServerError(
                .configuration,
                "\(configuration.effective.path) names no authority in [device]: `saker-server device authority` makes one"
            )
        }
        return KeyPair(certificate: try TextFile.read(certificate), key: try TextFile.read(key))
    }
}
