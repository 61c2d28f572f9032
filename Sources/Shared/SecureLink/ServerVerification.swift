internal import COpenSSL
internal import Glibc

/// Judges a server's certificates: pin, chain, dates and name.
struct ServerVerification {
    let options: TLSClientOptions
    let identity: ServerCertificateName

    /// Why the chain is not trusted; nil when it is. Also sets OpenSSL's code, which becomes the alert.
    func failure(of store: OpaquePointer) -> SecureLinkError? {
        guard let leaf = unsafe X509_STORE_CTX_get0_cert(store) else {
            unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_UNSPECIFIED)
            return SecureLinkError(.certificateUntrusted, "the server showed no certificate")
        }
        if options.trust == .pinnedKeys { return unsafe pinnedChainFailure(of: store, leaf) }
        if let mismatch = unsafe pinFailure(of: leaf) {
            unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION)
            return mismatch
        }
        return unsafe chainFailure(of: store)
    }

    /// One certificate of the shown chain has a pinned key. Who shows it without its key fails at the signatures.
    private func pinnedChainFailure(of store: OpaquePointer, _ leaf: OpaquePointer) -> SecureLinkError? {
        let chain = unsafe X509_STORE_CTX_get0_untrusted(store)
        for index in 0..<(unsafe saker_X509_stack_count(chain)) {
            guard let certificate = unsafe saker_X509_stack_at(chain, index),
                let pin = unsafe PublicKeyPin(of: certificate), options.pins.contains(pin)
            else { continue }
            return unsafe chainFailure(of: store, trusting: certificate)
        }
        unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION)
        let key = unsafe PublicKeyPin(of: leaf)?.description ?? "one that cannot be encoded"
        return SecureLinkError(
            .pinMismatch,
            unsafe "no certificate of the server has the pinned key; its own key is \(key), signed by \(issuer(of: leaf)). Is the "
                + "pin of this server, or does something on the way answer in its place?")
    }

    /// The pinned certificate becomes an authority. OpenSSL then checks everything else as usual: dates, name, purpose,
    /// strength of the keys.
    private func chainFailure(of store: OpaquePointer, trusting anchor: OpaquePointer) -> SecureLinkError? {
        guard let stack = unsafe saker_X509_stack_borrowing(anchor) else {
            unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_OUT_OF_MEM)
            return SecureLinkError(.other, "no memory to verify the server's certificate")
        }
        defer {
            unsafe X509_STORE_CTX_set0_trusted_stack(store, nil)
            unsafe saker_X509_stack_free(stack)
        }
        unsafe X509_STORE_CTX_set0_trusted_stack(store, stack)
        unsafe X509_VERIFY_PARAM_set_flags(X509_STORE_CTX_get0_param(store), UInt(X509_V_FLAG_PARTIAL_CHAIN))
        return unsafe chainFailure(of: store)
    }

    private func pinFailure(of leaf: OpaquePointer) -> SecureLinkError? {
        guard !options.pins.isEmpty else { return nil }
        guard let pin = unsafe PublicKeyPin(of: leaf) else {
            return SecureLinkError(.pinMismatch, "the server's public key cannot be encoded")
        }
        guard !options.pins.contains(pin) else { return nil }
        return SecureLinkError(
            .pinMismatch,
            unsafe "the server's key is \(pin), which is not pinned; the certificate is signed by \(issuer(of: leaf)). Pin it "
                + "only if the server's operator confirms it: something on the way may answer in the server's place")
    }

    private func chainFailure(of store: OpaquePointer) -> SecureLinkError? {
        guard unsafe X509_verify_cert(store) != 1 else { return nil }
        let code = unsafe X509_STORE_CTX_get_error(store)
        let reason = unsafe String(cString: X509_verify_cert_error_string(Int(code)))
        let certificate = unsafe X509_STORE_CTX_get_current_cert(store) ?? X509_STORE_CTX_get0_cert(store)
        let subject =
            unsafe certificate.flatMap { unsafe CertificateText.subject(of: $0) } ?? "without a readable subject"
        switch code {
        case X509_V_ERR_CERT_HAS_EXPIRED:
            let end = unsafe X509_get0_notAfter(certificate).text
            return SecureLinkError(
                .certificateExpired,
                unsafe "the SERVER's certificate \(subject) ended at \(end); the clock here says \(judgedAt(store)). On the server: "
                    + "saker-server certificate renew")
        case X509_V_ERR_CERT_NOT_YET_VALID:
            let start = unsafe X509_get0_notBefore(certificate).text
            return SecureLinkError(
                .certificateNotYetValid,
                unsafe "the certificate \(subject) begins at \(start) and was judged at \(judgedAt(store)); is the clock right?"
            )
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            let names = unsafe certificate.flatMap { unsafe CertificateText.names(of: $0) } ?? "no names"
            return SecureLinkError(
                .certificateWrongName,
                "the certificate is for \(names), not for \(identity.name); connect to a name that it holds, or set the "
                    + "server name")
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_UNTRUSTED:
            return unsafe strangerFailure(store, reason: reason)
        default:
            return SecureLinkError(
                .certificateUntrusted,
                "\(reason), at the certificate \(subject); is the authority that signed it among the trusted ones?"
            )
        }
    }

    /// No trusted authority signed the certificate. With the right name, the server or somebody in its place answers;
    /// with another name, another server answers.
    private func strangerFailure(_ store: OpaquePointer, reason: String) -> SecureLinkError {
        let leaf = unsafe X509_STORE_CTX_get0_cert(store)
        let issuer = unsafe leaf.map { unsafe self.issuer(of: $0) } ?? "nobody"
        guard let leaf = unsafe leaf, unsafe identity.isHeld(by: leaf) else {
            let names = unsafe leaf.flatMap { unsafe CertificateText.names(of: $0) } ?? "no names"
            return SecureLinkError(
                .foreignServer,
                "another server answers: its certificate is for \(names), not for \(identity.name), and signed by \(issuer), "
                    + "who is not trusted; a network's sign-in page, or a wrong address or port?")
        }
        return SecureLinkError(
            .certificateUntrusted,
            "the certificate for \(identity.name) is signed by \(issuer), who is not trusted here (\(reason)); is that the "
                + "server's own authority, or something on the way that answers in its place?")
    }

    private func issuer(of certificate: OpaquePointer) -> String {
        unsafe CertificateText.issuer(of: certificate) ?? "somebody without a name"
    }

    private func judgedAt(_ store: OpaquePointer) -> String {
        let parameters = unsafe X509_STORE_CTX_get0_param(store)
        let isSet = unsafe X509_VERIFY_PARAM_get_flags(parameters) & UInt(X509_V_FLAG_USE_CHECK_TIME) != 0
        let moment = unsafe isSet ? X509_VERIFY_PARAM_get_time(parameters) : time(nil)
        return CertificateText.utc(Int64(moment)) + (isSet ? " (time given)" : " (system clock)")
    }
}

