internal import COpenSSL
internal import Glibc

/// The certificates of one PEM file or text, the leaf first.
package struct CertificateFile: Hashable, Sendable {
    package struct Validity: Hashable, Sendable {
        /// Seconds since 1970.
        package let from: Int64
        package let until: Int64
    }

    /// All certificates are valid in this time: the latest begin, the earliest end.
    package let validity: Validity
    /// Of the first certificate alone.
    package let leaf: Validity
    /// The key of the first certificate.
    package let key: PublicKeyPin

    /// Far more than a chain needs; a file may come from anywhere.
    private static let maximumBytes = 256 << 10
    private static let maximumCertificates = 64

    /// Throws `configuration` when the file cannot be read or holds no certificate.
    package init(path: String) throws(SecureLinkError) {
        try TLSContext.requireReadable(path, what: "certificate")
        guard let handle = unsafe fopen(path, "re") else {
            throw SecureLinkError(
                .configuration,
                unsafe "\(path.printable(limit: 200)) cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { unsafe fclose(handle) }
        var bytes = [UInt8](repeating: 0, count: Self.maximumBytes + 1)
        let count = unsafe fread(&bytes, 1, bytes.count, handle)
        guard count <= Self.maximumBytes else {
            throw SecureLinkError(
                .configuration, "\(path.printable(limit: 200)) is longer than \(Self.maximumBytes) bytes")
        }
        try self.init(pem: Array(bytes.prefix(count)), name: path.printable(limit: 200))
    }

    /// `name`: what the text is, for errors.
    package init(pem: [UInt8], name: String) throws(SecureLinkError) {
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        guard let bio = MemoryBIO(pem) else { throw SecureLinkError(.other, "no memory for \(name)") }
        var found: [(Validity, PublicKeyPin)] = []
        while found.count < Self.maximumCertificates,
            let certificate = unsafe OpenSSLHandle<CertificateKind>(
                owning: PEM_read_bio_X509(bio.pointer, nil, nil, nil))
        {
            let from = unsafe X509_get0_notBefore(certificate.pointer).seconds
            let until = unsafe X509_get0_notAfter(certificate.pointer).seconds
            guard let from, let until, let key = unsafe PublicKeyPin(of: certificate.pointer) else {
                throw SecureLinkError(.configuration, "a certificate in \(name) has a time or key that cannot be read")
            }
            found.append((Validity(from: from, until: until), key))
        }
        guard let first = found.first else {
            throw SecureLinkError(.configuration, "\(name) holds no certificate in PEM form")
        }
        leaf = first.0
        key = first.1
        validity = Validity(
            from: found.map(\.0.from).max() ?? leaf.from, until: found.map(\.0.until).min() ?? leaf.until)
    }
}

enum CertificateKind: OpenSSLObjectKind {
    static func free(_ pointer: OpaquePointer) { unsafe X509_free(pointer) }
}

enum BIOKind: OpenSSLObjectKind {
    static func free(_ pointer: OpaquePointer) { unsafe _ = BIO_free(pointer) }
}

/// Bytes that OpenSSL reads from or writes to.
@safe struct MemoryBIO: ~Copyable {
    let pointer: OpaquePointer

    /// Nil when there is no memory.
    init?(_ bytes: [UInt8] = []) {
        guard let pointer = unsafe BIO_new(BIO_s_mem()) else { return nil }
        if !bytes.isEmpty, unsafe BIO_write(pointer, bytes, Int32(clamping: bytes.count)) != bytes.count {
            unsafe BIO_free(pointer)
            return nil
        }
        unsafe self.pointer = unsafe pointer
    }

    deinit { unsafe BIO_free(pointer) }

    /// What was written and not read yet.
    var bytes: [UInt8] {
        var start: UnsafeMutablePointer<CChar>?
        let count = unsafe saker_BIO_get_mem_data(pointer, &start)
        guard let start = unsafe start, count > 0 else { return [] }
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }
}
