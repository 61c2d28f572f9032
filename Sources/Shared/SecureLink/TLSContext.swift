internal import COpenSSL
internal import Glibc
internal import Synchronization
internal import TrackModel

/// What all connections with the same ``TLSClientOptions`` share: trust, identity and the last session.
///
/// `init` reads the files that the options name. When a file or an option has changed, make a new context. A reconnect
/// to the same server resumes the last session, which saves the bytes of the certificates. When that session began, the
/// server was verified and its key compared with the pins.
///
/// `@unchecked Sendable`: OpenSSL counts references to an `SSL_CTX` atomically and locks what connections share in it.
/// The context is configured only in `init`, the other stored properties are constants, and the session is in a
/// `Mutex`.
@safe package final class TLSContext: @unchecked Sendable {
    package let options: TLSClientOptions

    /// What works but a person should look at. Log it once, at the top.
    package let warnings: [TLSWarning]

    let handle: OpenSSLHandle<SSLContextKind>

    /// When the client's own certificate ends, seconds since 1970 UTC; nil: it has none.
    package var clientCertificateEnd: Int64? {
        guard let certificate = unsafe SSL_CTX_get0_certificate(handle.pointer) else { return nil }
        return unsafe X509_get0_notAfter(certificate).seconds
    }

    private struct Resumption {
        var serverName: String
        /// The address of an `SSL_SESSION` that this state owns. A pointer would not be Sendable.
        var session: UInt
    }

    private let resumption = Mutex<Resumption?>(nil)

    /// Throws `configuration` for an option or file that cannot be used. The detail names it and says what to do.
    package init(_ options: TLSClientOptions) throws(SecureLinkError) {
        OpenSSLErrorQueue.clear()
        guard let handle = unsafe OpenSSLHandle<SSLContextKind>(owning: SSL_CTX_new(TLS_client_method())) else {
            throw SecureLinkError(.other, "OpenSSL could not start: \(OpenSSLErrorQueue.drain().summary)")
        }
        self.options = options
        let context = unsafe handle.pointer
        self.handle = handle
        let minimum = options.minimumVersion == .v13 ? TLS1_3_VERSION : TLS1_2_VERSION
        guard unsafe saker_SSL_CTX_set_min_proto_version(context, minimum) == 1 else {
            throw SecureLinkError(.configuration, "this OpenSSL does not speak TLS \(options.minimumVersion.rawValue)")
        }
        unsafe saker_SSL_CTX_set_channel_modes(context)
        unsafe saker_SSL_CTX_set_strict_options(context)
        unsafe saker_SSL_CTX_hand_over_sessions(context)
        // No terminal is asked for a passphrase: the agent refuses an encrypted key with a reason.
        unsafe SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in 0 }
        unsafe try Self.setApplicationProtocol(options.applicationProtocol, of: context)
        unsafe try Self.loadTrust(options, into: context)
        warnings =
            try options.clientCertificate.map { certificate throws(SecureLinkError) in
                unsafe try Self.loadClientCertificate(certificate, into: context)
            } ?? []
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        // Both callbacks find their connection through the SSL object, so no captured object must live longer.
        unsafe SSL_CTX_set_cert_verify_callback(context, { store, _ in unsafe verifyServerCertificate(store) }, nil)
        unsafe SSL_CTX_sess_set_new_cb(context) { ssl, session in
            unsafe TLSSession.of(ssl)?.keep(session: session) == true ? 1 : 0
        }
    }

    deinit {
        if let kept = resumption.withLock({ $0 }) { unsafe SSL_SESSION_free(OpaquePointer(bitPattern: kept.session)) }
    }

    /// Takes over a session that the server offered for resumption. It replaces the session before.
    func keep(session: OpaquePointer, serverName: String) {
        let old = resumption.withLock { kept in
            defer { kept = Resumption(serverName: serverName, session: UInt(bitPattern: session)) }
            return kept
        }
        if let old { unsafe SSL_SESSION_free(OpaquePointer(bitPattern: old.session)) }
    }

    /// Gives the kept session to `ssl` if it belongs to the same server. Each session is used once (RFC 8446, appendix
    /// C.4).
    func resume(_ ssl: OpaquePointer, serverName: String) {
        let kept = resumption.withLock { kept -> Resumption? in
            guard options.resumesSessions, kept?.serverName == serverName else { return nil }
            defer { kept = nil }
            return kept
        }
        guard let kept, let session = unsafe OpaquePointer(bitPattern: kept.session) else { return }
        if unsafe SSL_SESSION_is_resumable(session) == 1 { unsafe SSL_set_session(ssl, session) }
        unsafe SSL_SESSION_free(session)
    }

    private static func setApplicationProtocol(_ name: String, of context: OpaquePointer) throws(SecureLinkError) {
        let bytes = Array(name.utf8)
        guard (1...255).contains(bytes.count) else {
            throw SecureLinkError(.configuration, "an application protocol's name has 1...255 bytes")
        }
        let list = [UInt8(bytes.count)] + bytes
        // Unlike in most of OpenSSL, 0 means success here.
        guard unsafe SSL_CTX_set_alpn_protos(context, list, UInt32(list.count)) == 0 else {
            throw SecureLinkError(.other, "OpenSSL took no ALPN: \(OpenSSLErrorQueue.drain().summary)")
        }
    }
}

