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
