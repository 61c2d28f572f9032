import ConfigurationFile
import FoundationEssentials

/// `saker-server certificate renew`: a new certificate and key from the fleet's own authority.
package enum CertificateRenewal {
    /// Returns the names and the end of the new certificate. Empty `hosts` keeps the old one's.
    ///
    /// The authority's key is looked for beside its certificate, as `init` put it. A server that runs uses the new
    /// files after a reload; until both are written a reload keeps the old ones.
    package static func renew(
        _ configuration: ServerConfiguration, hosts: [String], authorityKey: String?
    ) throws(ServerError) -> (hosts: [String], end: String) {
        guard let authority = configuration.tls.authority else {
            throw ServerError(
                .certificate,
                "\(configuration.effective.path) names no ca in [tls]: this certificate was not made by `saker-server init`; "
                    + "renew it where it came from, replace the files, and reload the server")
        }
        let directory = authority.lastIndex(of: "/").map { String(authority[..<$0]) } ?? "."
        let pair = KeyPair(
            certificate: try TextFile.read(authority), key: try TextFile.read(authorityKey ?? "\(directory)/ca-key.pem")
        )
        let names =
            hosts.isEmpty
            ? try CertificateMaker.details(of: try TextFile.read(configuration.tls.certificate)).hosts : hosts
        let new = try CertificateMaker.server(hosts: names, signedBy: pair, at: Date())
        do throws(ConfigurationError) {
            try AtomicFile.write(Array(new.key.utf8), to: configuration.tls.key, mode: 0o600)
            try AtomicFile.write(Array(new.certificate.utf8), to: configuration.tls.certificate, mode: 0o644)
        } catch {
            throw ServerError(error)
        }
        let details = try CertificateMaker.details(of: new.certificate)
        return (details.hosts, details.end.formatted(.iso8601))
    }
}
