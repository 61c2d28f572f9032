internal import AgentLogic
internal import Logging
internal import SecureLink
internal import Systemd
internal import TrackModel

/// At what time certificates are judged, and when a refusal for the time is worth another try.
///
/// A part of the link's shell. May touch: the two clocks, one timer, the journal. It says through one closure that
/// a certificate that was refused may be trusted now.
final class LinkTrust {
    private enum TimerKey { case look }

    private let context: ShellContext
    private let timers: ShellTimers<TimerKey>
    private let mayBeTrusted: () -> Void
    private var time = TrustedTime()
    /// Whether the system clock could be believed when that was last looked at.
    private var isClockBelieved: Bool?
    /// At which of both clocks the certificate of the last attempts had ended.
    private var ended: Set<Clock> = []

    private enum Clock { case receiver, system }

    /// Milliseconds between two looks at the clock while only another time can help.
    private static let interval: Int64 = 5000

    init(_ context: ShellContext, mayBeTrusted: @escaping () -> Void) {
        self.context = context
        self.mayBeTrusted = mayBeTrusted
        timers = ShellTimers(context)
    }

    /// The receiver told a time.
    func fixArrived(_ fix: Timestamp) {
        time.fixArrived(fix, now: context.now)
        look()
    }

    /// Tells the owner when the next certificate would be judged at another time than the refused one.
    func look() {
        guard time.waitsForTime, time.isAnotherTime(now: context.now, systemClock: context.systemClock) else { return }
        ended = []
        mayBeTrusted()
    }

    /// The time of the next attempt.
    func judgedTime() -> JudgedTime {
        let clock = context.systemClock
        tell(clock)
        return time.judgedTime(now: context.now, systemClock: clock)
    }

    /// See ``TrustedTime/believedTime(now:systemClock:)``.
    var believedTime: Timestamp? {
        guard let seconds = time.believedTime(now: context.now, systemClock: context.systemClock) else { return nil }
        let (milliseconds, isAbsurd) = seconds.multipliedReportingOverflow(by: 1000)
        return isAbsurd ? nil : Timestamp(milliseconds: milliseconds)
    }

    /// Why a connection could not be made.
    ///
    /// A certificate that is refused only for a time that may be wrong is tried again soon; every other certificate that is
    /// refused is a matter for a person. So is one that has ended by every clock that may be right.
    ///
    /// `certificateEnd`: of the vehicle's own certificate, seconds since 1970; nil: it has none, or nobody knows.
    func trouble(_ error: any Error, _ judged: JudgedTime, certificateEnd: Int64?) -> LinkTrouble {
        guard let refusal = error as? SecureLinkError,
            refusal.code == .certificateExpired || refusal.code == .certificateNotYetValid
        else {
            time.stopWaitingForTime()
            ended = []
            return disputed(error, certificateEnd) ?? LinkTrouble(error, isConnecting: true)
        }
        let clock = context.systemClock
        let hasAnother = time.certificateRefused(now: context.now, systemClock: clock)
        time.waitForTime(now: context.now, systemClock: clock)
        let reason = "\(refusal.detail) (\(judged.explanation))"
        let cause = LinkTrouble.Cause(refusal.code)
        guard refusal.code == .certificateExpired else {
            ended = []
            return LinkTrouble(.tls, reason, cause: cause)
        }
        ended.insert(judged.source == .receiver ? .receiver : .system)
        let mayBeGood = hasAnother ? ended.count < 2 : judged.source == .system(isBelieved: false)
        return LinkTrouble(mayBeGood ? .tls : .authentication, reason, cause: cause)
    }

    /// What ended a connection; nil: the server closed it. The server judges the vehicle's certificate after the handshake.
    func ending(_ error: (any Error)?, certificateEnd: Int64?) -> LinkTrouble {
        guard let error else { return LinkTrouble(.network, "the server closed the connection") }
        return disputed(error, certificateEnd) ?? LinkTrouble(error)
    }

    /// The server says that the vehicle's certificate is not valid now, and by the clock here it is. Nil: anything else.
    private func disputed(_ error: any Error, _ end: Int64?) -> LinkTrouble? {
        guard let refusal = error as? SecureLinkError, refusal.code == .clientCertificateExpired, let end,
            let now = believedTime, now.seconds < end
        else { return nil }
        return LinkTrouble(
            .authentication,
            "the server says that this vehicle's certificate has ended or is not valid yet; the clock here says \(now.second), and it "
                + "is valid until \(Timestamp(seconds: end).second): is the server's clock right? On the server: date",
            cause: .clientCertificateExpired)
    }

    /// Nothing tells the agent when the system clock is set. While a refusal waits for another time, the agent looks at
    /// the clock.
    func follow(_ state: LinkState) {
        switch state {
        case .waiting, .refused:
            guard time.waitsForTime else { return timers.cancel(.look) }
            schedule()
        case .online, .closed:
            time.stopWaitingForTime()
            ended = []
            timers.cancel(.look)
        case .connecting, .handshaking, .loggingIn, .closing: timers.cancel(.look)
        }
    }

    /// Certificates or keys were replaced in their files.
    func certificatesChanged(_ news: CertificateNews) {
        switch news {
        case .read(let warnings):
            warn(warnings)
            // A connection may have been refused because they were still being read.
            mayBeTrusted()
        case .replaced(let warnings):
            context.log.notice(
                "Certificates were read anew, and the next connection uses them", metadata: .event(.certificateReloaded)
            )
            warn(warnings)
            mayBeTrusted()
        case .refused(let reason):
            context.log.warning(
                "Certificates are refused, and the former ones stay in use",
                metadata: .event(.certificateRefused, ["reason": "\(reason)"]))
        case .missing(let reason): context.log.complain(ofUnusableCertificates: reason)
        }
    }

    private func warn(_ warnings: [String]) {
        for warning in warnings {
            context.log.warning(
                "A file with a secret is open to others",
                metadata: .event(.credentialWarning, ["warning": "\(warning)"]))
        }
    }

    func shutDown() { timers.cancelAll() }

    private func schedule() {
        timers.set(.look, milliseconds: Self.interval) { [self] in
            look()
            if time.waitsForTime { schedule() }
        }
    }

    /// Once for each change, and at the beginning when the clock cannot be believed.
    private func tell(_ clock: SystemClock) {
        let isBelieved = clock.isBelievable
        defer { isClockBelieved = isBelieved }
        guard isBelieved != (isClockBelieved ?? true) else { return }
        context.log.notice(
            isBelieved
                ? "System clock is kept" : "System clock is not kept: certificates are judged at the receiver's time",
            metadata: .event(.clockState, ["synchronised": "\(clock.isSynchronised)", "time": "\(clock.seconds)"]))
    }
}

extension Logger {
    /// No connection can be made with the certificates and keys as they are.
    func complain(ofUnusableCertificates reason: String) {
        error(
            "Certificates cannot be used: points are kept, and no connection is made",
            metadata: .event(.certificateRefused, ["reason": "\(reason)"]))
    }
}
