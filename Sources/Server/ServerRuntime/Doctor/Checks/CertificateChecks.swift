import Diagnosing
import TrackModel

/// The certificates that the server shows, and those that it judges others by.
enum CertificateChecks {
    static func certificates(_ facts: ServerFacts) -> Finding {
        let certificates = facts.certificates
        if let problem = certificates.problem {
            return .failed(problem, "Name the right files in [tls], readable by the server's user")
        }
        let now = facts.now.seconds
        var checks = certificates.files.map { judge($0, now) }
        if let reason = certificates.distrust {
            checks.append(
                .failed(
                    "agents would refuse the chain of \(certificates.path): \(reason)",
                    "The file must hold the certificate and then its intermediate authorities, up to one of ca in [tls], or "
                        + "without it of the public authorities"))
        }
        let unnamed = certificates.told.filter { !covers(certificates.hosts, $0) }
        if !unnamed.isEmpty {
            checks.append(
                .failed(
                    "the certificate is for \(certificates.hosts.joined(separator: ", ")), and [enrollment] tells "
                        + "\(unnamed.joined(separator: ", "))",
                    "saker-server certificate renew \(unnamed.map { "--host \($0)" }.joined(separator: " "))"))
        }
        if certificates.isKeyPublic {
            checks.append(
                .warning(
                    "everyone on this machine may read the server's private key",
                    "Only the server's user may read it: sudo chmod o= the key file of [tls]"))
        }
        return .joined(checks) ?? .notChecked("the certificates were not read")
    }

    private static func judge(_ file: CertificateFacts.File, _ now: Int64) -> Finding {
        let remedy =
            file.use == CertificateProbe.chainUse
            ? "saker-server certificate renew, or put a new certificate into \(file.path): the server takes it by itself"
            : "Put the authorities' certificates into \(file.path) (\(file.use))"
        switch file.content {
        case .unreadable(let reason): return .failed("\(file.path) (\(file.use)): \(reason)", remedy)
        case .validity(let from, let until):
            return .validity(
                file.path, from: from, until: until, now: now, early: .failed, date: { "on \(TimeText.day($0))" },
                remedy)
        }
    }

    /// As clients compare names: without case, a first label of `*` stands for one label.
    static func covers(_ hosts: [String], _ name: String) -> Bool {
        let name = name.lowercased()
        return hosts.contains { host in
            let host = host.lowercased()
            guard host.hasPrefix("*.") else { return host == name }
            guard let dot = name.firstIndex(of: ".") else { return false }
            return name[dot...] == host.dropFirst()[...] && dot > name.startIndex
        }
    }
}
