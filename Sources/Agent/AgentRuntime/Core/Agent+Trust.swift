internal import AgentLogic
internal import Logging
internal import NIOCore
internal import SecureLink
internal import Systemd

// Whom to trust, and at what time that is judged.
extension Agent {
    /// Why a connection could not be made, to be judged anew when the time turns out to be another.
    ///
    /// A certificate that is refused only for a time that may be wrong is tried again soon; all other certificates that are
    /// refused are a matter for a person.
    func trouble(_ error: any Error, _ judged: JudgedTime) -> LinkTrouble {
        guard let refusal = error as? SecureLinkError,
            refusal.code == .certificateExpired || refusal.code == .certificateNotYetValid
        else {
            trustedTime.stopWaitingForTime()
            return LinkTrouble(error, isConnecting: true)
        }
        let clock = surroundings.clock.read()
        let hasAnother = trustedTime.certificateRefused(now: now, systemClock: clock)
        trustedTime.waitForTime(now: now, systemClock: clock)
        let reason = "\(refusal.detail) (\(judged.explanation))"
        let cause = LinkTrouble.Cause(refusal.code)
        if hasAnother || judged.source == .system(isBelieved: false) { return LinkTrouble(.tls, reason, cause: cause) }
        return LinkTrouble(refusal.code == .certificateExpired ? .authentication : .tls, reason, cause: cause)
    }

    /// Milliseconds between two looks at the clock while only another time can help.
    private static let clockLook: Int64 = 5000

    /// The clock says nothing when it is set: it is looked at while something waits for it.
    func followTime(_ state: LinkState) {
        switch state {
        case .waiting, .refused:
            guard trustedTime.waitsForTime else { return cancelTimer(.clock) }
            setTimer(.clock, milliseconds: Self.clockLook) { agent in agent.clockDue() }
        case .online, .closed:
            trustedTime.stopWaitingForTime()
            cancelTimer(.clock)
        case .connecting, .handshaking, .loggingIn, .closing: cancelTimer(.clock)
        }
    }

    private func clockDue() {
        lookAtTheTime()
        guard trustedTime.waitsForTime else { return }
        setTimer(.clock, milliseconds: Self.clockLook) { agent in agent.clockDue() }
    }

    /// Tries at once when certificates would be judged at another time than when one was refused.
    func lookAtTheTime() {
        guard trustedTime.waitsForTime,
            trustedTime.isAnotherTime(now: now, systemClock: surroundings.clock.read())
        else { return }
        perform(uplink.trustChanged(now: now))
    }

    /// Once for each change, and at the beginning when the clock cannot be believed.
    func tellClock(_ clock: SystemClock) {
        let isBelieved = clock.isBelievable
        defer { isClockBelieved = isBelieved }
        guard isBelieved != (isClockBelieved ?? true) else { return }
        log.notice(
            isBelieved
                ? "System clock is kept" : "System clock is not kept: certificates are judged at the receiver's time",
            metadata: .event(.clockState, ["synchronised": "\(clock.isSynchronised)", "time": "\(clock.seconds)"]))
    }

    // MARK: Certificates

    func certificatesChanged(_ news: CertificateNews) {
        switch news {
        case .replaced(let warnings):
            log.notice("Certificates reloaded, the next connection uses them", metadata: .event(.certificateReloaded))
            for warning in warnings {
                log.warning("Credential warning", metadata: .event(.credentialWarning, ["warning": "\(warning)"]))
            }
            perform(uplink.trustChanged(now: now))
        case .refused(let reason):
            log.warning(
                "Certificates refused, the former ones stay in use",
                metadata: .event(.certificateRefused, ["reason": "\(reason)"]))
        }
    }
}
