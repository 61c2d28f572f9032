import Crypto
package import FoundationEssentials
import Glibc
import SwiftASN1
import X509

/// A certificate and its private key in PEM.
package struct KeyPair: Sendable {
    package var certificate: String
    package var key: String
}

/// Makes the private authority of a fleet and the certificates of its server: EC P-256. An authority that was made elsewhere may
/// have another key, which signs as is usual for it.
package enum CertificateMaker {
    /// Days that an authority is valid: as long as vehicles stay on the road.
    package static let authorityDays = 3652
    /// Days that a server's certificate is valid; some systems accept no longer ones.
    package static let serverDays = 825
    /// Hours that a certificate is valid before it is made: a vehicle's clock may be behind.
    private static let headStartHours = 24

    /// Whether the first certificate of a PEM file is that of a private key in PEM. False for what cannot be read.
    static func isPair(_ certificate: String, _ key: String) -> Bool {
        guard let certificate = try? Certificate(pemEncoded: certificate),
            let key = try? Certificate.PrivateKey(pemEncoded: key)
        else { return false }
        return certificate.publicKey == key.publicKey
    }

    /// A self-signed authority that can sign server certificates and nothing below them. `oldKey`: in PEM, of P-256, which it
    /// gets; nil: a new one.
    package static func authority(
        named name: String, at now: Date, key oldKey: String? = nil
    ) throws(ServerError) -> KeyPair {
        let key = try make { try oldKey.map { try P256.Signing.PrivateKey(pemRepresentation: $0) } ?? .init() }
        // The number tells the authorities of two fleets of one name apart.
        let number = (0..<4).map { _ in String(UInt8.random(in: 0x10...0xFF), radix: 16) }.joined()
        return try make {
            let subject = try DistinguishedName {
                CommonName(String(name.prefix(40)) + " private authority \(number)")
            }
            let publicKey = Certificate.PublicKey(key.publicKey)
            let certificate = try Certificate(
                version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: publicKey,
                notValidBefore: now.addingTimeInterval(Double(-headStartHours * 3600)),
                notValidAfter: now.addingTimeInterval(Double(authorityDays * 86_400)), issuer: subject,
                subject: subject,
                signatureAlgorithm: .ecdsaWithSHA256,
                extensions: try Certificate.Extensions {
                    Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                    Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                    SubjectKeyIdentifier(hash: publicKey)
                }, issuerPrivateKey: Certificate.PrivateKey(key))
            return KeyPair(
                certificate: try certificate.serializeAsPEM().pemString + "\n", key: key.pemRepresentation + "\n")
        }
    }

    /// A certificate for a server that is reached by these names and addresses.
    package static func server(
        hosts: [String], signedBy authority: KeyPair, at now: Date
    ) throws(ServerError) -> KeyPair {
        let key = P256.Signing.PrivateKey()
        let certificate = try server(
            hosts: hosts, for: Certificate.PublicKey(key.publicKey), signedBy: authority, at: now)
        return KeyPair(certificate: certificate, key: key.pemRepresentation + "\n")
    }

    /// A certificate in PEM for a server's key.
    static func server(
        hosts: [String], for publicKey: Certificate.PublicKey, signedBy authority: KeyPair, at now: Date
    ) throws(ServerError) -> String {
        guard let first = hosts.first else {
            throw ServerError(.usage, "a certificate needs at least one name or address")
        }
        let names = try hosts.map { host throws(ServerError) in try generalName(host) }
        return try make {
            let issuer = try Certificate(pemEncoded: authority.certificate)
            let issuerKey = try Certificate.PrivateKey(pemEncoded: authority.key)
            guard issuer.publicKey == issuerKey.publicKey else {
                throw ServerError(
                    .certificate,
                    "the key does not belong to the authority's certificate, so nobody would trust what it signs: take the "
                        + "authority's own key (for `certificate renew` with --ca-key), or remove the one that is beside it"
                )
            }
            let certificate = try Certificate(
                version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: publicKey,
                notValidBefore: now.addingTimeInterval(Double(-headStartHours * 3600)),
                notValidAfter: min(now.addingTimeInterval(Double(serverDays * 86_400)), issuer.notValidAfter),
                issuer: issuer.subject, subject: try DistinguishedName { CommonName(String(first.prefix(64))) },
                extensions: try Certificate.Extensions {
                    Critical(BasicConstraints.notCertificateAuthority)
                    Critical(KeyUsage(digitalSignature: true))
                    try ExtendedKeyUsage([.serverAuth])
                    SubjectAlternativeNames(names)
                    SubjectKeyIdentifier(hash: publicKey)
                    AuthorityKeyIdentifier(
                        keyIdentifier: SubjectKeyIdentifier(hash: issuer.publicKey).keyIdentifier)
                }, issuerPrivateKey: issuerKey)
            // Before it takes the place of one that is trusted.
            guard issuer.publicKey.isValidSignature(certificate.signature, for: certificate) else {
                throw ServerError(.certificate, "the signature of the new certificate is not the authority's")
            }
            return try certificate.serializeAsPEM().pemString + "\n"
        }
    }

    /// What the server must know to renew its own certificate.
    struct Served {
        let hosts: [String]
        let publicKey: Certificate.PublicKey
        let begin: Date
        let end: Date
        /// The authority has signed it, and nobody stands between.
        let isOfAuthority: Bool
    }

    static func served(_ chain: String, authority: String) throws(ServerError) -> Served {
        try make {
            let certificate = try Certificate(pemEncoded: chain)
            let authority = try Certificate(pemEncoded: authority)
            let names = try certificate.extensions.subjectAlternativeNames.map(Array.init) ?? []
            return Served(
                hosts: names.compactMap(host(of:)), publicKey: certificate.publicKey,
                begin: certificate.notValidBefore, end: certificate.notValidAfter,
                isOfAuthority: certificate.issuer == authority.subject
                    && authority.publicKey.isValidSignature(certificate.signature, for: certificate))
        }
    }

    /// The names and addresses of a certificate, and from when to when it is valid.
    package static func details(of pem: String) throws(ServerError) -> (hosts: [String], begin: Date, end: Date) {
        try make {
            let certificate = try Certificate(pemEncoded: pem)
            let names = try certificate.extensions.subjectAlternativeNames.map(Array.init) ?? []
            return (names.compactMap(host(of:)), certificate.notValidBefore, certificate.notValidAfter)
        }
    }

    /// The first certificate of a PEM file in DER.
    package static func der(of pem: String) throws(ServerError) -> [UInt8] {
        try make {
            try PEMDocument(pemString: pem).derBytes
        }
    }

    private static func make<Result>(_ body: () throws -> Result) throws(ServerError) -> Result {
        do {
            return try body()
        } catch let error as ServerError {
            throw error
        } catch {
            throw ServerError(.certificate, "the certificate or key cannot be read or made: \(error)")
        }
    }

    // MARK: Names

    /// An address as bytes, else a DNS name.
    private static func generalName(_ host: String) throws(ServerError) -> GeneralName {
        if let bytes = addressBytes(host) { return .ipAddress(ASN1OctetString(contentBytes: bytes[...])) }
        if let problem = problem(withName: host) { throw ServerError(.usage, "\"\(host)\" \(problem)") }
        return .dnsName(host)
    }

    /// Letters, digits and hyphens between dots, as RFC 1123 has it; a first label of `*` is allowed.
    static func problem(withName name: String) -> String? {
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard !name.isEmpty, name.utf8.count <= 253 else { return "is no host name: it must have 1 to 253 characters" }
        for (index, label) in labels.enumerated() where !(index == 0 && label == "*" && labels.count > 2) {
            let isPlain = label.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "-")
            }
            guard (1...63).contains(label.utf8.count), isPlain, !label.hasPrefix("-"), !label.hasSuffix("-") else {
                return "is neither an address nor a host name of letters, digits, hyphens and dots, without a port"
            }
        }
        return nil
    }

    private static func addressBytes(_ text: String) -> [UInt8]? {
        var four = [UInt8](repeating: 0, count: 4)
        if inet_pton(AF_INET, text, &four) == 1 { return four }
        var sixteen = [UInt8](repeating: 0, count: 16)
        return inet_pton(AF_INET6, text, &sixteen) == 1 ? sixteen : nil
    }

    private static func host(of name: GeneralName) -> String? {
        switch name {
        case .dnsName(let text): return text
        case .ipAddress(let octets):
            var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            let bytes = Array(octets.bytes)
            let family = bytes.count == 4 ? AF_INET : AF_INET6
            guard bytes.count == 4 || bytes.count == 16,
                inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil
            else { return nil }
            return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        default: return nil
        }
    }
}
