import Crypto
import Foundation
import Gateway
import NIOSSL
import ServerIdentity
import SwiftASN1
import TrackModel
import X509

/// A self-signed certificate for `localhost`, made for one test.
struct TestCertificate {
    let certificatePEM: String
    let keyPEM: String

    init() throws {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("localhost") }
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: Certificate.PublicKey(key.publicKey),
            notValidBefore: Date(timeIntervalSinceNow: -3600), notValidAfter: Date(timeIntervalSinceNow: 3600),
            issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                SubjectAlternativeNames([.dnsName("localhost")])
            }, issuerPrivateKey: Certificate.PrivateKey(key))
        certificatePEM = try certificate.serializeAsPEM().pemString + "\n"
        keyPEM = key.pemRepresentation + "\n"
    }

    /// Its files are gone afterwards: it cannot be reloaded.
    func server() throws -> ServerIdentity {
        let folder = FileManager.default.temporaryDirectory.appending(path: "certificate-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try server(in: folder)
    }

    /// The server takes certificates of devices that this certificate has signed.
    func server(in folder: URL, minimumTLS: MinimumTLS = .v13) throws -> ServerIdentity {
        try write(to: folder)
        return try ServerIdentity(
            files: .init(
                certificateChain: folder.appending(path: "c.pem").path, key: folder.appending(path: "k.pem").path,
                deviceAuthorities: folder.appending(path: "c.pem").path),
            minimumTLS: minimumTLS, applicationProtocols: GatewayConfiguration.applicationProtocols)
    }

    func write(to folder: URL) throws {
        try certificatePEM.write(to: folder.appending(path: "c.pem"), atomically: true, encoding: .utf8)
        try keyPEM.write(to: folder.appending(path: "k.pem"), atomically: true, encoding: .utf8)
    }

    /// A certificate with these URIs that this one has signed, and the SHA-256 of its key.
    func device(_ uris: [String]) throws -> (client: TLSConfiguration, keyHash: [UInt8]) {
        let key = P256.Signing.PrivateKey()
        let issuer = try Certificate(pemEncoded: certificatePEM)
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: Certificate.PublicKey(key.publicKey),
            notValidBefore: Date(timeIntervalSinceNow: -3600), notValidAfter: Date(timeIntervalSinceNow: 3600),
            issuer: issuer.subject, subject: try DistinguishedName { CommonName("device") },
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                try ExtendedKeyUsage([.clientAuth])
                SubjectAlternativeNames(uris.map { .uniformResourceIdentifier($0) })
            }, issuerPrivateKey: try Certificate.PrivateKey(pemEncoded: keyPEM))
        var configuration = try client()
        let pem = try certificate.serializeAsPEM().pemString
        configuration.certificateChain = try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)).map { .certificate($0) }
        configuration.privateKey = .privateKey(
            try NIOSSLPrivateKey(bytes: Array(key.pemRepresentation.utf8), format: .pem))
        return (configuration, Array(SHA256.hash(data: key.publicKey.derRepresentation)))
    }

    /// Trusts this certificate alone.
    func client() throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(certificatePEM.utf8)))
        configuration.applicationProtocols = ["saker/1"]
        return configuration
    }
}
