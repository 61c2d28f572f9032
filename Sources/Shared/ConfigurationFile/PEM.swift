/// Certificates as text files hold them (RFC 7468).
package enum PEM {
    /// Base 64 in lines of 64 between `-----BEGIN label-----` and `-----END label-----`.
    package static func encoded(_ der: [UInt8], label: String = "CERTIFICATE") -> String {
        let body = Array(Base64.encoded(der).utf8)
        var text = "-----BEGIN \(label)-----\n"
        for start in stride(from: 0, to: body.count, by: 64) {
            text += String(decoding: body[start..<min(start + 64, body.count)], as: UTF8.self) + "\n"
        }
        return text + "-----END \(label)-----\n"
    }
}
