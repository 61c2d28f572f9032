import FoundationEssentials
import Logging
import Systemd
import TrackModel

/// Renews the server's certificate in time, when the key of its authority is there. Nobody has to remember it.
struct CertificateRenewing: RepeatedWork {
    static let pause = Duration.seconds(6 * 3600)

    let configuration: ServerConfiguration
    /// By a clock that is years ahead, every vehicle would refuse the new certificate.
    let time: TrustedTime
    let logger: Logger

    func round() {
        guard let now = time.now else { return }
        look(at: Date(timeIntervalSince1970: Double(now.milliseconds) / 1000))
    }

    /// The listeners take the new certificate by themselves, as one that a person has put there.
    private func look(at now: Date) {
        do throws(ServerError) {
            guard let end = try CertificateRenewal.renewIfDue(configuration, at: now) else { return }
            logger.notice(
                "the server has renewed its certificate",
                metadata: [
                    "file": "\(configuration.tls.certificate)", "end": "\(end)",
                    "message_id": "\(MessageID.certificateRenewed)",
                ])
        } catch {
            logger.warning(
                "the server cannot renew its certificate, and tries again later",
                metadata: ["file": "\(configuration.tls.certificate)", "reason": "\(error.detail)"])
        }
    }
}
