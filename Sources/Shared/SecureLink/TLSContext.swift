internal import COpenSSL
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
            guard kept?.serverName == serverName else { return nil }
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
