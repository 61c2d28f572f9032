import NIOSSL
import ServerIdentity

/// Whose certificates operators' servers may have: those of the system's authorities, and of a file.
struct CallbackAuthorities: Hashable, Sendable {
    /// Nil: the system's alone.
    let file: String?

    init(file: String?) { self.file = file }

    /// Reads the file anew: who replaces it need not restart the server.
    ///
    /// - Throws: ``ServerError`` when the file cannot be used; the sentence names it.
    func tls() throws(ServerError) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        guard let file else { return configuration }
        let certificates: [NIOSSLCertificate]
        do throws(ServerIdentityError) {
            certificates = try ServerIdentity.certificates(file)
        } catch {
            throw ServerError(
                .certificate,
                "\(file) has no certificates that can be used: ca in [callbacks] must name a PEM file of authorities. "
                    + error.detail)
        }
        configuration.additionalTrustRoots = [.certificates(certificates)]
        return configuration
    }
}
