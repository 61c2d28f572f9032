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

    /// Which side of the connection this is.
    private enum Role {
        case client(TLSContext, ServerCertificateName)
        case server(TLSServerContext)
    }

    let transport = RecordTransport()
    private let role: Role
    private let ssl: OpaquePointer
    /// Set by the verification, because OpenSSL's code says less.
    private var verificationFailure: SecureLinkError?
    private var clientCertificateRequested = false
    /// The first bytes that the peer sent, to recognise a peer that does not speak TLS.
    private var firstBytes: [UInt8] = []
    private var isHandshakeDone = false

    /// The client's side. Throws `configuration` when no certificate can hold the name `host`.
    convenience init(context: TLSContext, host: String, verificationTime: Int64?) throws(SecureLinkError) {
        OpenSSLErrorQueue.clear()
        let identity = try ServerCertificateName(host: context.options.serverName ?? host)
        unsafe try self.init(.client(context, identity), context.handle.pointer)
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

    /// The server's side.
    convenience init(context: TLSServerContext) throws(SecureLinkError) {
        OpenSSLErrorQueue.clear()
        unsafe try self.init(.server(context), context.handle.pointer)
        unsafe SSL_set_accept_state(ssl)
    }

    private init(_ role: Role, _ context: OpaquePointer) throws(SecureLinkError) {
        guard let ssl = unsafe SSL_new(context) else {
            throw SecureLinkError(.other, "no memory for a TLS connection: \(OpenSSLErrorQueue.drain().summary)")
        }
        self.role = role
        unsafe self.ssl = unsafe ssl
        guard let bio = unsafe transport.makeBIO() else {
            throw SecureLinkError(.other, "no memory for a TLS connection: \(OpenSSLErrorQueue.drain().summary)")
        }
        // The one reference serves both directions, and SSL_free releases it.
        unsafe SSL_set_bio(ssl, bio, bio)
        unsafe SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
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

    /// Continues the handshake. `done` when the peer is verified and, for a client, the application protocol is agreed.
    func handshake() throws(SecureLinkError) -> Progress {
        OpenSSLErrorQueue.clear()
        let result = unsafe SSL_do_handshake(ssl)
        guard result == 1 else { return try progress(after: result) }
        // The callbacks have refused a wrong certificate already. This check catches a handshake that never called them.
        let isVerified = unsafe SSL_get_verify_result(ssl) == X509_V_OK
        switch role {
        case .client(let context, _):
            guard isVerified, unsafe SSL_get0_peer_certificate(ssl) != nil else {
                throw SecureLinkError(.certificateUntrusted, "the server's certificate was not verified")
            }
            try requireApplicationProtocol(context.options)
        case .server:
            guard isVerified else {
                throw SecureLinkError(.certificateUntrusted, "the client's certificate was not verified")
            }
        }
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

    /// The application protocol that was agreed; nil: none.
    var applicationProtocol: String? {
        var bytes: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        unsafe SSL_get0_alpn_selected(ssl, &bytes, &count)
        guard count > 0 else { return nil }
        return unsafe String(decoding: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
    }

    /// What a server's client has shown, in this handshake or in the one that it resumes; nil: none.
    var clientCertificate: TLSClientCertificate? {
        guard case .server = role, let certificate = unsafe SSL_get0_peer_certificate(ssl) else { return nil }
        return unsafe TLSClientCertificate(certificate)
    }

    var peerCertificate: [UInt8]? {
        unsafe SSL_get0_peer_certificate(ssl).flatMap { unsafe TLSCertificates.encoded($0) }
    }

    // MARK: - What OpenSSL calls

    /// Those that a server takes, by preference.
    var applicationProtocols: [[UInt8]] {
        if case .server(let context) = role { context.protocols } else { [] }
    }

    /// Takes a session ticket. True when the context keeps the reference.
    func keep(session: OpaquePointer?) -> Bool {
        guard let session = unsafe session, case .client(let context, let identity) = role else { return false }
        unsafe context.keep(session: session, serverName: identity.name)
        return true
    }

    /// Whether the options trust the chain in `store`. Keeps the reason when they do not.
    func verify(_ store: OpaquePointer) -> Bool {
        guard case .client(let context, let identity) = role else { return false }
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
        guard case .client(let context, _) = role else { return SecureLinkError(ofClient: errors) }
        if let stranger = PlainAnswer(firstBytes) { return stranger.error }
        return SecureLinkError(
            errors,
            situation: TLSFailureSituation(
                minimumVersion: context.options.minimumVersion,
                applicationProtocol: context.options.applicationProtocol,
                clientCertificateRequested: clientCertificateRequested,
                clientCertificateGiven: context.options.clientCertificate != nil))
    }

    private func requireApplicationProtocol(_ options: TLSClientOptions) throws(SecureLinkError) {
        let chosen = applicationProtocol ?? ""
        let wanted = options.applicationProtocol
        guard chosen != wanted, !chosen.isEmpty || options.requiresApplicationProtocol else { return }
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

/// The two buffers between OpenSSL and the channel: received bytes and bytes to send, both encrypted.
///
/// OpenSSL reaches the buffers through a BIO of our own. So bytes are copied as seldom as possible, and an idle
/// connection holds no buffer. The BIO's pointer to this object is unretained: ``TLSSession`` owns both and frees the
/// BIO first.
final class RecordTransport {
    private(set) var inbound = ByteBuffer()
    private(set) var outbound = ByteBuffer()

    /// Adds bytes from the peer.
    func receive(_ bytes: ByteBuffer) {
        if inbound.readableBytes == 0 {
            inbound = bytes
        } else {
            inbound.writeImmutableBuffer(bytes)
        }
    }

    /// Takes the bytes for the peer; nil when there are none.
    func takeOutbound() -> ByteBuffer? {
        guard outbound.readableBytes > 0 else { return nil }
        defer { outbound = ByteBuffer() }
        return outbound
    }

    /// Makes a BIO on these buffers; nil when out of memory.
    func makeBIO() -> OpaquePointer? {
        guard let method = unsafe bufferMethod, let bio = unsafe BIO_new(method) else { return nil }
        unsafe BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        unsafe BIO_set_init(bio, 1)
        return unsafe bio
    }

    fileprivate func read(into destination: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(destination.count, inbound.readableBytes)
        guard count > 0 else { return 0 }
        unsafe inbound.readWithUnsafeReadableBytes { source in
            unsafe destination.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[..<count]))
            return count
        }
        // Frees the memory as soon as all bytes were read.
        if inbound.readableBytes == 0 { inbound = ByteBuffer() }
        return count
    }

    fileprivate func write(_ bytes: UnsafeRawBufferPointer) {
        unsafe outbound.writeBytes(bytes)
    }

    fileprivate static func of(_ bio: OpaquePointer?) -> RecordTransport? {
        guard let data = unsafe BIO_get_data(bio) else { return nil }
        return unsafe Unmanaged<RecordTransport>.fromOpaque(data).takeUnretainedValue()
    }
}

/// `nonisolated(unsafe)`: made once, never changed and never freed.
private nonisolated(unsafe) let bufferMethod: OpaquePointer? = {
    guard let method = unsafe BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "saker record transport")
    else { return nil }
    unsafe BIO_meth_set_read(method) { bio, destination, count in
        unsafe saker_BIO_clear_retry_flags(bio)
        guard let transport = unsafe RecordTransport.of(bio), count > 0 else { return 0 }
        let read = unsafe transport.read(
            into: UnsafeMutableRawBufferPointer(start: destination, count: Int(count)))
        if read > 0 { return Int32(read) }
        // An empty buffer is not the end of the stream: OpenSSL must ask again.
        unsafe saker_BIO_set_retry_read(bio)
        return -1
    }
    unsafe BIO_meth_set_write(method) { bio, source, count in
        unsafe saker_BIO_clear_retry_flags(bio)
        guard let transport = unsafe RecordTransport.of(bio), count > 0 else { return 0 }
        unsafe transport.write(UnsafeRawBufferPointer(start: source, count: Int(count)))
        return count
    }
    // OpenSSL flushes after each flight and needs a yes. Its other commands do not matter here.
    unsafe BIO_meth_set_ctrl(method) { _, command, _, _ in
        command == BIO_CTRL_FLUSH || command == BIO_CTRL_DUP ? 1 : 0
    }
    return unsafe method
}()

/// Recognises a peer that does not speak TLS by its first bytes.
struct PlainAnswer {
    /// Enough bytes for the head of an HTTP answer up to its `Location`.
    static let bytesKept = 2048

    private let bytes: [UInt8]

    /// Nil when the bytes may be a TLS record, or when there are too few bytes to decide.
    init?(_ bytes: [UInt8]) {
        // A first record is an alert or a handshake, and its version begins with 3 in every TLS.
        guard let type = bytes.first, let major = bytes.dropFirst().first else { return nil }
        guard !(type == SSL3_RT_ALERT || type == SSL3_RT_HANDSHAKE) || major != 3 else { return nil }
        self.bytes = bytes
    }

    var error: SecureLinkError {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.hasPrefix("HTTP/") else {
            let start = text.printable(limit: 16)
            return SecureLinkError(
                .notTLS, "the peer does not speak TLS, its answer begins with \"\(start)\"; is the port right?")
        }
        // Split bytes, not characters: CR LF is one character of a String.
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0, as: UTF8.self) }
        let first = lines.first ?? ""
        let status = first.split(separator: " ").dropFirst().first.map(String.init) ?? ""
        let place = lines.dropFirst().prefix { !$0.isEmpty }.lazy.compactMap(Self.location).first
        // RFC 9110, section 15.4, and RFC 6585, section 6: "network authentication required".
        guard status == "511" || (status.hasPrefix("3") && place != nil) else {
            return SecureLinkError(
                .plainHTTP,
                "a plain HTTP server answers (\"\(first.printable(limit: 40))\"), no TLS; is the port right, or "
                    + "does a proxy answer in the server's place?")
        }
        let target = place.map { " to \($0)" } ?? ""
        return SecureLinkError(
            .signInPage,
            "a network's sign-in page answers (HTTP \(status.printable(limit: 3))\(target)): sign in there first")
    }

    /// The target of a `Location` line, without the query, which may identify the visitor.
    private static func location(_ line: String) -> String? {
        guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == "location" else { return nil }
        let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        let place = String(value.prefix { !"?#; ".contains($0) })
        return place.isEmpty ? nil : place.printable(limit: 100)
    }
}
