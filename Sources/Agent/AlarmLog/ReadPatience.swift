internal import TrackModel

/// How long the journal waits for bytes that the disk refuses to read. An error may pass, and what is given up is lost.
///
/// Attempts count when time has passed since the last one that counted: a burst of operations at a disk that fails for a
/// moment is one attempt. The pauses are those of the ring: 1 second, then 2, 4 and so on, up to 60 seconds.
struct ReadPatience: Hashable {
    /// The last of these attempts comes ten minutes after the first at the earliest.
    static let attempts = 16
    static let pauses: ClosedRange<Int64> = 1000...60_000

    private var refusals = 0
    private var next = MonotonicTime.distantPast
    private var pause = pauses.lowerBound

    /// The disk has refused. True: for so long that nobody waits any more.
    mutating func refused(at now: MonotonicTime) -> Bool {
        guard refusals < Self.attempts else { return true }
        guard now >= next else { return false }
        refusals += 1
        next = now + pause
        pause = min(pause * 2, Self.pauses.upperBound)
        return refusals == Self.attempts
    }
}
