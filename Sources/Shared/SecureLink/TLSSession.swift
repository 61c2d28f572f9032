internal import COpenSSL
internal import NIOCore

/// One TLS connection without its socket: encrypted bytes go in and out of ``transport``, plain bytes go in and out
/// here.
///
/// Not Sendable: it lives on its channel's event loop. The OpenSSL object keeps an unretained pointer to this object
/// for the callbacks. The callbacks run only inside calls that are made here.
@safe final class TLSSession {
    /// The result of an operation. "Would block" is a case of its own, not an error.
    enum Progress: Hashable {
        case done
        /// The operation needs more bytes from the peer.
        case needsInput
        /// The peer said goodbye (close_notify).
        case closed
    }

    /// The largest plaintext of one TLS record (RFC 8446, section 5.1).
    static let maximumRecord = 16_384

    let transport = RecordTransport()
    let identity: ServerIdentity
    private let context: TLSContext
    private let ssl: OpaquePointer
    /// Set by the verification, because OpenSSL's code says less.
    private var verificationFailure: SecureLinkError?
    private var clientCertificateRequested = false
    /// The first bytes that the peer sent, to recognise a peer that does not speak TLS.
    private var firstBytes: [UInt8] = []
    private var isHandshakeDone = false

    /// Throws `configuration` when no certificate can hold the name `host`.
    init(context: TLSContext, host: String, verificationTime: Int64?) throws(SecureLinkError) {
        OpenSSLErrorQueue.clear()
        identity = try ServerIdentity(host: context.options.serverName ?? host)
        self.context = context
        guard let ssl = unsafe SSL_new(context.handle.pointer) else {
            throw SecureLinkError(.other, "no memory for a TLS connection: \(OpenSSLErrorQueue.drain().summary)")
        }
        unsafe self.ssl = unsafe ssl
        guard let bio = unsafe transport.makeBIO() else {
            throw SecureLinkError(.other, "no memory for a TLS connection: \(OpenSSLErrorQueue.drain().summary)")
        }
        // The one reference serves both directions, and SSL_free releases it.
        unsafe SSL_set_bio(ssl, bio, bio)
        unsafe SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
        unsafe SSL_set_cert_cb(
            ssl,
            { ssl, _ in
                unsafe TLSSession.of(ssl)?.clientCertificateRequested = true
                return 1
            }, nil)
        unsafe try identity.require(of: ssl)
        if let verificationTime { unsafe X509_VERIFY_PARAM_set_time(SSL_get0_param(ssl), Int(verificationTime)) }
        unsafe SSL_set_connect_state(ssl)
        unsafe context.resume(ssl, serverName: identity.name)
    }

    deinit { unsafe SSL_free(ssl) }

    /// The connection of an OpenSSL callback. The reference is borrowed for the duration of the callback.
    static func of(_ ssl: OpaquePointer?) -> TLSSession? {
        guard let ssl = unsafe ssl, let data = unsafe SSL_get_ex_data(ssl, 0) else { return nil }
        return unsafe Unmanaged<TLSSession>.fromOpaque(data).takeUnretainedValue()
    }

    // MARK: - What the handler does

    /// Takes encrypted bytes from the peer.
    func receive(_ bytes: ByteBuffer) {
        if !isHandshakeDone {
            firstBytes += bytes.readableBytesView.prefix(PlainAnswer.bytesKept - firstBytes.count)
        }
        transport.receive(bytes)
    }

    /// Continues the handshake. `done` when the server is verified and the application protocol is agreed.
    func handshake() throws(SecureLinkError) -> Progress {
        OpenSSLErrorQueue.clear()
        let result = unsafe SSL_do_handshake(ssl)
        guard result == 1 else { return try progress(after: result) }
        // The callback has refused a wrong certificate already. This check catches a handshake that never called the
        // callback.
        guard unsafe SSL_get_verify_result(ssl) == X509_V_OK, unsafe SSL_get0_peer_certificate(ssl) != nil else {
            throw SecureLinkError(.certificateUntrusted, "the server's certificate was not verified")
        }
        try requireApplicationProtocol()
        isHandshakeDone = true
        firstBytes = []
        return .done
    }

