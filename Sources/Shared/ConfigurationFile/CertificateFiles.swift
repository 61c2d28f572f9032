import Glibc

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
