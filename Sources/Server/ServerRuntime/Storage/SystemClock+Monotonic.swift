import TrackModel

extension SystemClock {
    private static let begin = ContinuousClock.now

    /// A clock that nobody sets; it counts from its first use.
    @Sendable static func monotonic() -> MonotonicTime {
        let (seconds, attoseconds) = (ContinuousClock.now - begin).components
        return MonotonicTime(milliseconds: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}
