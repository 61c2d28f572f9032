internal import TrackModel

/// Since when nothing has kept the agent from writing to its disk, and nobody has told it anything.
struct QuietTimeModel {
    /// Longer than the agent waits between two tries to write its state, milliseconds.
    static let span: Int64 = 75_000

    private var troubledAt: MonotonicTime

    init(now: MonotonicTime) {
        troubledAt = now
    }

    mutating func trouble(_ now: MonotonicTime) { troubledAt = now }

    /// Whether everything that was told must be on the disk.
    func isCalm(_ now: MonotonicTime) -> Bool { now - troubledAt > Self.span }
}
