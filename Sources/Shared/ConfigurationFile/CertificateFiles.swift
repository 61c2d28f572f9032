internal import FoundationEssentials
internal import Glibc

/// The files of a certificate and of its private key, of which a power cut leaves both old or both new.
///
/// No file system replaces two files at one moment. So a new certificate for a new key first stands beside the one in use, as
/// ``next``; then the key is replaced, then the certificate. Whoever reads the two takes the certificate of ``next`` when
/// the key is not that of the certificate in use. At each moment one of the two belongs to the key.
package struct CertificateFiles: Hashable, Sendable {
    /// After which a power cut finds different files.
    package enum Step: Hashable, Sendable, CaseIterable {
        case next, key, certificate
    }

    package let certificate: String
    package let key: String

    package init(certificate: String, key: String) { (self.certificate, self.key) = (certificate, key) }

    /// Where the certificate of the next key stands until it is in use.
    package var next: String { Self.next(of: certificate) }

    /// The same for the certificate in this file.
    package static func next(of certificate: String) -> String { certificate + ".next" }

    /// Puts both in place. On a throw both are the old ones, or ``next`` has the certificate of the new key.
    ///
    /// `after`: called when a step is durable.
    package func replace(
        certificate text: String, key newKey: String, after: (Step) throws(ConfigurationError) -> Void = { _ in }
    ) throws(ConfigurationError) {
        try AtomicFile.write(Array(text.utf8), to: next, mode: 0o644, like: certificate)
        try after(.next)
        do throws(ConfigurationError) {
            try AtomicFile.write(Array(newKey.utf8), to: key, mode: 0o600)
        } catch {
            try? AtomicFile.remove(next)
            throw error
        }
        try after(.key)
        do throws(ConfigurationError) {
            try AtomicFile.move(next, to: certificate)
        } catch {
            // Another process saw the new certificate before the new key, and removed what belonged to no key.
            try AtomicFile.write(Array(text.utf8), to: certificate, mode: 0o644)
        }
        try after(.certificate)
    }

    /// Ends a replacement that was cut. `isNextForKey`: whether the certificate of ``next`` is the one for the key, and the
    /// one in use is not. Otherwise what is left in ``next`` is for a key that was never in place.
    package func settle(isNextForKey: Bool) throws(ConfigurationError) {
        guard access(next, F_OK) == 0 else { return }
        guard isNextForKey else {
            return try AtomicFile.remove(next)
        }
        try AtomicFile.move(next, to: certificate)
    }
}

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

/// Base 64 of RFC 4648, in its canonical form only.
package enum Base64 {
    package enum Alphabet: Sendable {
        /// `+` and `/`, padded with `=`.
        case standard
        /// `-` and `_`, not padded: safe in a URL and in a shell.
        case urlSafe
    }

    package static func encoded(_ bytes: [UInt8], alphabet: Alphabet = .standard) -> String {
        let standard = Data(bytes).base64EncodedString()
        return switch alphabet {
        case .standard: standard
        case .urlSafe:
            String(
                decoding: standard.utf8.filter { $0 != padding }.map { byte in
                    switch byte {
                    case UInt8(ascii: "+"): UInt8(ascii: "-")
                    case UInt8(ascii: "/"): UInt8(ascii: "_")
                    default: byte
                    }
                }, as: UTF8.self)
        }
    }

    /// Nil on a foreign character, an impossible length, or set bits behind the end. Padding may be missing.
    package static func decoded(_ text: some StringProtocol, alphabet: Alphabet = .standard) -> [UInt8]? {
        let digits = withoutPadding(text.utf8)
        var standard = digits
        if alphabet == .urlSafe {
            standard = digits.map { byte in
                switch byte {
                case UInt8(ascii: "-"): UInt8(ascii: "+")
                case UInt8(ascii: "_"): UInt8(ascii: "/")
                default: byte
                }
            }
        }
        standard += Array(repeating: padding, count: (4 - standard.count % 4) % 4)
        guard let bytes = Data(base64Encoded: Data(standard)).map(Array.init),
            // A decoder may forgive what is not canonical. Only the canonical text encodes to itself.
            withoutPadding(encoded(bytes, alphabet: alphabet).utf8) == digits
        else { return nil }
        return bytes
    }

    private static let padding = UInt8(ascii: "=")

    private static func withoutPadding(_ text: some Sequence<UInt8>) -> [UInt8] {
        var digits = Array(text)
        while digits.last == padding { digits.removeLast() }
        return digits
    }
}
