internal import COpenSSL
internal import FoundationEssentials

/// The SHA-256 of a certificate's public key (its SubjectPublicKeyInfo in DER), written `sha256//` and base64.
///
/// The same value that `curl --pinnedpubkey` takes, and that this prints:
/// `openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary |
/// base64`.
package struct PublicKeyPin: Hashable, Sendable, CustomStringConvertible {
    /// 32 bytes.
    package let digest: [UInt8]

    private static let prefix = "sha256//"

    /// Nil when `digest` is not of 32 bytes.
    package init?(digest: [UInt8]) {
        guard digest.count == 32 else { return nil }
        self.digest = digest
    }

    /// Reads `sha256//` followed by 44 characters of base64; throws `configuration` on anything else.
    package init(parsing text: String) throws(SecureLinkError) {
        guard text.hasPrefix(Self.prefix), let digest = Self.decode(text.dropFirst(Self.prefix.count))
        else {
            throw SecureLinkError(
                .configuration,
                "\"\(text.printable(limit: 80))\" is not a key pin: write sha256// and the base64 of the 32-byte SHA-256 "
                    + "of the server's public key")
        }
        self.digest = digest
    }

    /// The pin of a certificate's key; nil when OpenSSL cannot encode the key.
    init?(of certificate: OpaquePointer?) {
        // The encoding of the key in the certificate, including the algorithm; curl uses the same for its digest.
        var encoded: UnsafeMutablePointer<UInt8>?
        let length = unsafe i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &encoded)
        unsafe self.init(taking: encoded, length)
    }

    /// The pin of a key; nil when OpenSSL cannot encode it.
    init?(ofKey key: OpaquePointer?) {
        var encoded: UnsafeMutablePointer<UInt8>?
        let length = unsafe i2d_PUBKEY(key, &encoded)
        unsafe self.init(taking: encoded, length)
    }

    /// Frees the bytes.
    private init?(taking encoded: UnsafeMutablePointer<UInt8>?, _ length: Int32) {
        guard length > 0 else { return nil }
        defer { unsafe CRYPTO_free(encoded, #file, #line) }
        var count: UInt32 = 0
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        guard unsafe EVP_Digest(encoded, Int(length), &digest, &count, EVP_sha256(), nil) == 1, count == 32 else {
            return nil
        }
        self.digest = Array(digest.prefix(32))
    }

    package var description: String {
        Self.prefix + Data(digest).base64EncodedString()
    }

    /// 44 characters with one `=` at the end are 32 bytes.
    private static func decode(_ base64: Substring) -> [UInt8]? {
        guard base64.utf8.count == 44, let data = Data(base64Encoded: String(base64)), data.count == 32 else {
            return nil
        }
        return Array(data)
    }
}
