import ConfigurationFile
import FoundationEssentials
import Glibc

/// `saker-server certificate renew`: a new certificate and key from the fleet's own authority.
package enum CertificateRenewal {
    /// Returns the names and the end of the new certificate. Empty `hosts` keeps the old one's.
    ///
    /// The authority's key is looked for beside its certificate, as `init` put it. A server that runs takes the new files by
    /// itself. After a power cut at any moment the server starts, with the old pair or with the new one.
    package static func renew(
        _ configuration: ServerConfiguration, hosts: [String], authorityKey: String?, acts: AuditLog = AuditLog()
    ) throws(ServerError) -> (hosts: [String], end: String) {
        guard let authority = configuration.tls.authority else {
            throw ServerError(
                .certificate,
                "\(configuration.effective.path) names no ca in [tls]: this certificate was not made by `saker-server init`; "
                    + "renew it where it came from, replace the files, and reload the server")
        }
        let pair = KeyPair(
            certificate: try TextFile.read(authority), key: try TextFile.read(authorityKey ?? usualKey(authority)))
        _ = try settle(configuration)
        let names =
            hosts.isEmpty
            ? try CertificateMaker.details(of: try TextFile.read(configuration.tls.certificate)).hosts : hosts
        let new = try CertificateMaker.server(hosts: names, signedBy: pair, at: Date())
        do throws(ConfigurationError) {
            try configuration.tls.files.replace(certificate: new.certificate, key: new.key)
        } catch {
            throw ServerError(error)
        }
        let details = try CertificateMaker.details(of: new.certificate)
        acts.note(.certificateRenew, in: nil, about: details.hosts.joined(separator: ", "))
        return (details.hosts, details.end.formatted(.iso8601))
    }

    /// Ends a renewal that was cut between its two files. Returns the new certificate's end when it is in place only now, else nil.
    static func settle(_ configuration: ServerConfiguration) throws(ServerError) -> String? {
        let files = configuration.tls.files
        guard access(files.next, F_OK) == 0, let key = try? TextFile.read(files.key),
            let next = try? TextFile.read(files.next), let own = try? TextFile.read(files.certificate)
        else { return nil }
        let isOwn = CertificateMaker.isPair(own, key)
        // A key that belongs to neither is a person's affair.
        guard isOwn || CertificateMaker.isPair(next, key) else { return nil }
        do throws(ConfigurationError) {
            try files.settle(isNextForKey: !isOwn)
        } catch {
            throw ServerError(error)
        }
        return isOwn ? nil : try CertificateMaker.details(of: next).end.formatted(.iso8601)
    }

    /// Where `init` puts the authority's key.
    private static func usualKey(_ authority: String) -> String {
        "\(authority.lastIndex(of: "/").map { String(authority[..<$0]) } ?? ".")/ca-key.pem"
    }

    /// What the running server does by itself: from two thirds of its validity on, the certificate is made anew. Its key stays,
    /// so agents that have pinned it go on, and only one file is replaced. One that begins in the future was made by a wrong
    /// clock, and is made anew at once. Returns the new end; nil when nothing was to do.
    ///
    /// Nothing is done when the key of the authority is kept elsewhere, or when the authority has not signed this certificate. A key
    /// beside the authority that is not its own is an error: nobody would trust what it signs.
    /// `beforeWriting`: called when the new certificate is made and not yet written.
    static func renewIfDue(
        _ configuration: ServerConfiguration, at now: Date, beforeWriting: () -> Void = {}
    ) throws(ServerError) -> String? {
        guard let authority = configuration.tls.authority, access(usualKey(authority), R_OK) == 0 else { return nil }
        _ = try settle(configuration)
        let pair = KeyPair(certificate: try TextFile.read(authority), key: try TextFile.read(usualKey(authority)))
        let chain = try TextFile.read(configuration.tls.certificate)
        let served = try CertificateMaker.served(chain, authority: pair.certificate)
        let due = served.begin.addingTimeInterval(served.end.timeIntervalSince(served.begin) * 2 / 3)
        let isEarly = now < served.begin
        guard served.isOfAuthority, now >= due || isEarly else { return nil }
        let new = try CertificateMaker.server(hosts: served.hosts, for: served.publicKey, signedBy: pair, at: now)
        let details = try CertificateMaker.details(of: new)
        // Near the end of the authority a new certificate lasts no longer.
        guard isEarly || details.end.timeIntervalSince(served.end) > 86_400 else { return nil }
        beforeWriting()
        // `certificate renew` may have put another one there meanwhile, for another key.
        guard try TextFile.read(configuration.tls.certificate) == chain else { return nil }
        do throws(ConfigurationError) {
            try AtomicFile.write(Array(new.utf8), to: configuration.tls.certificate, mode: 0o644)
        } catch {
            throw ServerError(error)
        }
        return details.end.formatted(.iso8601)
    }
}
