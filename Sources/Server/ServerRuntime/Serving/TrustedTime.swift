import TrackModel

/// How far the system's clock is believed where a wrong time would do what nobody can undo.
///
/// A clock that something keeps right is believed. Any other is believed only near the time at which the server received its
/// newest points before this start. What is received after the start has the time of the same clock, so it proves nothing.
/// A restart takes the newest stored time again: who stores points by a wrong clock and starts again is believed then.
struct TrustedTime: Sendable {
    /// Milliseconds that an unkept clock may be away from the newest stored points, beside the time since the start.
    static let tolerance: Int64 = 86_400_000

    private let newest: Timestamp?
    private let start: MonotonicTime
    private let clock: @Sendable () -> Timestamp
    private let monotonic: @Sendable () -> MonotonicTime
    private let isKept: @Sendable () -> Bool

    /// `newest`: when the server received its newest points, read before it takes others; nil: nothing was ever stored.
    /// `isKept`: whether something keeps the system's clock right.
    init(
        newest: Timestamp?, clock: @escaping @Sendable () -> Timestamp,
        monotonic: @escaping @Sendable () -> MonotonicTime, isKept: @escaping @Sendable () -> Bool
    ) {
        self.newest = newest
        start = monotonic()
        self.clock = clock
        self.monotonic = monotonic
        self.isKept = isKept
    }

    /// A time that is not later than now, for what removes the old. Nil: nothing says when now is.
    var noLaterThanNow: Timestamp? {
        let now = clock()
        return isKept() ? now : latest.map { min(now, $0) }
    }

    /// The time of the clock, when it can be right; otherwise nil.
    var now: Timestamp? {
        let now = clock()
        if isKept() { return now }
        guard let newest, let latest else { return nil }
        return (newest.adding(milliseconds: -Self.tolerance)...latest).contains(now) ? now : nil
    }

    private var latest: Timestamp? {
        newest?.adding(milliseconds: Self.tolerance + max(0, monotonic() - start))
    }
}
