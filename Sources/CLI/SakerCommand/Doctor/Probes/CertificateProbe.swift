import Glibc
import SecureLink

/// When the certificates of a file are valid.
enum CertificateProbe {
    static func facts(_ path: String) -> CertificateFacts {
        guard access(path, R_OK) == 0 else {
            let number = errno
            return CertificateFacts(
                path: path, content: number == EACCES ? .forbidden : .unreadable(String(cString: strerror(number))))
        }
        do throws(SecureLinkError) {
            let validity = try CertificateFile(path: path).validity
            return CertificateFacts(path: path, content: .validity(from: validity.from, until: validity.until))
        } catch {
            return CertificateFacts(path: path, content: .unreadable("holds no certificate in PEM form"))
        }
    }
}
