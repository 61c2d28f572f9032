internal import TrackModel

/// Reads a clock that only goes forward, whatever happens to the system's time.
func monotonicNow() -> MonotonicTime {
    let (seconds, attoseconds) = clockStart.duration(to: SuspendingClock.now).components
    return MonotonicTime(milliseconds: max(0, seconds) * 1000 + max(0, attoseconds) / 1_000_000_000_000_000)
}

private let clockStart = SuspendingClock.now
