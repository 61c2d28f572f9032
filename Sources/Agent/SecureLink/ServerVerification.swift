internal import COpenSSL
internal import Glibc

/// Judges a server's certificates: the pin, the chain, the dates and the name.
struct ServerVerification {
    let options: TLSClientOptions
    let identity: ServerIdentity

    /// Why the chain is not to be trusted; nil when it is. Sets OpenSSL's code too, from which the alert is made.
    func failure(of store: OpaquePointer) -> SecureLinkError? {
        guard let leaf = unsafe X509_STORE_CTX_get0_cert(store) else {
            unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_UNSPECIFIED)
            return SecureLinkError(.certificateUntrusted, "the server showed no certificate")
        }
        if let mismatch = unsafe pinFailure(of: leaf) {
            unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION)
            return mismatch
        }
        guard options.trust == .pinnedKeys else { return unsafe chainFailure(of: store) }
        // The pinned certificate becomes its own authority; OpenSSL then checks all the rest as ever: dates, name,
        // purpose, strength of the key.
        guard let stack = unsafe saker_X509_stack_borrowing(leaf) else {
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
            "the server's key is \(pin), which is not pinned; pin it only if the server's operator confirms it")
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
                unsafe "the certificate \(subject) ended at \(end) and was judged at \(judgedAt(store)); renew it")
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
        default:
            return SecureLinkError(
                .certificateUntrusted,
                "\(reason), at the certificate \(subject); does the authority that signed it stand in the trusted ones?"
            )
        }
    }

    private func judgedAt(_ store: OpaquePointer) -> String {
        let parameters = unsafe X509_STORE_CTX_get0_param(store)
        let isSet = unsafe X509_VERIFY_PARAM_get_flags(parameters) & UInt(X509_V_FLAG_USE_CHECK_TIME) != 0
        let moment = unsafe isSet ? X509_VERIFY_PARAM_get_time(parameters) : time(nil)
        return CertificateText.utc(Int64(moment)) + (isSet ? " (time given)" : " (system clock)")
    }
}

/// OpenSSL's question: is the chain in `store` good? 1 yes, 0 no (SSL_CTX_set_cert_verify_callback).
func verifyServerCertificate(_ store: OpaquePointer?) -> Int32 {
    guard let store = unsafe store,
        let data = unsafe X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()),
        let session = unsafe TLSSession.of(OpaquePointer(data))
    else { return 0 }
    return unsafe session.verify(store) ? 1 : 0
}
