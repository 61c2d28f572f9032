internal import AgentLogic
internal import CLinux
internal import Glibc
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
    private var time = CertificateTime()
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

    /// See ``CertificateTime/believedTime(now:systemClock:)``.
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
    func certificatesChanged(_ certificateReload: CertificateReload) {
        switch certificateReload {
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
    private func tell(_ clock: KernelClockState) {
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

/// A time to judge certificates at, and the clock that it comes from.
struct JudgedTime: Hashable {
    enum Source: Hashable {
        case receiver
        /// `isBelieved`: somebody keeps it, and it is not before this program was made.
        case system(isBelieved: Bool)
    }

    /// Since 1970.
    let seconds: Int64
    let source: Source

    /// For people, behind the time itself.
    var explanation: String {
        switch source {
        case .receiver: "that time is the receiver's, since nobody keeps the system clock"
        case .system(isBelieved: true): "that time is the system clock's, which is kept"
        case .system(isBelieved: false):
            "that time is the system clock's, which nobody keeps, and no fix has told another: it is tried again with the first "
                + "fix, or when the clock is set"
        }
    }
}

/// The time at which certificates are judged: the system's while it can be believed, else the receiver's.
///
/// A computer without a battery boots in 1970. By its own clock it could not connect until somebody set this clock.
struct CertificateTime {
    /// The newest fix, and when it arrived.
    private var lastFix: (time: Timestamp, arrival: MonotonicTime)?

    mutating func fixArrived(_ time: Timestamp, now: MonotonicTime) {
        lastFix = (time, now)
    }

    /// A certificate was refused at the receiver's time: the next one is judged at the system's time.
    private var isReceiverDoubted = false
    /// Seconds; clocks that differ by less would judge alike.
    private static let noDifference: Int64 = 86_400

    /// The time of the next attempt, always one.
    func judgedTime(now: MonotonicTime, systemClock: KernelClockState) -> JudgedTime {
        if let receiver = verificationTime(now: now, systemClock: systemClock) {
            return JudgedTime(seconds: receiver, source: .receiver)
        }
        return JudgedTime(seconds: systemClock.seconds, source: .system(isBelieved: systemClock.isBelievable))
    }

    /// What the attempts would be judged at when a certificate was last refused for the time, and when that was.
    private var refusal: (seconds: Int64, now: MonotonicTime)?
    /// Seconds; a clock that is set by less makes no certificate good.
    private static let step: Int64 = 60

    /// Whether a refusal for the time waits for another time.
    var waitsForTime: Bool { refusal != nil }

    /// A certificate was refused for the time; after ``certificateRefused(now:systemClock:)``, which may take another.
    mutating func waitForTime(now: MonotonicTime, systemClock: KernelClockState) {
        refusal = (judgedTime(now: now, systemClock: systemClock).seconds, now)
    }

    /// The link stands, or its trouble is another.
    mutating func stopWaitingForTime() { refusal = nil }

    /// True once when the time to judge at has jumped since the refusal: the first fix came, or the clock was set.
    mutating func isAnotherTime(now: MonotonicTime, systemClock: KernelClockState) -> Bool {
        guard let refusal else { return false }
        let passed = (now - refusal.now) / 1000
        let expected = refusal.seconds.addingReportingOverflow(passed).partialValue
        let found = judgedTime(now: now, systemClock: systemClock).seconds
        let (difference, isAbsurd) = found.subtractingReportingOverflow(expected)
        guard isAbsurd || difference.magnitude > Self.step else { return false }
        self.refusal = nil
        return true
    }

    /// Seconds since 1970 to judge certificates at; nil leaves it to the system clock.
    func verificationTime(now: MonotonicTime, systemClock: KernelClockState) -> Int64? {
        isReceiverDoubted ? nil : receiverTime(now: now, systemClock: systemClock)
    }

    /// The time by which the vehicle's own certificate has ended or not; nil while no clock can be believed.
    ///
    /// Where the receiver and a clock that nobody keeps may both be right and disagree, it is the earlier one: a certificate that may be
    /// good is not told as ended. When it has ended, the server says so.
    func believedTime(now: MonotonicTime, systemClock: KernelClockState) -> Int64? {
        guard let receiver = receiverTime(now: now, systemClock: systemClock) else {
            return systemClock.isBelievable ? systemClock.seconds : nil
        }
        return isAnotherTime(systemClock, than: receiver) ? min(receiver, systemClock.seconds) : receiver
    }

    /// Whether the system clock may be right and contradicts the receiver.
    private func isAnotherTime(_ systemClock: KernelClockState, than receiver: Int64) -> Bool {
        systemClock.seconds >= SakerVersion.madeAt && abs(receiver - systemClock.seconds) > Self.noDifference
    }

    /// A certificate was outside its validity at the time at which it was judged. True when the next attempt is judged at
    /// another time.
    ///
    /// A receiver may date years ahead (a week rollover, corrected in the wrong direction), and a clock that nobody keeps
    /// may be years behind. Which of two possible times is wrong cannot be known here, so each has its turn.
    mutating func certificateRefused(now: MonotonicTime, systemClock: KernelClockState) -> Bool {
        guard let receiver = receiverTime(now: now, systemClock: systemClock),
            isAnotherTime(systemClock, than: receiver)
        else {
            isReceiverDoubted = false
            return false
        }
        isReceiverDoubted.toggle()
        return true
    }

    /// Seconds since 1970; nil when the system's clock is believed or the receiver says nothing believable.
    private func receiverTime(now: MonotonicTime, systemClock: KernelClockState) -> Int64? {
        // A receiver that says a time before this program was made is wrong itself: a week rollover, a replayed log.
        guard !systemClock.isBelievable, let lastFix, lastFix.time.seconds >= SakerVersion.madeAt else { return nil }
        return lastFix.time.adding(milliseconds: max(0, now - lastFix.arrival)).seconds
    }
}

/// What the kernel says of its clock.
package struct KernelClockState: Hashable, Sendable {
    /// Since 1970, right or wrong.
    package let milliseconds: Int64
    /// adjtimex(2): somebody keeps it, and says it is right.
    package let isSynchronised: Bool
    /// Milliseconds since the start of the computer in which it slept, and its monotonic clock with it.
    package let slept: Int64

    package init(milliseconds: Int64, isSynchronised: Bool, slept: Int64 = 0) {
        self.milliseconds = milliseconds
        self.isSynchronised = isSynchronised
        self.slept = slept
    }

    init(seconds: Int64, isSynchronised: Bool) {
        self.init(milliseconds: seconds * 1000, isSynchronised: isSynchronised)
    }

    var seconds: Int64 { milliseconds / 1000 }

    var isBelievable: Bool { isSynchronised && seconds >= SakerVersion.madeAt }

    static func read() -> KernelClockState {
        let slept = milliseconds(CLOCK_BOOTTIME) - milliseconds(CLOCK_MONOTONIC)
        // Both clocks are read one after the other: without a sleep they differ by nothing.
        return KernelClockState(
            milliseconds: milliseconds(CLOCK_REALTIME), isSynchronised: saker_clock_is_synchronised() != 0,
            slept: slept < 1000 ? 0 : slept)
    }

    private static func milliseconds(_ clock: clockid_t) -> Int64 {
        var now = timespec()
        clock_gettime(clock, &now)
        return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
    }
}
