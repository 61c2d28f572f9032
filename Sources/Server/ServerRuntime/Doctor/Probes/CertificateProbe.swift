import ConfigurationFile
import FoundationEssentials
import SecureLink
import ServerIdentity
import SwiftASN1
import X509

/// Reads the certificates that the configuration names, and judges the server's chain as an agent does.
enum CertificateProbe {
    static let chainUse = "certificate in [tls]"

    static func facts(_ configuration: ServerConfiguration) async -> CertificateFacts {
        let tls = configuration.tls
        var facts = CertificateFacts(path: tls.certificate)
        facts.isKeyPublic = FileStatus(of: tls.key)?.isReadableByAll == true
        do throws(ServerIdentityError) {
            _ = try ServerIdentity(
                files: .init(
                    certificateChain: tls.certificate, nextCertificateChain: tls.files.next, key: tls.key,
                    clientAuthorities: configuration.device.clientAuthority,
                    deviceAuthorities: configuration.device.authority),
                minimumTLS: configuration.device.minimumTLS, applicationProtocols: [])
        } catch {
            facts.problem = error.detail
            return facts
        }
        let uses = [
            (chainUse, tls.certificate), ("ca in [tls]", tls.authority),
            ("client_ca in [device]", configuration.device.clientAuthority),
            ("authority in [device]", configuration.device.authority),
            ("ca in [callbacks]", configuration.callbacks.authorities),
        ]
        facts.files = uses.compactMap { use, path in path.map { file(use, $0) } }
        if let pem = try? TextFile.read(tls.certificate) {
            facts.hosts = (try? CertificateMaker.details(of: pem).hosts) ?? []
        }
        facts.told = told(configuration.enrolment)
        facts.distrust = await distrust(tls)
        return facts
    }

    private static func file(_ use: String, _ path: String) -> CertificateFacts.File {
        let all: TLSCertificates
        do throws(ServerIdentityError) {
            all = try ServerIdentity.certificates(path)
        } catch {
            return .init(use: use, path: path, content: .unreadable(error.detail))
        }
        guard let from = all.validities.map(\.from).max(), let until = all.validities.map(\.until).min() else {
            return .init(use: use, path: path, content: .unreadable("it holds no certificate in PEM that can be read"))
        }
        return .init(use: use, path: path, content: .validity(from: from, until: until))
    }

    /// The hosts of `[enrollment]`.
    static func told(_ enrolment: ServerConfiguration.EnrolmentOptions) -> [String] {
        var hosts = [enrolment.host].compactMap(\.self)
        if let address = enrolment.webAddress, address.hasPrefix("https://") {
            let authority = address.dropFirst("https://".count).prefix { $0 != "/" }
            let host =
                authority.hasPrefix("[")
                ? authority.dropFirst().prefix { $0 != "]" } : authority.prefix { $0 != ":" }
            if !host.isEmpty, !hosts.contains(String(host)) { hosts.append(String(host)) }
        }
        return hosts
    }

    /// Why nobody who trusts `ca`, or without it the system's authorities, trusts the chain.
    private static func distrust(_ tls: ServerConfiguration.TLS) async -> String? {
        do {
            let chain = try certificates(tls.certificate)
            guard let leaf = chain.first else { return "the file holds no certificate" }
            let roots =
                try tls.authority.map { CertificateStore(try certificates($0)) } ?? CertificateStore.systemTrustRoots
            // Its own check says which certificate has ended.
            let time = min(max(Date(), leaf.notValidBefore), leaf.notValidAfter)
            var verifier = Verifier(rootCertificates: roots) { RFC5280Policy(fixedValidationTime: time) }
            switch await verifier.validate(leaf: leaf, intermediates: CertificateStore(chain.dropFirst())) {
            case .validCertificate: return nil
            case .couldNotValidate(let failures):
                let whom = tls.authority ?? "the system's authorities"
                return failures.first.map { "\($0.policyFailureReason)" }
                    ?? "no certificate in it was signed by one of \(whom)"
            }
        } catch {
            return "it cannot be read: \(error)"
        }
    }

    private static func certificates(_ path: String) throws -> [Certificate] {
        try ServerIdentity.certificates(path).encoded.map { try Certificate(derEncoded: $0) }
    }
}
