internal import DirectoryAccess
package import SecureLink
internal import Synchronization
package import TrackModel

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
        let context: TLSServerContext
        let contextForAnybody: TLSServerContext
        let chain: TLSCertificates
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
    package var context: TLSServerContext { loaded.withLock { $0.context } }

    /// The same, and it asks clients for no certificate: by a clock that is wrong, every certificate would be refused, and the
    /// client could not be told why. Nobody may get in through it.
    package var contextForAnybody: TLSServerContext { loaded.withLock { $0.contextForAnybody } }

    /// What the next handshake shows.
    package var chain: TLSCertificates { loaded.withLock { $0.chain } }

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
        if let file = files.shownAuthorities, let signer = try certificates(file).signer(ofTheLastOf: chain) {
            chain = chain.appending(signer)
        }
        let key: TLSPrivateKey
        let keyBytes = try bytes(files.key, "holds no readable private key in PEM without a password")
        do {
            key = try TLSPrivateKey(pem: keyBytes)
        } catch {
            throw ServerIdentityError(
                "\(files.key) holds no readable private key in PEM without a password: check the path, owner and mode")
        }
        var authorities: TLSCertificates?
        for file in [files.clientAuthorities, files.deviceAuthorities].compactMap({ $0 }) {
            let found = try certificates(file)
            authorities = authorities?.appending(found) ?? found
        }
        // A client has no host name. The owner of the listener judges whose certificate it is.
        let clients = authorities.map { authorities -> TLSServerContext.Clients in
            files.clientAuthorities == nil ? .certified(by: authorities) : .certifiedOnly(by: authorities)
        }
        // Only a context shows whether certificate and key belong together.
        do {
            func context(for clients: TLSServerContext.Clients) throws(SecureLinkError) -> TLSServerContext {
                try TLSServerContext(
                    TLSServerContext.Options(
                        chain: chain, key: key, minimumVersion: minimumTLS, applicationProtocols: applicationProtocols,
                        clients: clients))
            }
            return Loaded(
                context: try context(for: clients ?? .anybody), contextForAnybody: try context(for: .anybody),
                chain: chain)
        } catch {
            throw ServerIdentityError(
                "the key in \(files.key) does not belong to the certificate in \(chainFile)")
        }
    }

    /// The certificates of a PEM file. Only a regular file is opened.
    package static func certificates(_ file: String) throws(ServerIdentityError) -> TLSCertificates {
        let pem = try bytes(file, "holds no readable certificate in PEM")
        do {
            return try TLSCertificates(pem: pem)
        } catch {
            throw ServerIdentityError(
                "\(file) holds no readable certificate in PEM: check the path, the file's owner and mode")
        }
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
