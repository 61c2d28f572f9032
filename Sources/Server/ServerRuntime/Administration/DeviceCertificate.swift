import Crypto
import FoundationEssentials
import SwiftASN1
import TrackModel
import TrackStore
import X509

/// The certificates of devices: a request goes in, a certificate that names the device comes out.
enum DeviceCertificate {
    /// Days that a certificate is valid: a vehicle may be off for months.
    static let days = 366
    /// Hours that a certificate is valid before it is made: a vehicle's clock may be behind.
    private static let headStartHours = 24
    private static let maximumRequestBytes = 16_384

    /// A request for a certificate, whose signature is right.
    struct Request {
        fileprivate let publicKey: Certificate.PublicKey
        /// See ``DeviceRecord/keyHash``.
        let keyHash: [UInt8]
    }

    /// Reads a PKCS #10 request in PEM. What it says beside the key has no meaning here.
    static func request(_ pem: String) throws(ServerError) -> Request {
        guard pem.utf8.count <= maximumRequestBytes else {
            throw ServerError(.certificate, "a request has at most \(maximumRequestBytes) bytes")
        }
        do {
            let request = try CertificateSigningRequest(pemEncoded: pem)
            guard request.publicKey.isValidSignature(request.signature, for: request) else {
                throw ServerError(.certificate, "the request is not signed with its own key: make it again")
            }
            let isUsual =
                P256.Signing.PublicKey(request.publicKey) != nil || P384.Signing.PublicKey(request.publicKey) != nil
            guard isUsual else {
                throw ServerError(
                    .certificate, "the key of the request is none of the curve P-256 or P-384: make such a key")
            }
            return Request(
                publicKey: request.publicKey,
                keyHash: DeviceRecord.keyHash(of: try request.publicKey.serializeAsPEM().derBytes))
        } catch let error as ServerError {
            throw error
        } catch {
            throw ServerError(.certificate, "the request cannot be read: give a certificate request (PKCS #10) in PEM")
        }
    }

    /// A certificate of `device` for the key of a request, as PEM, and when it ends.
    static func issue(
        _ request: Request, to device: DeviceID, signedBy authority: KeyPair, at now: Date
    ) throws(ServerError) -> (pem: String, end: Timestamp) {
        do {
            let issuer = try Certificate(pemEncoded: authority.certificate)
            let end = min(now.addingTimeInterval(Double(days * 86_400)), issuer.notValidAfter)
            let certificate = try Certificate(
                version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: request.publicKey,
                notValidBefore: now.addingTimeInterval(Double(-headStartHours * 3600)), notValidAfter: end,
                issuer: issuer.subject, subject: try DistinguishedName { CommonName("\(device)") },
                signatureAlgorithm: .ecdsaWithSHA256,
                extensions: try Certificate.Extensions {
                    Critical(BasicConstraints.notCertificateAuthority)
                    Critical(KeyUsage(digitalSignature: true))
                    try ExtendedKeyUsage([.clientAuth])
                    SubjectAlternativeNames([.uniformResourceIdentifier(device.uri)])
                    SubjectKeyIdentifier(hash: request.publicKey)
                    AuthorityKeyIdentifier(
                        keyIdentifier: SubjectKeyIdentifier(hash: issuer.publicKey).keyIdentifier)
                }, issuerPrivateKey: try Certificate.PrivateKey(pemEncoded: authority.key))
            return (
                try certificate.serializeAsPEM().pemString + "\n",
                Timestamp(seconds: Int64(end.timeIntervalSince1970))
            )
        } catch {
            throw ServerError(.certificate, "the certificate of the device cannot be made: \(error)")
        }
    }
}
