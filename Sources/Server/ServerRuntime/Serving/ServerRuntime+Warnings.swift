import ConfigurationFile
import Gateway
import Logging
import Systemd

// What an operator should know before somebody notices it otherwise.
extension ServerRuntime {
    func warnOfReadableKey() {
        guard FileStatus(of: configuration.tls.key)?.isReadableByAll == true else { return }
        logger.warning(
            "everyone on this machine may read the server's private key",
            metadata: ["file": "\(configuration.tls.key)", "message_id": "\(MessageID.credentialWarning)"])
    }

    /// A renewal that a power cut ended in its middle. Also where the files may not be written, the server uses the new certificate.
    func settleCertificate() {
        do throws(ServerError) {
            guard let end = try CertificateRenewal.settle(configuration) else { return }
            logger.notice(
                "a renewal of the certificate was cut, and is complete now",
                metadata: [
                    "file": "\(configuration.tls.certificate)", "end": "\(end)",
                    "message_id": "\(MessageID.certificateRenewed)",
                ])
        } catch {
            logger.warning(
                "a renewal of the certificate was cut and cannot be completed; the new certificate is used all the same",
                metadata: ["file": "\(configuration.tls.files.next)", "reason": "\(error.detail)"])
        }
    }

    /// Vehicles may wait for an answer before anybody reads a page about it.
    func warnOfMissingAuthority(_ enrolment: EnrolmentIssuer) {
        guard configuration.device.authority != nil else { return }
        do throws(ServerError) {
            _ = try enrolment.issuance
        } catch {
            logger.warning(
                "claims of vehicles cannot be answered: certificates cannot be issued",
                metadata: ["reason": "\(error.detail)", "message_id": "\(MessageID.credentialWarning)"])
        }
    }

    func raiseFileLimit() {
        let (allowed, web) = (FileLimit.raise(), configuration.web)
        let listeners = (web.https == nil ? 0 : 1) + (web.http == nil ? 0 : 1)
        let vehicles = configuration.device.connections
        let wanted = UInt64(
            vehicles + GatewayLimits.lobby(beside: vehicles) + listeners * web.connections + FileLimit.ownFiles)
        guard allowed < wanted else { return }
        logger.warning(
            "the system allows fewer open files than the configured connections need: raise LimitNOFILE",
            metadata: ["allowed": "\(allowed)", "needed": "\(wanted)"])
    }
}
