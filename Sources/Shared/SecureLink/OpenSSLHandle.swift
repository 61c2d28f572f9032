internal import COpenSSL

/// How an OpenSSL object is freed.
protocol OpenSSLObjectKind {
    static func free(_ pointer: OpaquePointer)
}

enum SSLContextKind: OpenSSLObjectKind {
    static func free(_ pointer: OpaquePointer) { unsafe SSL_CTX_free(pointer) }
}

enum PrivateKeyKind: OpenSSLObjectKind {
    static func free(_ pointer: OpaquePointer) { unsafe EVP_PKEY_free(pointer) }
}

/// The only owner of a reference to an OpenSSL object. Frees the reference on every path, including throws.
@safe struct OpenSSLHandle<Kind: OpenSSLObjectKind>: ~Copyable {
    let pointer: OpaquePointer

    /// Takes over the reference; nil when OpenSSL gave none.
    init?(owning pointer: OpaquePointer?) {
        guard let pointer = unsafe pointer else { return nil }
        unsafe self.pointer = unsafe pointer
    }

    deinit { unsafe Kind.free(pointer) }
}

/// One entry of OpenSSL's per-thread error queue.
struct OpenSSLError: Hashable, Sendable {
    /// The packed code: library and reason.
    let packed: UInt
    /// OpenSSL's own text for the reason.
    let reason: String
    /// What OpenSSL attached, for example a file name, or a URI with everything in it.
    let attachment: String

    var text: String { attachment.isEmpty ? reason : "\(reason) (\(attachment))" }

    /// The reason, if the TLS library raised the error.
    var tlsReason: Int32? {
        ERR_GET_LIB(packed) == ERR_LIB_SSL ? ERR_GET_REASON(packed) : nil
    }

    /// The TLS alert (RFC 8446, section 6) that the peer sent, if the error tells of one.
    var receivedAlert: Int32? {
        guard let tlsReason, tlsReason > SSL_AD_REASON_OFFSET, tlsReason < SSL_AD_REASON_OFFSET + 256 else {
            return nil
        }
        return tlsReason - SSL_AD_REASON_OFFSET
    }
}

/// OpenSSL's list of errors for each thread. Clear it before each call, and read all of it after a failed call.
enum OpenSSLErrorQueue {
    /// OpenSSL keeps fewer (ERR_NUM_ERRORS).
    private static let maximumEntries = 32

    static func clear() { ERR_clear_error() }

    /// All entries, the first cause first. Empties the queue.
    static func drain() -> [OpenSSLError] {
        var errors: [OpenSSLError] = []
        while errors.count < maximumEntries {
            var data: UnsafePointer<CChar>?
            var flags: Int32 = 0
            let packed = unsafe ERR_get_error_all(nil, nil, nil, &data, &flags)
            guard packed != 0 else { break }
            var text = "error \(String(packed, radix: 16))"
            var attachment = ""
            if let reason = unsafe ERR_reason_error_string(packed) {
                text = unsafe String(cString: reason)
            }
            if let data = unsafe data, flags & ERR_TXT_STRING != 0 {
                attachment = unsafe String(cString: data).printable(limit: 160)
            }
            errors.append(OpenSSLError(packed: packed, reason: text, attachment: attachment))
        }
        ERR_clear_error()
        return errors
    }
}

extension [OpenSSLError] {
    /// The texts in one line, for a detail.
    var summary: String {
        isEmpty ? "OpenSSL gave no reason" : map(\.text).joined(separator: "; ")
    }

    /// Only the reasons, for errors to which OpenSSL may attach a secret.
    var reasons: String {
        isEmpty ? "OpenSSL gave no reason" : map(\.reason).joined(separator: "; ")
    }
}
