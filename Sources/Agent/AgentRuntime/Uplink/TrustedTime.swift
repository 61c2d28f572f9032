internal import CLinux
internal import Glibc
internal import TrackModel

/// The time at which certificates are judged: the system's while it can be believed, else the receiver's.
///
/// A box without a battery boots in 1970; without this it could not connect until somebody set its clock.
struct TrustedTime {
    /// The newest fix, and when it arrived by the monotonic clock, milliseconds.
    private var lastFix: (time: Timestamp, arrival: Int64)?

    mutating func fixArrived(_ time: Timestamp, now: Int64) {
        lastFix = (time, now)
    }

    /// A certificate was refused at the receiver's time: the system's has its turn.
    private var isReceiverDoubted = false
    /// Seconds; clocks that differ by less would judge alike.
    private static let noDifference: Int64 = 86_400

    /// Seconds since 1970 to judge certificates at; nil leaves it to the system clock.
    func verificationTime(now: Int64, systemClock: SystemClock) -> Int64? {
        isReceiverDoubted ? nil : receiverTime(now: now, systemClock: systemClock)
    }

    /// A certificate was outside its validity at the time at which it was judged. True when the next attempt is judged at
    /// another time.
    ///
    /// A receiver may date years ahead (a week rollover, corrected in the wrong direction), and a clock that nobody keeps
    /// may be years behind. Which of two possible times is wrong cannot be known here, so each has its turn.
    mutating func certificateRefused(now: Int64, systemClock: SystemClock) -> Bool {
        guard let receiver = receiverTime(now: now, systemClock: systemClock),
            systemClock.seconds >= SakerVersion.madeAt, abs(receiver - systemClock.seconds) > Self.noDifference
        else {
            isReceiverDoubted = false
            return false
        }
        isReceiverDoubted.toggle()
        return true
    }

    /// Seconds since 1970; nil when the system's clock is believed or the receiver says nothing believable.
    private func receiverTime(now: Int64, systemClock: SystemClock) -> Int64? {
        // A receiver that says a time before this program was made is wrong itself: a week rollover, a replayed log.
        guard !systemClock.isBelievable, let lastFix, lastFix.time.seconds >= SakerVersion.madeAt else { return nil }
        return lastFix.time.adding(milliseconds: max(0, now - lastFix.arrival)).seconds
    }
}

/// What the kernel says of its clock.
package struct SystemClock: Hashable, Sendable {
    /// Since 1970, right or wrong.
    package let milliseconds: Int64
    /// adjtimex(2): somebody keeps it, and says it is right.
    package let isSynchronised: Bool

    package init(milliseconds: Int64, isSynchronised: Bool) {
        self.milliseconds = milliseconds
        self.isSynchronised = isSynchronised
    }

    init(seconds: Int64, isSynchronised: Bool) {
        self.init(milliseconds: seconds * 1000, isSynchronised: isSynchronised)
    }

    var seconds: Int64 { milliseconds / 1000 }

    var isBelievable: Bool { isSynchronised && seconds >= SakerVersion.madeAt }

    static func read() -> SystemClock {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return SystemClock(
            milliseconds: Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000,
            isSynchronised: saker_clock_is_synchronised() != 0)
    }
}