/// Reads the files that the options name: authorities, certificates, keys. Each error says which file, why, and what to
/// do.
extension TLSContext {
    private static func loadTrust(_ options: TLSClientOptions, into context: OpaquePointer) throws(SecureLinkError) {
        OpenSSLErrorQueue.clear()
        switch options.trust {
        case .systemRoots: unsafe try loadSystemRoots(into: context)
        case .authorities(let file): unsafe try loadAuthorities(file, into: context)
        case .authority(let certificate): unsafe try loadAuthority(certificate, into: context)
        case .systemRootsAnd(let file):
            unsafe try loadSystemRoots(into: context)
            unsafe try loadAuthorities(file, into: context)
        case .pinnedKeys:
            guard !options.pins.isEmpty else {
                throw SecureLinkError(
                    .configuration, "trust in pinned keys needs at least one pin, written sha256//BASE64")
            }
        }
    }

    private static func loadSystemRoots(into context: OpaquePointer) throws(SecureLinkError) {
        guard unsafe SSL_CTX_set_default_verify_paths(context) == 1 else {
            throw SecureLinkError(
                .configuration,
                "the system's certificate authorities cannot be used: \(OpenSSLErrorQueue.drain().summary)")
        }
    }

    private static func loadAuthority(_ encoded: [UInt8], into context: OpaquePointer) throws(SecureLinkError) {
        let certificate: OpaquePointer? = unsafe encoded.withUnsafeBufferPointer { bytes in
            var next = bytes.baseAddress
            return unsafe d2i_X509(nil, &next, bytes.count)
        }
        defer { unsafe X509_free(certificate) }
        guard let certificate = unsafe certificate,
            unsafe X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate) == 1
        else {
            throw SecureLinkError(
                .configuration,
                "the authority's certificate cannot be used: \(OpenSSLErrorQueue.drain().summary)")
        }
    }

    private static func loadAuthorities(_ file: String, into context: OpaquePointer) throws(SecureLinkError) {
        try requireReadable(file, what: "authorities")
        guard unsafe SSL_CTX_load_verify_file(context, file) == 1 else {
            throw SecureLinkError(
                .configuration,
                "\(file.printable(limit: 200)) holds no PEM certificates: \(OpenSSLErrorQueue.drain().summary)")
        }
    }

    private static func loadClientCertificate(
        _ certificate: TLSClientOptions.ClientCertificate, into context: OpaquePointer
    ) throws(SecureLinkError) -> [TLSWarning] {
        OpenSSLErrorQueue.clear()
        try requireReadable(certificate.chainFile, what: "client certificate")
        unsafe try use(chain: certificate.chainFile, in: context)
        switch certificate.key {
        case .file(let path):
            let warnings = try permissionWarnings(ofKey: path)
            unsafe try pair(certificate, path.printable(limit: 200), in: context) {
                unsafe SSL_CTX_use_PrivateKey_file(context, path, SSL_FILETYPE_PEM) == 1
                    ? nil : "is not a PEM private key without a passphrase, or does not belong to the certificate"
            }
            return warnings
        case .store(let uri):
            let pin = try certificate.store.pinFile.map { file throws(SecureLinkError) in try PIN(file: file) }
            var warnings: [TLSWarning] = []
            if let file = certificate.store.pinFile {
                warnings = openToOthers(file).map { [.pinFileOpenToOthers(path: file, mode: $0)] } ?? []
            }
            let key = try loadKey(storeURI: uri, certificate.store, pin)
            let pointer = unsafe key.pointer
            unsafe try pair(certificate, redacted(storeURI: uri), in: context) {
                unsafe SSL_CTX_use_PrivateKey(context, pointer) == 1 ? nil : "is not the certificate's key"
            }
            withExtendedLifetime(key) {}
            return warnings
        }
    }

    private static func use(chain file: String, in context: OpaquePointer) throws(SecureLinkError) {
        guard unsafe SSL_CTX_use_certificate_chain_file(context, file) == 1 else {
            throw SecureLinkError(
                .configuration,
                "\(file.printable(limit: 200)) holds no PEM certificate chain: " + OpenSSLErrorQueue.drain().summary)
        }
    }

    /// Puts the key beside the certificate, or beside the next one, if it is that one's. `useKey` returns what is wrong; nil: the
    /// context has the key. `name`: of the key.
    private static func pair(
        _ certificate: TLSClientOptions.ClientCertificate, _ name: String, in context: OpaquePointer,
        useKey: () -> String?
    ) throws(SecureLinkError) {
        func problem() -> SecureLinkError? {
            if let problem = useKey() { return keyError(name, problem) }
            guard unsafe SSL_CTX_check_private_key(context) != 1 else { return nil }
            return keyError(name, "is not the key of \(certificate.chainFile.printable(limit: 200))")
        }
        guard let first = problem() else { return }
        guard let next = certificate.nextChainFile, unsafe access(next, R_OK) == 0 else { throw first }
        do throws(SecureLinkError) {
            try requireReadable(next, what: "next client certificate")
            unsafe try use(chain: next, in: context)
            if let second = problem() { throw second }
        } catch {
            throw first
        }
    }

    // OpenSSL attaches the whole URI, which may contain the PIN. So only OpenSSL's reasons are shown.
    static func keyError(_ name: String, _ problem: String) -> SecureLinkError {
        SecureLinkError(
            .configuration, "the client certificate's key \(name) \(problem): \(OpenSSLErrorQueue.drain().reasons)")
    }

    /// The store URI without its PIN: leaves out everything after `pin-value=` up to the next separator.
    static func redacted(storeURI uri: String) -> String {
        var shown = ""
        var rest = uri[...]
        while let separator = rest.firstIndex(where: { ";?&:".contains($0) }) {
            shown += redacted(attribute: rest[..<separator]) + String(rest[separator])
            rest = rest[rest.index(after: separator)...]
        }
        return (shown + redacted(attribute: rest)).printable(limit: 200)
    }

    private static func redacted(attribute: Substring) -> String {
        guard let equals = attribute.firstIndex(of: "=") else { return String(attribute) }
        let key = attribute[..<equals].lowercased()
        return key == "pin-value" || key == "pin" || key == "password" ? "\(key)=…" : String(attribute)
    }

    static func requireReadable(_ path: String, what: String) throws(SecureLinkError) {
        var status = stat()
        let kind = unsafe stat(path, &status) == 0 ? status.st_mode & S_IFMT : S_IFREG
        // Nobody may ever write into a pipe, and a device never ends.
        guard kind == S_IFREG || kind == S_IFDIR else {
            throw SecureLinkError(
                .configuration,
                "the file of the \(what), \(path.printable(limit: 200)), is a pipe, a socket or a device: name a regular file"
            )
        }
        guard unsafe access(path, R_OK) != 0 else { return }
        let reason = unsafe String(cString: strerror(errno))
        throw SecureLinkError(
            .configuration, "the file of the \(what), \(path.printable(limit: 200)), cannot be read: \(reason)")
    }

    private static func permissionWarnings(ofKey path: String) throws(SecureLinkError) -> [TLSWarning] {
        try requireReadable(path, what: "client certificate's key")
        return openToOthers(path).map { [.keyFileOpenToOthers(path: path, mode: $0)] } ?? []
    }

    /// The permission bits of a file that other users than the owner may use; nil when only the owner may.
    private static func openToOthers(_ path: String) -> UInt32? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        var forbidden = S_IRWXG | S_IRWXO
        // systemd gives its service access to a credential by an access control list, which looks like a right of the
        // group.
        if let directory = unsafe getenv("CREDENTIALS_DIRECTORY"), path.hasPrefix(unsafe String(cString: directory)) {
            forbidden &= ~S_IRGRP
        }
        let mode = status.st_mode & 0o777
        return mode & forbidden == 0 ? nil : mode
    }
}
