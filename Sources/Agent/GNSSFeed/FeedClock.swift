/// Milliseconds of a clock that never goes back, whatever happens to the system's time.
func monotonicMilliseconds() -> UInt64 {
    let (seconds, attoseconds) = clockStart.duration(to: SuspendingClock.now).components
    // One second is added, so that no time is 0.
    return UInt64(max(0, seconds) + 1) * 1000 + UInt64(max(0, attoseconds) / 1_000_000_000_000_000)
}

private let clockStart = SuspendingClock.now
