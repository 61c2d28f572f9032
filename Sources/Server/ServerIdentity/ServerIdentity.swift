internal import DirectoryAccess
internal import NIOCore
package import NIOSSL
internal import SwiftASN1
internal import Synchronization
package import TrackModel
internal import X509

/// What a listener shows in its TLS handshakes: the certificate chain and the key, and whom it demands a certificate of. The
/// files can be exchanged while connections come in.
///
/// A connection keeps what it began with. The next handshake uses what was loaded last.
package final class ServerIdentity: Sendable {
    /// PEM files, read at the start and at every reload.
    package struct Files: Hashable, Sendable {
        package var certificateChain: String
        /// Shown in its place when the key is not that of ``certificateChain`` and is that of this one; may be missing. A
        /// certificate and its key are never replaced at one moment.
        package var nextCertificateChain: String?
        /// The one of its certificates that has signed the chain is shown behind it: for clients that know only the authority's key.
        /// Others are of no use to anybody, and clients refuse a chain that is too long.
        package var shownAuthorities: String?
        package var key: String
        /// With it, only clients with a certificate of one of these authorities get in.
        package var clientAuthorities: String?
        /// A client may show a certificate of one of these authorities, or none.
        package var deviceAuthorities: String?

        package init(
            certificateChain: String, nextCertificateChain: String? = nil, shownAuthorities: String? = nil, key: String,
            clientAuthorities: String? = nil, deviceAuthorities: String? = nil
        ) {
            self.certificateChain = certificateChain
            self.nextCertificateChain = nextCertificateChain
            self.shownAuthorities = shownAuthorities
            self.key = key
            self.clientAuthorities = clientAuthorities
            self.deviceAuthorities = deviceAuthorities
        }
    }

    private struct Loaded: Sendable {
        let configuration: TLSConfiguration
        let context: NIOSSLContext
        let contextForAnybody: NIOSSLContext
    }

    private let files: Files
    private let minimumTLS: MinimumTLS
    private let applicationProtocols: [String]
    private let loaded: Mutex<Loaded>

    /// Throws ``ServerIdentityError`` when a file cannot be read, or when certificate and key do not belong together.
    package init(
        files: Files, minimumTLS: MinimumTLS, applicationProtocols: [String]
    ) throws(ServerIdentityError) {
        self.files = files
        self.minimumTLS = minimumTLS
        self.applicationProtocols = applicationProtocols
        loaded = Mutex(try Self.load(files, minimumTLS, applicationProtocols))
    }

    /// Reads the files again. On a throw the former ones stay in use.
    package func reload() throws(ServerIdentityError) {
        let new = try Self.load(files, minimumTLS, applicationProtocols)
        loaded.withLock { $0 = new }
    }

    /// For the next handshake.
    package var context: NIOSSLContext { loaded.withLock { $0.context } }

    /// The same, and it asks clients for no certificate: by a clock that is wrong, every certificate would be refused, and the
    /// client could not be told why. Nobody may get in through it.
    package var contextForAnybody: NIOSSLContext { loaded.withLock { $0.contextForAnybody } }

    /// For a listener that takes a configuration once. The chain and the key of its handshakes follow later reloads; the
    /// authorities of clients do not.
    package var configuration: TLSConfiguration {
        var configuration = loaded.withLock { $0.configuration }
        configuration.sslContextCallback = { [self] _, promise in
            let current = loaded.withLock { $0.configuration }
            var override = NIOSSLContextConfigurationOverride()
            override.certificateChain = current.certificateChain
            override.privateKey = current.privateKey
            promise.succeed(override)
        }
        return configuration
    }

    private static func load(
        _ files: Files, _ minimumTLS: MinimumTLS, _ applicationProtocols: [String]
    ) throws(ServerIdentityError) -> Loaded {
        do throws(ServerIdentityError) {
            return try load(files, chain: files.certificateChain, minimumTLS, applicationProtocols)
        } catch {
            // The former certificate with its successor's key: the replacement was cut between the two.
            guard let next = files.nextCertificateChain,
                let loaded = try? load(files, chain: next, minimumTLS, applicationProtocols)
            else { throw error }
            return loaded
        }
    }

    private static func load(
        _ files: Files, chain chainFile: String, _ minimumTLS: MinimumTLS, _ applicationProtocols: [String]
    ) throws(ServerIdentityError) -> Loaded {
        var chain = try certificates(chainFile)
        if let file = files.shownAuthorities {
            let authorities = try certificates(file)
            if let last = chain.last, let signer = signer(of: last, among: authorities) { chain.append(signer) }
        }
        let key: NIOSSLPrivateKey
        let keyBytes = try bytes(files.key, "holds no readable private key in PEM without a password")
        do {
            key = try NIOSSLPrivateKey(bytes: keyBytes, format: .pem)
        } catch {
            throw ServerIdentityError(
                "\(files.key) holds no readable private key in PEM without a password: check the path, owner and mode")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion =
            switch minimumTLS {
            case .v12: .tlsv12
            case .v13: .tlsv13
            }
        configuration.applicationProtocols = applicationProtocols
        // BoringSSL's own list has no Ed25519, which a key of a device may be.
        configuration.verifySignatureAlgorithms = verifiable
        let authorities = [files.clientAuthorities, files.deviceAuthorities].compactMap { $0 }
        if !authorities.isEmpty {
            var roots: [NIOSSLCertificate] = []
            for file in authorities { roots += try certificates(file) }
            configuration.trustRoots = .certificates(roots)
            // A client has no host name. The owner of the listener judges whose certificate it is.
            configuration.certificateVerification =
                files.clientAuthorities == nil ? .optionalVerification : .noHostnameVerification
        }
        // Only a context shows whether certificate and key belong together.
        do {
            var forAnybody = configuration
            forAnybody.certificateVerification = .none
            return Loaded(
                configuration: configuration, context: try NIOSSLContext(configuration: configuration),
                contextForAnybody: try NIOSSLContext(configuration: forAnybody))
        } catch {
            throw ServerIdentityError(
                "the key in \(files.key) does not belong to the certificate in \(chainFile)")
        }
    }

    /// Nil for a certificate that has signed itself, and when no authority has signed it.
    private static func signer(
        of certificate: NIOSSLCertificate, among authorities: [NIOSSLCertificate]
    ) -> NIOSSLCertificate? {
        guard let signed = read(certificate), signed.issuer != signed.subject else { return nil }
        return authorities.first { authority in
            guard let authority = read(authority), authority.subject == signed.issuer else { return false }
            return authority.publicKey.isValidSignature(signed.signature, for: signed)
        }
    }

    private static func read(_ certificate: NIOSSLCertificate) -> Certificate? {
        (try? certificate.toDERBytes()).flatMap { try? Certificate(derEncoded: $0) }
    }

    private static let verifiable: [SignatureAlgorithm] = [
        .ecdsaSecp256R1Sha256, .ecdsaSecp384R1Sha384, .ed25519, .rsaPssRsaeSha256, .rsaPssRsaeSha384, .rsaPssRsaeSha512,
        .rsaPkcs1Sha256, .rsaPkcs1Sha384, .rsaPkcs1Sha512,
    ]

    /// The certificates of a PEM file. Only a regular file is opened.
    package static func certificates(_ file: String) throws(ServerIdentityError) -> [NIOSSLCertificate] {
        let pem = try bytes(file, "holds no readable certificate in PEM")
        let found: [NIOSSLCertificate]
        do {
            found = try NIOSSLCertificate.fromPEMBytes(pem)
        } catch {
            throw ServerIdentityError(
                "\(file) holds no readable certificate in PEM: check the path, the file's owner and mode")
        }
        guard !found.isEmpty else { throw ServerIdentityError("\(file) holds no certificate") }
        return found
    }

    /// `problem`: what the file is said to be when it cannot be read.
    private static func bytes(_ file: String, _ problem: String) throws(ServerIdentityError) -> [UInt8] {
        do throws(FileTrouble) {
            return try RegularFile.bytes(file)
        } catch {
            throw ServerIdentityError(
                error.number == FileTrouble.irregular
                    ? "\(file) cannot be read: \(error.reason)"
                    : "\(file) \(problem) (\(error.reason)): check the path, the file's owner and mode")
        }
    }
}

/// Why a certificate or key cannot be used. Names the file, never its content.
package struct ServerIdentityError: Error, Equatable, CustomStringConvertible {
    package let detail: String

    package init(_ detail: String) {
        self.detail = detail
    }

    package var description: String { detail }
}
