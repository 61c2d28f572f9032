internal import COpenSSL
package import TrackModel

/// What the connections of a listener share: the certificate chain and the key that it shows, and whom it asks for a certificate.
///
/// A connection keeps the context that it began with. Sessions are resumed by tickets, which only the context itself can read: so a new
/// context lets nobody resume a session that an older one began.
///
/// `@unchecked Sendable`: OpenSSL counts references to an `SSL_CTX` atomically and locks what connections share in it. The context is
/// configured only in `init`.
@safe package final class TLSServerContext: @unchecked Sendable {
    package struct Options: Sendable {
        /// The certificate of the server, and then those that signed it.
        package var chain: TLSCertificates
        package var key: TLSPrivateKey
        package var minimumVersion: MinimumTLS
        /// In the order of preference. A client that knows none of them gets none.
        package var applicationProtocols: [String]
        package var clients: Clients

        package init(
            chain: TLSCertificates, key: TLSPrivateKey, minimumVersion: MinimumTLS, applicationProtocols: [String],
            clients: Clients = .anybody
        ) {
            self.chain = chain
            self.key = key
            self.minimumVersion = minimumVersion
            self.applicationProtocols = applicationProtocols
            self.clients = clients
        }
    }

    /// Whose certificates a listener wants. A certificate that is shown must be valid, and one of these authorities must have signed it.
    package enum Clients: Sendable {
        /// Clients are asked for none.
        case anybody
        /// Clients may have one.
        case certified(by: TLSCertificates)
        /// Clients without one are refused.
        case certifiedOnly(by: TLSCertificates)
    }

    let handle: OpenSSLHandle<SSLContextKind>
    /// The names of the application protocols, in the order of preference.
    let protocols: [[UInt8]]

    /// Of TLS 1.2: each encrypts with authentication, and no recorded connection can be read with a key that is stolen later. Those of
    /// TLS 1.3 all do.
    private static let ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20"

    /// Throws `configuration` when the key is not that of the first certificate, or when a protocol's name cannot be one.
    package init(_ options: Options) throws(SecureLinkError) {
        OpenSSLErrorQueue.clear()
        guard let handle = unsafe OpenSSLHandle<SSLContextKind>(owning: SSL_CTX_new(TLS_server_method())) else {
            throw SecureLinkError(.other, "OpenSSL could not start: \(OpenSSLErrorQueue.drain().summary)")
        }
        let context = unsafe handle.pointer
        self.handle = handle
        protocols = options.applicationProtocols.map { Array($0.utf8) }
        if let name = protocols.first(where: { !(1...255).contains($0.count) }) {
            throw SecureLinkError(
                .configuration, "an application protocol's name has 1...255 bytes, and not \(name.count)")
        }
        let minimum = options.minimumVersion == .v13 ? TLS1_3_VERSION : TLS1_2_VERSION
        guard unsafe saker_SSL_CTX_set_min_proto_version(context, minimum) == 1 else {
            throw SecureLinkError(.configuration, "this OpenSSL does not speak TLS \(options.minimumVersion.rawValue)")
        }
        guard unsafe SSL_CTX_set_cipher_list(context, Self.ciphers) == 1 else {
            throw SecureLinkError(.configuration, "this OpenSSL has no cipher of TLS 1.2 that is taken here")
        }
        unsafe saker_SSL_CTX_set_channel_modes(context)
        unsafe saker_SSL_CTX_set_strict_options(context)
        unsafe saker_SSL_CTX_keep_no_sessions(context)
        unsafe try Self.show(options, in: context)
        unsafe try Self.ask(options.clients, in: context)
        // Found through the SSL object, so nothing that is captured must live longer than the context.
        unsafe SSL_CTX_set_alpn_select_cb(
            context,
            { ssl, chosen, length, offered, count, _ in
                let list = unsafe UnsafeBufferPointer(start: offered, count: Int(count))
                for name in unsafe TLSSession.of(ssl)?.applicationProtocols ?? [] {
                    guard let place = unsafe TLSServerContext.place(of: name, in: list) else { continue }
                    unsafe chosen?.pointee = offered?.advanced(by: place)
                    unsafe length?.pointee = UInt8(name.count)
                    return SSL_TLSEXT_ERR_OK
                }
                return SSL_TLSEXT_ERR_NOACK
            }, nil)
    }

    /// Where a name begins in a list of ALPN; nil: it is not there.
    private static func place(of name: [UInt8], in list: UnsafeBufferPointer<UInt8>) -> Int? {
        var start = 0
        while start < list.count {
            let (begin, end) = unsafe (start + 1, start + 1 + Int(list[start]))
            guard end <= list.count else { return nil }
            if unsafe list[begin..<end].elementsEqual(name) { return begin }
            start = end
        }
        return nil
    }

    private static func show(_ options: Options, in context: OpaquePointer) throws(SecureLinkError) {
        unsafe saker_SSL_CTX_show_given_chain(context)
        for (index, certificate) in options.chain.all.enumerated() {
            // The context takes a reference of its own to each.
            let isTaken =
                index == 0
                ? unsafe SSL_CTX_use_certificate(context, certificate.pointer) == 1
                : unsafe saker_SSL_CTX_add1_chain_cert(context, certificate.pointer) == 1
            guard isTaken else {
                throw SecureLinkError(
                    .configuration, "OpenSSL refuses a certificate: \(OpenSSLErrorQueue.drain().summary)")
            }
        }
        guard unsafe SSL_CTX_use_PrivateKey(context, options.key.handle.pointer) == 1,
            unsafe SSL_CTX_check_private_key(context) == 1
        else {
            throw SecureLinkError(
                .configuration, "the key is not that of the certificate: \(OpenSSLErrorQueue.drain().reasons)")
        }
    }

    private static func ask(_ clients: Clients, in context: OpaquePointer) throws(SecureLinkError) {
        let (authorities, mode): (TLSCertificates, Int32)
        switch clients {
        case .anybody: return
        case .certified(let by): (authorities, mode) = (by, SSL_VERIFY_PEER)
        case .certifiedOnly(let by): (authorities, mode) = (by, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT)
        }
        let store = unsafe SSL_CTX_get_cert_store(context)
        for authority in authorities.all {
            // One that is there twice is no error.
            guard unsafe X509_STORE_add_cert(store, authority.pointer) == 1 else {
                throw SecureLinkError(
                    .configuration, "OpenSSL refuses an authority: \(OpenSSLErrorQueue.drain().summary)")
            }
        }
        unsafe SSL_CTX_set_verify(context, mode, nil)
        // Without a name for its sessions OpenSSL lets nobody resume one that began with a certificate.
        let name = Array("saker".utf8)
        guard unsafe SSL_CTX_set_session_id_context(context, name, UInt32(name.count)) == 1 else {
            throw SecureLinkError(.other, "OpenSSL takes no name of sessions: \(OpenSSLErrorQueue.drain().summary)")
        }
    }
}