/// OpenSSL asks whether the chain in `store` is good: 1 for yes, 0 for no (SSL_CTX_set_cert_verify_callback).
func verifyServerCertificate(_ store: OpaquePointer?) -> Int32 {
    guard let store = unsafe store,
        let data = unsafe X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()),
        let session = unsafe TLSSession.of(OpaquePointer(data))
    else { return 0 }
    return unsafe session.verify(store) ? 1 : 0
}

/// The name that the server's certificate must hold: a DNS name or an IP address.
struct ServerCertificateName: Hashable, Sendable {
    /// In the form for comparing: without the root's dot, and without an address's zone.
    let name: String
    let isAddress: Bool

    /// Throws `configuration` when `host` is neither a host name nor an address.
    init(host: String) throws(SecureLinkError) {
        // An IPv6 zone (fe80::1%eth0) names the interface to use, not the server.
        let bare = host.contains(":") ? String(host.prefix { $0 != "%" }) : host
        if Self.isAddress(bare) {
            name = bare
            isAddress = true
            return
        }
        let dns = bare.hasSuffix(".") ? String(bare.dropLast()) : bare
        // Less strict than RFC 1123. It only keeps out names that OpenSSL would cut or read in another way.
        let valid = dns.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard valid, (1...253).contains(dns.utf8.count), !dns.hasPrefix(".") else {
            throw SecureLinkError(
                .configuration,
                "\"\(host.printable(limit: 80))\" is not a host name or IP address; write an international name in its "
                    + "xn-- form")
        }
        name = dns
        isAddress = false
    }

