import Diagnosing
import TrackModel

/// The certificates that the server shows, and those that it judges others by.
enum CertificateChecks {
    /// Days before the end that are time to act.
    private static let soon: Int64 = 30

    static func certificates(_ facts: ServerFacts) -> ServerCheck {
        let certificates = facts.certificates
        if let problem = certificates.problem {
            return .failed(.certificates, problem, "Name the right files in [tls], readable by the server's user")
        }
        let now = facts.now.seconds
        var checks = certificates.files.map { judge($0, now) }
        if let reason = certificates.distrust {
            checks.append(
                .failed(
                    .certificates, "agents would refuse the chain of \(certificates.path): \(reason)",
                    "The file must hold the certificate and then its intermediate authorities, up to one of ca in [tls], or "
                        + "without it of the public authorities"))
        }
        let unnamed = certificates.told.filter { !covers(certificates.hosts, $0) }
        if !unnamed.isEmpty {
            checks.append(
                .failed(
                    .certificates,
                    "the certificate is for \(certificates.hosts.joined(separator: ", ")), and [enrollment] tells "
                        + "\(unnamed.joined(separator: ", "))",
                    "saker-server certificate renew \(unnamed.map { "--host \($0)" }.joined(separator: " "))"))
        }
        if certificates.isKeyPublic {
            checks.append(
                .warning(
                    .certificates, "everyone on this machine may read the server's private key",
                    "Only the server's user may read it: sudo chmod o= the key file of [tls]"))
        }
        if let worst = ServerCheck.worst(checks), worst.verdict != .ok { return worst }
        return .ok(.certificates, checks.map(\.found).joined(separator: "; "))
    }

    private static func judge(_ file: CertificateFacts.File, _ now: Int64) -> ServerCheck {
        let remedy =
            file.use == CertificateProbe.chainUse
            ? "saker-server certificate renew, or put a new certificate into \(file.path): the server takes it by itself"
            : "Put the authorities' certificates into \(file.path) (\(file.use))"
        switch file.content {
        case .unreadable(let reason): return .failed(.certificates, "\(file.path) (\(file.use)): \(reason)", remedy)
        case .validity(let from, let until):
            if until <= now { return .failed(.certificates, "\(file.path) ended on \(TimeText.day(until))", remedy) }
            if from > now {
                return .failed(
                    .certificates, "\(file.path) begins only on \(TimeText.day(from))",
                    Remedy.lookAtClock)
            }
            let days = (until - now) / 86_400
            return days < soon
                ? .warning(.certificates, "\(file.path) ends in \(days) days, on \(TimeText.day(until))", remedy)
                : .ok(.certificates, "\(file.path) lasts until \(TimeText.day(until))")
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
