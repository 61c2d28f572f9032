import Diagnosing

/// The certificate files of this vehicle and how long they last.
enum CertificateCheck {
    /// Days before the end that are time to act.
    private static let soon: Int64 = 30

    static func certificates(_ facts: Facts) -> Check {
        guard let places = facts.configuration.places else {
            return .notChecked(.certificates, "the configuration that names them was not read")
        }
        guard !facts.certificates.isEmpty else {
            return .ok(.certificates, "no certificate file is configured; the agent trusts the system's authorities")
        }
        let now = facts.clock.time / 1000
        let checks = facts.certificates.map { judge($0, places, now) }
        if let worst = Check.worst(checks), worst.verdict != .ok { return worst }
        return .ok(.certificates, checks.map(\.found).joined(separator: "; "))
    }

    private static func judge(_ file: CertificateFacts, _ places: ConfiguredPlaces, _ now: Int64) -> Check {
        let remedy =
            file.path == places.clientCertificateFile
            ? "sudo saker renew; or put a new certificate for this vehicle's key into \(file.path): the agent takes it by itself"
            : "Put the server's authority (on the server: ca.pem of its init directory) into \(file.path): the agent takes it "
                + "by itself"
        switch file.content {
        case .forbidden:
            return .notChecked(.certificates, "this user may not read \(file.path)", "sudo saker doctor")
        case .unreadable(let reason): return .failed(.certificates, "\(file.path): \(reason)", remedy)
        case .validity(let from, let until):
            let end = TimeText.local(until.multipliedReportingOverflow(by: 1000).partialValue)
            if until <= now { return .failed(.certificates, "\(file.path) ended at \(end)", remedy) }
            if from > now {
                return .warning(
                    .certificates, "\(file.path) begins only at \(TimeText.local(from * 1000))",
                    Remedy.lookAtClock)
            }
            let days = (until - now) / 86_400
            return days < soon
                ? .warning(.certificates, "\(file.path) ends in \(days) days, at \(end)", remedy)
                : .ok(.certificates, "\(file.path) lasts until \(end)")
        }
    }
}