    /// Sets the name that OpenSSL compares with the certificate and, for a DNS name, sends to the server (SNI, RFC
    /// 6066).
    func require(of ssl: OpaquePointer) throws(SecureLinkError) {
        let parameters = unsafe SSL_get0_param(ssl)
        // The subject's common name does not count, only the alternative names (RFC 6125, section 6.4.4).
        unsafe X509_VERIFY_PARAM_set_hostflags(
            parameters, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
        let set =
            isAddress
            ? unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, name)
            : unsafe X509_VERIFY_PARAM_set1_host(parameters, name, 0) & saker_SSL_set_tlsext_host_name(ssl, name)
        guard set == 1 else {
            throw SecureLinkError(.configuration, "OpenSSL does not take \"\(name)\" as a server's name")
        }
    }

    /// Whether the certificate holds the name, whoever signed it.
    func isHeld(by certificate: OpaquePointer) -> Bool {
        if isAddress { return unsafe X509_check_ip_asc(certificate, name, 0) == 1 }
        let flags = UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT)
        return unsafe X509_check_host(certificate, name, 0, flags, nil) == 1
    }

    private static func isAddress(_ text: String) -> Bool {
        // Room for an IPv4 or an IPv6 address. The system's types for them would need two more modules.
        var address: (UInt64, UInt64) = (0, 0)
        return unsafe inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1
    }
}

/// Texts of a certificate, for details shown to people: cut to a readable length, without control characters.
enum CertificateText {
    static func subject(of certificate: OpaquePointer) -> String? {
        unsafe quoted(X509_get_subject_name(certificate))
    }

    /// The issuer that the certificate names.
    static func issuer(of certificate: OpaquePointer) -> String? {
        unsafe quoted(X509_get_issuer_name(certificate))
    }

    private static func quoted(_ name: OpaquePointer?) -> String? {
        guard let name = unsafe name, unsafe X509_NAME_entry_count(name) > 0 else { return nil }
        return unsafe printed { unsafe saker_X509_NAME_print($0, name) }
            .map { "\"\($0)\"" }
    }

    /// The subject alternative names: `DNS:a.example, IP Address:192.0.2.1`.
    static func names(of certificate: OpaquePointer) -> String? {
        let index = unsafe X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1)
        guard index >= 0, let names = unsafe X509_get_ext(certificate, index) else { return nil }
        return unsafe printed { unsafe X509V3_EXT_print($0, names, 0, 0) }
    }

    /// `2026-11-21T10:00:00Z`.
    static func utc(_ seconds: Int64) -> String {
        var moment = Int(seconds)
        var parts = unsafe tm()
        guard unsafe gmtime_r(&moment, &parts) != nil else { return "\(seconds) s" }
        return unsafe utc(parts)
    }

    fileprivate static func utc(_ parts: tm) -> String {
        func two(_ number: Int32) -> String { (number < 10 ? "0" : "") + String(number) }
        let date = unsafe "\(Int(parts.tm_year) + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
        return unsafe date + "T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
    }

    private static func printed(_ print: (OpaquePointer) -> Int32) -> String? {
        guard let bio = unsafe BIO_new(BIO_s_mem()) else { return nil }
        defer { unsafe BIO_free(bio) }
        guard unsafe print(bio) >= 0 else { return nil }
        var bytes: UnsafeMutablePointer<CChar>?
        let count = unsafe saker_BIO_get_mem_data(bio, &bytes)
        guard let bytes = unsafe bytes, count > 0 else { return nil }
        let text = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
        return unsafe String(decoding: text, as: UTF8.self).printable(limit: 200)
    }
}

extension UnsafePointer<ASN1_TIME>? {
    /// Seconds since 1970; nil when the certificate's time cannot be read.
    var seconds: Int64? {
        guard var parts = unsafe parts else { return nil }
        return unsafe Int64(timegm(&parts))
    }

    var text: String { unsafe parts.map { unsafe CertificateText.utc($0) } ?? "a time that cannot be read" }

    private var parts: tm? {
        var parts = unsafe tm()
        guard let time = self, unsafe ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
        return unsafe parts
    }
}