/// Certificates in memory, in the order of their PEM text.
package struct TLSCertificates: Sendable {
    /// `@unchecked Sendable`: a certificate never changes, and OpenSSL counts references to it atomically.
    @safe final class Certificate: @unchecked Sendable {
        let pointer: OpaquePointer

        init(owning pointer: OpaquePointer) { unsafe self.pointer = unsafe pointer }

        deinit { unsafe X509_free(pointer) }
    }

    let all: [Certificate]

    /// Throws `configuration` for a text without a certificate, or with one that cannot be read.
    package init(pem: [UInt8]) throws(SecureLinkError) {
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        guard let bio = MemoryBIO(pem) else { throw SecureLinkError(.other, "no memory for certificates") }
        var found: [Certificate] = []
        while let certificate = unsafe PEM_read_bio_X509(bio.pointer, nil, nil, nil) {
            found.append(unsafe Certificate(owning: certificate))
        }
        // The end of the text is the only error that a text may end with.
        guard !found.isEmpty, OpenSSLErrorQueue.drain().allSatisfy(\.isEndOfPEM) else {
            throw SecureLinkError(.configuration, "it holds no readable certificate in PEM")
        }
        all = found
    }

    private init(_ all: [Certificate]) { self.all = all }

    package var count: Int { all.count }

    /// These, and then others.
    package func appending(_ others: Self) -> Self { Self(all + others.all) }

    /// The one of these authorities that has signed the last certificate of a chain, alone; nil: none has, or the last certificate has
    /// signed itself.
    package func signer(ofTheLastOf chain: Self) -> Self? {
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        guard let last = chain.all.last else { return nil }
        let issuer = unsafe X509_get_issuer_name(last.pointer)
        guard unsafe X509_NAME_cmp(issuer, X509_get_subject_name(last.pointer)) != 0 else { return nil }
        return all.first { authority in
            unsafe X509_NAME_cmp(issuer, X509_get_subject_name(authority.pointer)) == 0
                && X509_verify(last.pointer, X509_get0_pubkey(authority.pointer)) == 1
        }.map { Self([$0]) }
    }

    /// When each is valid; one whose times cannot be read is left out.
    package var validities: [CertificateFile.Validity] {
        all.compactMap { certificate in
            let from = unsafe X509_get0_notBefore(certificate.pointer).seconds
            let until = unsafe X509_get0_notAfter(certificate.pointer).seconds
            guard let from, let until else { return nil }
            return CertificateFile.Validity(from: from, until: until)
        }
    }

    /// Each in DER.
    package var encoded: [[UInt8]] {
        all.compactMap { unsafe Self.encoded($0.pointer) }
    }

    /// The pin of the first one's key.
    package var pin: PublicKeyPin? { all.first.flatMap { unsafe PublicKeyPin(of: $0.pointer) } }

    /// One certificate in DER.
    static func encoded(_ certificate: OpaquePointer) -> [UInt8]? {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_X509(certificate, &bytes)
        guard count > 0, let start = unsafe bytes else { return nil }
        defer { unsafe CRYPTO_free(start, #file, #line) }
        return unsafe Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }
}

/// A private key in memory.
///
/// `@unchecked Sendable`: the key never changes, and OpenSSL counts references to it atomically.
@safe package final class TLSPrivateKey: @unchecked Sendable {
    let handle: OpenSSLHandle<PrivateKeyKind>

    /// Throws `configuration` for a text without a key, and for a key with a password.
    package init(pem: [UInt8]) throws(SecureLinkError) {
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        guard let bio = MemoryBIO(pem) else { throw SecureLinkError(.other, "no memory for a key") }
        // Nobody is asked for a password at the terminal.
        let key = unsafe PEM_read_bio_PrivateKey(bio.pointer, nil, { _, _, _, _ in -1 }, nil)
        guard let handle = unsafe OpenSSLHandle<PrivateKeyKind>(owning: key) else {
            throw SecureLinkError(.configuration, "it holds no private key in PEM without a password")
        }
        self.handle = handle
    }
}

/// The certificate that a client has shown, and that an authority of the listener has signed.
package struct TLSClientCertificate: Hashable, Sendable {
    /// The names of the kind URI, in their order.
    package let uris: [String]
    /// The public key as SubjectPublicKeyInfo in DER.
    package let key: [UInt8]

    /// Nil when its key cannot be encoded.
    init?(_ certificate: OpaquePointer) {
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &bytes)
        guard count > 0, let start = unsafe bytes else { return nil }
        defer { unsafe CRYPTO_free(start, #file, #line) }
        key = unsafe Array(UnsafeBufferPointer(start: start, count: Int(count)))
        var uris: [String] = []
        let names = unsafe saker_uri_names(certificate)
        defer { unsafe saker_uri_names_free(names) }
        var index: Int32 = 0
        var length: Int32 = 0
        while let name = unsafe saker_uri_name(names, &index, &length) {
            unsafe uris.append(
                String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self))
        }
        self.uris = uris
    }
}

extension OpenSSLError {
    /// OpenSSL reads a PEM text until it finds no further beginning.
    fileprivate var isEndOfPEM: Bool {
        ERR_GET_LIB(packed) == ERR_LIB_PEM && ERR_GET_REASON(packed) == PEM_R_NO_START_LINE
    }
}