    /// Decrypts into `buffer`, at most `limit` bytes and one record.
    func read(into buffer: inout ByteBuffer, limit: Int) throws(SecureLinkError) -> Progress {
        OpenSSLErrorQueue.clear()
        var count = 0
        var result: Int32 = 0
        unsafe buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: limit) { space in
            result = unsafe SSL_read_ex(ssl, space.baseAddress, min(limit, space.count), &count)
            return result == 1 ? count : 0
        }
        return result == 1 ? .done : try progress(after: result)
    }

    /// Encrypts the first of `bytes`, at most one record. Returns how many bytes, more than 0.
    func write(firstOf bytes: ByteBuffer) throws(SecureLinkError) -> Int {
        OpenSSLErrorQueue.clear()
        var count = 0
        let result = unsafe bytes.withUnsafeReadableBytes { source in
            unsafe SSL_write_ex(ssl, source.baseAddress, min(source.count, Self.maximumRecord), &count)
        }
        if result == 1, count > 0 { return count }
        switch try progress(after: result) {
        case .done, .needsInput:
            // The transport takes every byte and renegotiation is off, so OpenSSL has nothing to wait for.
            throw SecureLinkError(.other, "OpenSSL could not encrypt")
        case .closed:
            throw SecureLinkError(.closedByPeer, "the connection is closed")
        }
    }

    /// Sends the goodbye (close_notify). The peer's further bytes can still be read.
    func sayGoodbye() {
        OpenSSLErrorQueue.clear()
        unsafe SSL_shutdown(ssl)
        OpenSSLErrorQueue.clear()
    }

    /// An upper bound of what ``read(into:limit:)`` will give: decrypted bytes, and encrypted bytes that are not
    /// decrypted yet.
    var readableBound: Int { unsafe transport.inbound.readableBytes + Int(SSL_pending(ssl)) }

    /// The results of the handshake.
    var peer: TLSPeer {
        let certificate = unsafe SSL_get0_peer_certificate(ssl)
        return unsafe TLSPeer(
            protocolVersion: unsafe String(cString: SSL_get_version(ssl)),
            cipher: unsafe String(cString: SSL_CIPHER_get_name(SSL_get_current_cipher(ssl))),
            resumed: SSL_session_reused(ssl) == 1,
            certificateExpires: unsafe X509_get0_notAfter(certificate).seconds,
            pin: PublicKeyPin(of: certificate))
    }

    // MARK: - What OpenSSL calls

    /// Takes a session ticket. True when the context keeps the reference.
    func keep(session: OpaquePointer?) -> Bool {
        guard let session = unsafe session else { return false }
        unsafe context.keep(session: session, serverName: identity.name)
        return true
    }

    /// Whether the options trust the chain in `store`. Keeps the reason when they do not.
    func verify(_ store: OpaquePointer) -> Bool {
        let verification = ServerVerification(options: context.options, identity: identity)
        verificationFailure = unsafe verification.failure(of: store)
        return verificationFailure == nil
    }

    // MARK: - Results

    private func progress(after result: Int32) throws(SecureLinkError) -> Progress {
        switch unsafe SSL_get_error(ssl, result) {
        case SSL_ERROR_NONE: return .done
        case SSL_ERROR_WANT_READ: return .needsInput
        case SSL_ERROR_ZERO_RETURN: return .closed
        default: throw failure()
        }
    }

    private func failure() -> SecureLinkError {
        let errors = OpenSSLErrorQueue.drain()
        if let verificationFailure { return verificationFailure }
        if let stranger = PlainAnswer(firstBytes) { return stranger.error }
        return SecureLinkError(
            errors,
            situation: TLSFailureSituation(
                minimumVersion: context.options.minimumVersion,
                applicationProtocol: context.options.applicationProtocol,
                clientCertificateRequested: clientCertificateRequested,
                clientCertificateGiven: context.options.clientCertificate != nil))
    }

    private func requireApplicationProtocol() throws(SecureLinkError) {
        var bytes: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        unsafe SSL_get0_alpn_selected(ssl, &bytes, &count)
        let chosen = unsafe String(decoding: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
        let wanted = context.options.applicationProtocol
        guard chosen != wanted, !chosen.isEmpty || context.options.requiresApplicationProtocol else { return }
        let answer = chosen.isEmpty ? "none" : "\"\(chosen.printable(limit: 40))\""
        throw SecureLinkError(
            .alpnMismatch,
            "the server chose \(answer) as application protocol where \"\(wanted)\" is needed; is this the port of a "
                + "Saker gateway?")
    }
}

/// The results of a finished handshake; also the user event that follows `channelActive`.
package struct TLSPeer: Hashable, Sendable {
    /// OpenSSL's name: `TLSv1.3`.
    package let protocolVersion: String
    /// OpenSSL's name: `TLS_AES_256_GCM_SHA384`.
    package let cipher: String
    /// Whether the handshake resumed an earlier session, without sending certificates.
    package let resumed: Bool
    /// The end of the certificate's validity, seconds since 1970; nil when it cannot be read.
    package let certificateExpires: Int64?
    /// The pin for the server's key.
    package let pin: PublicKeyPin?
}
