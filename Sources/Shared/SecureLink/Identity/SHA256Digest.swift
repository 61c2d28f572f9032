internal import COpenSSL

/// SHA-256 of bytes.
package enum SHA256Digest {
    /// 64 lower-case hexadecimal digits. Throws `other` when OpenSSL cannot, which a policy of the system may cause.
    package static func hexadecimal(of bytes: [UInt8]) throws(SecureLinkError) -> String {
        OpenSSLErrorQueue.clear()
        var count: UInt32 = 0
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        guard unsafe EVP_Digest(bytes, bytes.count, &digest, &count, EVP_sha256(), nil) == 1 else {
            throw SecureLinkError(.other, "OpenSSL made no digest: \(OpenSSLErrorQueue.drain().summary)")
        }
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: digest.prefix(Int(count)).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
