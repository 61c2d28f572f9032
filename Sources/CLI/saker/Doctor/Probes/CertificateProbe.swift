import Glibc
import NIOSSL

/// When the certificates of a file are valid.
enum CertificateProbe {
    static func facts(_ path: String) -> CertificateFacts {
        guard access(path, R_OK) == 0 else {
            let number = errno
            return CertificateFacts(
                path: path, content: number == EACCES ? .forbidden : .unreadable(String(cString: strerror(number))))
        }
        guard let certificates = try? NIOSSLCertificate.fromPEMFile(path),
            let from = certificates.map({ Int64($0.notValidBefore) }).max(),
            let until = certificates.map({ Int64($0.notValidAfter) }).min()
        else { return CertificateFacts(path: path, content: .unreadable("holds no certificate in PEM form")) }
        return CertificateFacts(path: path, content: .validity(from: from, until: until))
    }
}
